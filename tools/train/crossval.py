#!/usr/bin/env python3
"""Cross-validates the encoder against character n-grams with a linear SVM.

The encoder is trained anew for every fold, teacher included, on the other folds only,
and judged by its integer forward pass: the device's own logits. The folds file has
the columns part, line number starting at 1, fold; PART.tsv files lie beside it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools.train.arguments import add_recipe_arguments, recipe_of  # noqa: E402
from tools.train.baseline import fit_and_score  # noqa: E402
from tools.train.dataset import Inputs  # noqa: E402
from tools.train.metrics import binary_metrics  # noqa: E402
from tools.train.recipe import Recipe, predict, train_encoder  # noqa: E402
from tools.train.teacher import Lessons, Teacher  # noqa: E402
from tools.train.tsv import read_folds, read_tsv  # noqa: E402

# The work of a fold is handed to a forked process through this.
_work: list["_Fold"] = []


class _Fold:
    """Data of one fold; run() trains and judges."""

    def __init__(
        self,
        recipe: Recipe,
        texts: list[str],
        labels: np.ndarray,
        inside: np.ndarray,
        extra: list[str],
        lessons: Lessons | None,
    ) -> None:
        self.recipe, self.lessons, self.extra = recipe, lessons, extra
        self.train_texts = [text for text, held in zip(texts, inside) if not held]
        self.test_texts = [text for text, held in zip(texts, inside) if held]
        self.train_labels = labels[~inside]

    def run(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Margins of the encoder and of the SVM; the encoder's of the extra texts."""
        inputs = Inputs(self.recipe.text, self.recipe.context_length)
        encoder = train_encoder(
            self.recipe,
            inputs,
            self.train_texts,
            self.train_labels,
            2,
            self.lessons,
            "",
        )
        logits = predict(encoder, inputs, self.test_texts)
        extra = predict(encoder, inputs, self.extra or self.test_texts[:1])
        peer = fit_and_score(self.train_texts, self.train_labels > 0, self.test_texts)
        return logits[:, 1] - logits[:, 0], peer, extra[:, 1] - extra[:, 0]


def _run(index: int) -> tuple[int, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    torch.set_num_threads(1)
    return index, _work[index].run()


def best_threshold(truth: np.ndarray, margins: np.ndarray) -> float:
    """The margin above which to say positive, for the highest F1.

    F1 is smoothed over half a nat to both sides: the place of its peak is noise.
    """
    candidates = np.linspace(-3, 3, 121)
    f1 = [binary_metrics(truth, margins, c)["f1"] for c in candidates]
    smooth = np.convolve(np.pad(f1, 10, mode="edge"), np.ones(21) / 21, "valid")
    return float(candidates[smooth.argmax()])


def _line(name: str, encoder: dict[str, float], peer: dict[str, float]) -> str:
    columns = ("f1", "mcc", "recall_at_fpr_0.005")
    cells = [f"{encoder[key]:.4f} {peer[key]:.4f}" for key in columns]
    return f"{name:<12} " + "   ".join(cells)


def report(
    truth: np.ndarray, folds: np.ndarray, encoder: np.ndarray, peer: np.ndarray
) -> str:
    """The table: a line a fold, mean and spread."""
    lines = [
        "             F1            MCC             recall at 0.5 % false positives",
        "fold         encoder SVM   encoder SVM     encoder SVM",
    ]
    figures: list[tuple[dict[str, float], dict[str, float]]] = []
    for fold in np.unique(folds):
        inside = folds == fold
        pair = (
            binary_metrics(truth[inside], encoder[inside]),
            binary_metrics(truth[inside], peer[inside]),
        )
        figures.append(pair)
        lines.append(_line(str(fold), *pair))
    for name, function in (
        ("mean", np.mean),
        ("deviation", lambda x: np.std(x, ddof=1)),
    ):
        summary = [
            {key: float(function([pair[i][key] for pair in figures])) for key in one}
            for i, one in enumerate(figures[0])
        ]
        lines.append(_line(name, *summary))
    pooled = (binary_metrics(truth, encoder), binary_metrics(truth, peer))
    lines.append(_line("all messages", *pooled))
    return "\n".join(lines)


def main() -> int:
    """Parses the arguments, trains the folds, prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folds", type=Path, help="folds file")
    parser.add_argument(
        "--parts",
        nargs="+",
        metavar="PART",
        help="use these parts only, for instance to choose settings without the test",
    )
    parser.add_argument("--positive", default="spam", help="the positive label (spam)")
    parser.add_argument(
        "--also", type=Path, help="label TAB text file to judge as well, by each fold"
    )
    parser.add_argument("--jobs", type=int, default=1, help="folds trained at once (1)")
    add_recipe_arguments(parser)
    args = parser.parse_args()
    started = time.monotonic()
    torch.set_num_threads(1)
    try:
        recipe = recipe_of(args)
        Inputs(recipe.text, recipe.context_length)
        names, texts, fold_list = read_folds(args.folds, args.parts)
        labels = np.array([int(name == args.positive) for name in names])
        if not 0 < labels.sum() < len(labels):
            raise ValueError(f"no message is labelled '{args.positive}', or all are")
        extra_names, extra = read_tsv(args.also) if args.also else ([], [])
        folds = np.array(fold_list)
        teacher = None
        if args.teacher != "none":
            teacher = Teacher(
                args.teacher, texts, labels, folds, args.composed, args.seed
            )
        for fold in np.unique(folds):
            inside = folds == fold
            lessons = teacher.lessons(~inside) if teacher else None
            _work.append(_Fold(recipe, texts, labels, inside, extra, lessons))
        encoder, peer = np.zeros(len(texts)), np.zeros(len(texts))
        extra_margins = np.zeros((len(_work), len(extra)))
        with multiprocessing.get_context("fork").Pool(args.jobs) as pool:
            runs = pool.imap_unordered(_run, range(len(_work)), chunksize=1)
            for index, (ours, theirs, also) in tqdm(
                runs, total=len(_work), desc="folds", disable=None
            ):
                inside = folds == np.unique(folds)[index]
                encoder[inside], peer[inside] = ours, theirs
                if extra:
                    extra_margins[index] = also
    except (OSError, ValueError) as error:
        print(f"crossval: {error}", file=sys.stderr)
        return 1
    print(report(labels > 0, folds, encoder, peer))
    if extra:
        truth = np.array([name == args.positive for name in extra_names])
        each = [binary_metrics(truth, margins) for margins in extra_margins]
        recall = float(np.mean([one["recall"] for one in each]))
        alarms = float(np.mean([one["false_positives"] for one in each]))
        print(
            f"{args.also.name}, mean over the folds' encoders: recall {recall:.4f}, "
            f"false positive rate {alarms / max((~truth).sum(), 1):.4f}"
        )
    print(f"best threshold {best_threshold(labels > 0, encoder):+.2f} nats")
    print(f"{len(texts):,} messages, {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
