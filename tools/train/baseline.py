#!/usr/bin/env python3
"""The classical model to beat: character 2-5-gram TF-IDF with a linear SVM.

Trains on one TSV file and tests on others, or cross-validates over a folds
file (columns: part, line number starting at 1, fold).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC

sys.path.insert(0, str(Path(__file__).resolve().parent))

from metrics import binary_metrics, format_metrics  # noqa: E402
from tsv import read_folds, read_tsv  # noqa: E402


def make_baseline() -> Pipeline:
    """Returns the untrained pipeline, with scikit-learn's default settings."""
    return make_pipeline(
        TfidfVectorizer(analyzer="char", ngram_range=(2, 5), lowercase=True),
        LinearSVC(),
    )


def fit_and_score(
    train_texts: list[str],
    train_is_positive: np.ndarray,
    test_texts: list[str],
) -> np.ndarray:
    """Trains on the first two, returns the margin of every test text."""
    model = make_baseline()
    model.fit(train_texts, train_is_positive)
    return model.decision_function(test_texts)


def main() -> int:
    """Parses the arguments, trains, prints one line of figures a file or fold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, help="label TAB text file to train on")
    parser.add_argument(
        "--test", type=Path, nargs="+", default=[], help="files to test on"
    )
    parser.add_argument(
        "--folds",
        type=Path,
        help="folds file; its parts are PART.tsv files beside it",
    )
    parser.add_argument("--positive", default="spam", help="the positive label")
    args = parser.parse_args()
    if args.folds is None and args.train is None:
        parser.error("give --train FILE with --test FILE..., or --folds FILE")

    try:
        if args.train is not None:
            labels, texts = read_tsv(args.train)
            is_positive = np.array([label == args.positive for label in labels])
            for path in args.test:
                test_labels, test_texts = read_tsv(path)
                truth = np.array([label == args.positive for label in test_labels])
                margins = fit_and_score(texts, is_positive, test_texts)
                print(format_metrics(path.name, binary_metrics(truth, margins)))
        if args.folds is not None:
            labels, texts, folds = read_folds(args.folds)
            is_positive = np.array([label == args.positive for label in labels])
            fold_ids = np.array(folds)
            f1_of_folds = []
            for fold in sorted(set(folds)):
                inside = fold_ids == fold
                margins = fit_and_score(
                    [text for text, held in zip(texts, inside) if not held],
                    is_positive[~inside],
                    [text for text, held in zip(texts, inside) if held],
                )
                figures = binary_metrics(is_positive[inside], margins)
                f1_of_folds.append(figures["f1"])
                print(format_metrics(f"fold {fold}", figures))
            print(
                f"F1 over {len(f1_of_folds)} folds: mean {np.mean(f1_of_folds):.4f}, "
                f"standard deviation {np.std(f1_of_folds, ddof=1):.4f}, "
                f"lowest {min(f1_of_folds):.4f}, highest {max(f1_of_folds):.4f}"
            )
    except (OSError, ValueError) as error:
        print(f"baseline: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
