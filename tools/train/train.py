#!/usr/bin/env python3
"""Trains a text encoder on `label TAB text` files and writes model and card.

    build/venv/bin/python tools/train/train.py train.tsv --validation val.tsv --output model.gguf

writes model.gguf and model.md. Features come from the device's own tokenizer, and the
last epochs run in the device's own integers, so the figures of the card are those of
the device. The same command gives the same model.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shlex
import sys
import tempfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Sequence

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools.reference.encoder import Encoder  # noqa: E402
from tools.reference.model import Model  # noqa: E402
from tools.train.argument_types import positive_count  # noqa: E402
from tools.train.arguments import add_recipe_arguments, recipe_of  # noqa: E402
from tools.train.dataset import Inputs  # noqa: E402
from tools.train.metrics import binary_metrics  # noqa: E402
from tools.train.qat import FloatEncoder, QuantEncoder  # noqa: E402
from tools.train.recipe import (  # noqa: E402
    Recipe,
    export,
    predict,
    shift_threshold,
    train_encoder,
)
from tools.train.teacher import Lessons, Teacher  # noqa: E402
from tools.train.tsv import read_tsv  # noqa: E402

LabelledTexts = tuple[list[str], np.ndarray]

TEACHER_GROUPS = 5
CHECKED_MESSAGES = 300
GROUP_WORDS = 4


def group_of(text: str) -> int:
    """Which of the teacher's groups a text belongs to.

    Texts that begin with the same words, numbers and case aside, stay together: most
    near duplicates do.
    """
    words = re.findall(r"[^\W\d_]+", text.lower())
    return zlib.crc32(" ".join(words[:GROUP_WORDS]).encode()) % TEACHER_GROUPS


def read_files(paths: Sequence[Path]) -> tuple[list[str], list[str]]:
    """Labels and texts of all files."""
    names: list[str] = []
    texts: list[str] = []
    for path in paths:
        file_names, file_texts = read_tsv(path)
        names += file_names
        texts += file_texts
    return names, texts


def label_numbers(names: Sequence[str], labels: Sequence[str], what: str) -> np.ndarray:
    """Places of the names among the labels; ValueError for an unknown one."""
    place = {label: i for i, label in enumerate(labels)}
    for name in names:
        if name not in place:
            raise ValueError(f"{what}: label '{name}' is not among {', '.join(labels)}")
    return np.array([place[name] for name in names])


def figures(truth: np.ndarray, logits: np.ndarray) -> dict[str, float]:
    """What a card says of logits [n, c]; two labels: the second is the positive."""
    if logits.shape[1] == 2:
        found = binary_metrics(truth == 1, logits[:, 1] - logits[:, 0])
        return {
            "accuracy": found["accuracy"],
            "precision": found["precision"],
            "recall": found["recall"],
            "F1": found["f1"],
            "MCC": found["mcc"],
            "AUC": found["auc"],
            "recall at 0.1 % FPR": found["recall_at_fpr_0.001"],
            "recall at 0.5 % FPR": found["recall_at_fpr_0.005"],
            "false positives": found["false_positives"],
            "false negatives": found["false_negatives"],
        }
    predicted = logits.argmax(1)
    f1 = []
    for label in range(logits.shape[1]):
        hits = int(((predicted == label) & (truth == label)).sum())
        f1.append(
            2 * hits / max((predicted == label).sum() + (truth == label).sum(), 1)
        )
    return {
        "accuracy": float((predicted == truth).mean()),
        "macro F1": float(np.mean(f1)),
    }


class Evaluation:
    """Figures of the integer model and of its float twin, file by file."""

    def __init__(self, labels: Sequence[str], inputs: Inputs) -> None:
        self._labels, self._inputs = labels, inputs
        self.rows: list[tuple[str, int, dict[str, float]]] = []

    def add(self, encoder: QuantEncoder, path: Path) -> None:
        """Judges one file and prints its figures."""
        names, texts = read_tsv(path)
        truth = label_numbers(names, self._labels, str(path))
        twin: FloatEncoder = encoder.float_encoder
        for model, kind in ((encoder, "int8"), (twin, "float twin")):
            found = figures(truth, predict(model, self._inputs, texts))
            self.rows.append((f"{path.name}, {kind}", len(texts), found))
            cells = "  ".join(f"{key} {show(value)}" for key, value in found.items())
            print(f"{path.name}, {kind}: {cells}")

    def table(self) -> str:
        """The figures as a Markdown table."""
        if not self.rows:
            return "No file was given to measure on.\n"
        keys = list(self.rows[0][2])
        lines = [
            "| file | messages | " + " | ".join(keys) + " |",
            "| --- | " + "--- | " * (len(keys) + 1),
        ]
        for name, size, found in self.rows:
            cells = " | ".join(show(found[key]) for key in keys)
            lines.append(f"| {name} | {size:,} | {cells} |")
        return "\n".join(line.rstrip() for line in lines) + "\n"


def show(value: float) -> str:
    """A count as it is, a ratio with four decimals."""
    return str(value) if isinstance(value, int) else f"{value:.4f}"


def check_export(
    encoder: QuantEncoder, inputs: Inputs, model: Model, texts: Sequence[str]
) -> int:
    """Compares training's integer forward pass with the NumPy reference on the model.

    Returns the number of messages compared; raises ValueError if any logit differs.
    """
    reference = Encoder(model)
    messages = [inputs.tokens(text) for text in texts[:CHECKED_MESSAGES]]
    messages = [message for message in messages if len(message)]
    trained = encoder.integer_logits(inputs.batch(messages)).numpy()
    for message, logits in zip(messages, trained):
        if not np.array_equal(reference.logits(inputs.rows(message)), logits):
            raise ValueError("the exported model's logits are not those of training")
    return len(messages)


def card(
    args: argparse.Namespace,
    recipe: Recipe,
    labels: Sequence[str],
    names: Sequence[str],
    evaluation: Evaluation,
) -> str:
    """The model card."""
    about = args.about.read_text("utf-8").strip() if args.about else f"# {args.name}"
    counts = ", ".join(f"{names.count(label):,} {label}" for label in labels)
    hashes = "\n".join(
        f"- `{path.name}`: SHA-256 `{hashlib.sha256(path.read_bytes()).hexdigest()}`"
        for path in args.train
    )
    teacher = {
        "none": "none",
        "ngrams": "TF-IDF of character 2-5-grams with logistic regression",
        "sentences": "TF-IDF of character 2-5-grams and all-MiniLM-L6-v2 features, each "
        "with logistic regression, stacked on out-of-fold scores",
    }[args.teacher]
    threshold = ""
    if args.threshold:
        threshold = (
            f"\nDecision threshold folded into the bias: {args.threshold:+.2f} nats."
        )
    return f"""{about}

## Figures

Of the integer model, which are those of the device, and of its float twin: the same
parameters in real numbers.

{evaluation.table()}
## Training

Trained on {len(names):,} messages ({counts}):

{hashes}

Validation and test files are only measured, never trained on. Teacher: {teacher}.{threshold}

| setting | value |
| --- | --- |
| labels | {", ".join(labels)} |
| d_model, heads, d_ffn, blocks | {recipe.embedding_length}, {recipe.head_count}, \
{recipe.feed_forward_length}, {recipe.block_count} |
| embedding table | {recipe.text.buckets} x {recipe.input_length} |
| most tokens | {recipe.context_length} |
| epochs, of these in integers | {recipe.epochs}, {recipe.integer_epochs} |
| seed | {recipe.seed}{f", of {args.restarts} tried" if args.restarts > 1 else ""} |

Made by

    build/venv/bin/python tools/train/train.py {shlex.join(sys.argv[1:])}
"""


def train_best(
    recipe: Recipe,
    restarts: int,
    inputs: Inputs,
    data: LabelledTexts,
    validation: LabelledTexts | None,
    lessons: Lessons | None,
) -> tuple[QuantEncoder, Recipe]:
    """Trains with `restarts` seeds; keeps the least loss of validation.

    The loss, in nats a message, says more than F1 of a few dozen positives.
    """
    texts, numbers = data
    classes = int(numbers.max()) + 1
    best: tuple[float, QuantEncoder, Recipe] | None = None
    for seed in range(recipe.seed, recipe.seed + restarts):
        tried = replace(recipe, seed=seed)
        encoder = train_encoder(
            tried, inputs, texts, numbers, classes, lessons, f"seed {seed}"
        )
        loss = 0.0
        if validation is not None:
            logits = torch.from_numpy(predict(encoder, inputs, validation[0]))
            truth = torch.from_numpy(validation[1])
            loss = float(torch.nn.functional.cross_entropy(logits, truth))
            print(f"seed {seed}: validation loss {loss:.4f}", flush=True)
        if best is None or loss < best[0]:
            best = (loss, encoder, tried)
    assert best is not None
    return best[1], best[2]


def train(args: argparse.Namespace) -> None:
    """Trains, measures, writes model and card."""
    try:
        from tools.reference.model_writer import read_model, write_model
    except ImportError as error:
        raise ValueError(f"{error}: run 'tools/dev setup'") from error
    recipe = recipe_of(args)
    inputs = Inputs(recipe.text, recipe.context_length)
    names, texts = read_files(args.train)
    labels = args.labels or list(dict.fromkeys(names))
    if len(labels) < 2 or len(set(labels)) != len(labels):
        raise ValueError(f"need two or more distinct labels, found {labels}")
    numbers = label_numbers(names, labels, "training data")
    if set(numbers) != set(range(len(labels))):
        raise ValueError("a label has no message to train on")
    measured = ([args.validation] if args.validation else []) + args.test
    for path in measured:
        label_numbers(read_tsv(path)[0], labels, str(path))
    if args.threshold and len(labels) != 2:
        raise ValueError("--threshold is for two labels")

    lessons = None
    if args.teacher != "none":
        groups = np.array([group_of(text) for text in texts])
        teacher = Teacher(
            args.teacher, texts, numbers, groups, args.composed, recipe.seed
        )
        lessons = teacher.lessons(np.ones(len(texts), dtype=bool))
    validation = None
    if args.validation:
        held_names, held_texts = read_tsv(args.validation)
        validation = (
            held_texts,
            label_numbers(held_names, labels, str(args.validation)),
        )
    encoder, recipe = train_best(
        recipe, args.restarts, inputs, (texts, numbers), validation, lessons
    )
    if args.threshold:
        shift_threshold(encoder, args.threshold)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.gguf"
        write_model(path, export(encoder, inputs, args.name, labels))
        compared = check_export(encoder, inputs, read_model(path), texts)
        data = path.read_bytes()
    print(f"{compared} messages: the exported integers give the logits of training")
    evaluation = Evaluation(labels, inputs)
    for path in measured:
        evaluation.add(encoder, path)
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_bytes(data)
    card_path = args.output.with_suffix(".md")
    card_path.write_text(card(args, recipe, labels, names, evaluation), "utf-8")
    print(f"{args.output}: {len(data):,} bytes; {card_path}")


def main() -> int:
    """Parses the arguments."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("train", type=Path, nargs="+", help="label TAB text files")
    parser.add_argument("--output", type=Path, required=True, help="MODEL.gguf")
    parser.add_argument(
        "--labels",
        nargs="+",
        help="labels in the model's order; of two the second is the positive one "
        "(the order of the file)",
    )
    parser.add_argument("--validation", type=Path, help="file to choose settings on")
    parser.add_argument(
        "--test", type=Path, nargs="+", default=[], help="files to report on"
    )
    parser.add_argument(
        "--restarts",
        type=positive_count,
        default=1,
        metavar="N",
        help="train with N seeds from --seed on, keep the least loss on --validation "
        "(1)",
    )
    parser.add_argument("--name", help="name of the model (the output's)")
    parser.add_argument("--about", type=Path, help="Markdown that the card begins with")
    parser.add_argument(
        "--threshold",
        type=float,
        default=0.0,
        metavar="NATS",
        help="margin above which the second of two labels wins; goes into the bias, "
        "see crossval.py (0)",
    )
    add_recipe_arguments(parser)
    args = parser.parse_args()
    if args.output.suffix != ".gguf":
        parser.error(f"--output {args.output}: the name must end in .gguf")
    if args.restarts > 1 and args.validation is None:
        parser.error("--restarts needs --validation to choose by")
    args.name = args.name or args.output.stem
    torch.set_num_threads(1)
    try:
        train(args)
    except (OSError, ValueError) as error:
        print(f"train: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
