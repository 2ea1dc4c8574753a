"""A teacher for the encoder: what larger models make of real and composed texts.

Two classifiers, one on character n-grams and one on the features of a pretrained
sentence encoder, are stacked by a logistic regression on their out-of-fold scores, so
the teacher's probabilities are calibrated for texts it never saw. The encoder learns
the function of the teacher that has seen all training texts; composed texts show it
that function away from them. The composed texts of a group are made of that group's
texts alone, so a fold that is held out has no part in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tools.train.augment import compose_many
from tools.train.sentence_encoder import SentenceEncoder

TEACHERS = ("none", "ngrams", "sentences")


@dataclass(frozen=True)
class Lessons:
    """What a teacher says: logits [texts, c] of the real and of composed texts."""

    real: np.ndarray
    composed_texts: list[str]
    composed: np.ndarray


def _as_logits(scores: np.ndarray) -> np.ndarray:
    """scikit-learn's scores [n] or [n, c] -> logits [n, c]."""
    if scores.ndim == 1:
        return np.stack([-scores / 2, scores / 2], 1)
    return scores


class Teacher:
    """Holds the texts and their features; `lessons` trains on some groups of them."""

    def __init__(
        self,
        kind: str,
        texts: Sequence[str],
        labels: np.ndarray,
        groups: np.ndarray,
        composed: int,
        seed: int,
    ) -> None:
        """labels, groups [texts]; composed: how many texts to make in all.

        Raises ValueError if the sentence encoder is wanted and missing.
        """
        self._texts = np.array(texts, dtype=object)
        self._labels, self._groups = labels, groups
        encoder = SentenceEncoder() if kind == "sentences" else None
        neighbours = encoder.neighbours(texts) if encoder else {}
        made: list[str] = []
        made_groups: list[int] = []
        for group in np.unique(groups):
            inside = groups == group
            by_label = [
                list(self._texts[inside & (labels == label)])
                for label in np.unique(labels[inside])
            ]
            share = round(composed * inside.mean())
            made += compose_many(by_label, share, neighbours, f"{seed}/{group}")
            made_groups += [group] * share
        self._made = np.array(made, dtype=object)
        self._made_groups = np.array(made_groups)
        self._features = self._made_features = None
        if encoder:
            features = encoder.features([*texts, *made])
            self._features = features[: len(texts)]
            self._made_features = features[len(texts) :]

    def _scores(
        self, train: np.ndarray, real: np.ndarray, made: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Logits of all classifiers side by side, for two selections of texts."""
        if len(np.unique(self._labels[train])) < len(np.unique(self._labels)):
            raise ValueError(
                "too few messages of some label for a teacher: use --teacher none"
            )
        grams = make_pipeline(
            TfidfVectorizer(
                analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, min_df=2
            ),
            LogisticRegression(C=100, max_iter=1000),
        ).fit(self._texts[train], self._labels[train])
        scores_real = [_as_logits(grams.decision_function(self._texts[real]))]
        scores_made = []
        if made.any():
            scores_made.append(_as_logits(grams.decision_function(self._made[made])))
        if self._features is not None and self._made_features is not None:
            sentences = make_pipeline(
                StandardScaler(), LogisticRegression(C=0.1, max_iter=1000)
            ).fit(self._features[train], self._labels[train])
            scores_real.append(
                _as_logits(sentences.decision_function(self._features[real]))
            )
            if made.any():
                scores_made.append(
                    _as_logits(sentences.decision_function(self._made_features[made]))
                )
        return np.hstack(scores_real), np.hstack(scores_made or [np.zeros((0, 0))])

    def lessons(self, chosen: np.ndarray) -> Lessons:
        """Teaches within the chosen texts [texts] bool, which are whole groups.

        real follows the order of the chosen texts.
        """
        groups = np.unique(self._groups[chosen])
        made = np.isin(self._made_groups, groups)
        nothing = np.zeros(len(self._made), dtype=bool)
        out_of_fold: np.ndarray | None = None
        for group in groups:
            inside = chosen & (self._groups == group)
            scores, _ = self._scores(chosen & ~inside, inside, nothing)
            if out_of_fold is None:
                out_of_fold = np.zeros((len(chosen), scores.shape[1]))
            out_of_fold[inside] = scores
        assert out_of_fold is not None
        stack = make_pipeline(StandardScaler(), LogisticRegression(C=100))
        stack.fit(out_of_fold[chosen], self._labels[chosen])
        real_scores, made_scores = self._scores(chosen, chosen, made)
        return Lessons(
            real=_as_logits(stack.decision_function(real_scores)),
            composed_texts=list(self._made[made]),
            composed=_as_logits(stack.decision_function(made_scores)),
        )
