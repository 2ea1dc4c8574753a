"""Figures of a binary classifier, computed as `atto eval` computes them."""

from __future__ import annotations

import math

import numpy as np


def recall_at_false_positive_rate(
    is_positive: np.ndarray, scores: np.ndarray, limit: float
) -> float:
    """Returns the best recall over thresholds whose false positive rate <= limit.

    A threshold cannot part equal scores: ties are taken all together.
    """
    order = np.argsort(-scores, kind="stable")
    truth = is_positive[order]
    ordered = scores[order]
    ends_tie = np.append(ordered[1:] != ordered[:-1], True)
    hits = np.cumsum(truth)[ends_tie]
    false_alarms = np.cumsum(~truth)[ends_tie]
    positives = int(is_positive.sum())
    negatives = len(is_positive) - positives
    if positives == 0 or negatives == 0:
        return math.nan
    allowed = false_alarms <= limit * negatives
    return float(hits[allowed].max(initial=0) / positives)


def area_under_roc(is_positive: np.ndarray, scores: np.ndarray) -> float:
    """Returns the area under the ROC curve; ties count one half."""
    positives = int(is_positive.sum())
    negatives = len(is_positive) - positives
    if positives == 0 or negatives == 0:
        return math.nan
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    last_rank = np.cumsum(counts)
    mean_rank = last_rank - (counts - 1) / 2
    rank_sum = mean_rank[inverse][is_positive].sum()
    return float((rank_sum - positives * (positives + 1) / 2) / (positives * negatives))


def binary_metrics(
    is_positive: np.ndarray, scores: np.ndarray, threshold: float = 0.0
) -> dict[str, float]:
    """Returns the figures of `scores > threshold` against the truth.

    A ratio with an empty denominator is 0.
    """
    is_positive = np.asarray(is_positive, dtype=bool)
    scores = np.asarray(scores)
    predicted = scores > threshold
    tp = int((predicted & is_positive).sum())
    fp = int((predicted & ~is_positive).sum())
    fn = int((~predicted & is_positive).sum())
    tn = int((~predicted & ~is_positive).sum())
    spread = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return {
        "n": len(is_positive),
        "accuracy": (tp + tn) / max(len(is_positive), 1),
        "precision": tp / max(tp + fp, 1),
        "recall": tp / max(tp + fn, 1),
        "f1": 2 * tp / max(2 * tp + fp + fn, 1),
        "mcc": (tp * tn - fp * fn) / spread if spread else 0.0,
        "auc": area_under_roc(is_positive, scores),
        "recall_at_fpr_0.001": recall_at_false_positive_rate(
            is_positive, scores, 0.001
        ),
        "recall_at_fpr_0.005": recall_at_false_positive_rate(
            is_positive, scores, 0.005
        ),
        "false_positives": fp,
        "false_negatives": fn,
    }


def format_metrics(name: str, figures: dict[str, float]) -> str:
    """Returns one aligned line for the terminal."""
    return (
        f"{name:<16} n {figures['n']:>5}  acc {figures['accuracy']:.4f}  "
        f"P {figures['precision']:.4f}  R {figures['recall']:.4f}  "
        f"F1 {figures['f1']:.4f}  MCC {figures['mcc']:.4f}  "
        f"AUC {figures['auc']:.4f}  R@0.1% {figures['recall_at_fpr_0.001']:.4f}  "
        f"R@0.5% {figures['recall_at_fpr_0.005']:.4f}  "
        f"FP {figures['false_positives']}  FN {figures['false_negatives']}"
    )
