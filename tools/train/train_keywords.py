#!/usr/bin/env python3
"""Trains a keyword model on a folder of spoken clips and writes model and card.

    build/venv/bin/python tools/train/train_keywords.py FOLDER --output model.gguf

FOLDER is any of: Speech Commands as it is downloaded; WORD/*.wav, .flac or .opus; or
train, val, test and background_noise as folders or tar files of these. Features come
from the device's own front end, and the last epochs run in the device's own integers,
so the figures of the card are those of the device. Killed, the same command goes on from
where it was; what it made so far lies in the folder --work.
"""

from __future__ import annotations

import argparse
import json
import math
import shlex
import sys
import tempfile
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools.audio.device_audio import AudioParams, DeviceFrontEnd, patches  # noqa: E402
from tools.reference.encoder import Encoder  # noqa: E402
from tools.reference.float_model import (  # noqa: E402
    trained_float_model,
    write_float_model,
)
from tools.reference.model import Model  # noqa: E402
from tools.reference.model_writer import read_model, write_model  # noqa: E402
from tools.reference.spotter import NEVER, SCORE_ONE  # noqa: E402
from tools.train.argument_types import (  # noqa: E402
    bounded,
    count,
    positive_count,
    share,
)
from tools.train.clip_augment import (  # noqa: E402
    CopyMaker,
    MadeCounts,
    held_out_silence,
)
from tools.train.clips import (  # noqa: E402
    RATE,
    SILENCE,
    SILENCE_FOLDER,
    UNKNOWN,
    ClipFolder,
    class_names,
    label_numbers,
)
from tools.train.keyword_recipe import (  # noqa: E402
    Copies,
    KeywordRecipe,
    predict,
    train_keywords,
    train_teacher,
)
from tools.train.qat import FloatEncoder, QuantEncoder  # noqa: E402

CHECKED_CLIPS = 50
HELD_OUT_SILENCE = 220
EIGHT = ("yes", "no", "up", "down", "left", "right", "stop", "go")
WORDS = {"10": EIGHT, "12": (*EIGHT[:6], "on", "off", *EIGHT[6:])}

IntArray = npt.NDArray[np.int64]

# Of thresholds, and the step between those tried.
LOWEST, HIGHEST, STEP = 0.5, 0.97, 0.01
# Shares of the clips of words that are to be heard at the thresholds: of all words on
# average, and of each.
HEARD, HEARD_OF_EACH = 0.94, 0.88
# Mean accuracies no further apart than this are the same.
AS_GOOD = 0.001
# Sounds that are no word, made of held-out clips, to choose thresholds on.
MADE_HELD_OUT = 2000
MADE = "_made_"


def softmax(logits: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Scores [n, c] of logits [n, c]."""
    shifted = np.exp(logits - logits.max(1, keepdims=True))
    return shifted / shifted.sum(1, keepdims=True)


def other_labels(labels: list[str]) -> list[int]:
    """Numbers of the labels that stand for no word."""
    return [labels.index(label) for label in (UNKNOWN, SILENCE) if label in labels]


@dataclass(frozen=True)
class HeldOut:
    """Clips to measure on."""

    name: str
    features: npt.NDArray[np.int8]  # [n, frames, bins]
    truth: IntArray  # [n], -1: no label stands for it
    never_heard: npt.NDArray[np.bool_]  # [n] words without a clip to train on
    words: npt.NDArray[np.str_]  # [n] names of the folders

    def weight_of_words(self) -> npt.NDArray[np.float64]:
        """[n] weights at which each word counts as much as any other."""
        _, kind, counts = np.unique(self.words, return_inverse=True, return_counts=True)
        return 1 / counts[kind]

    def figures(
        self,
        logits: npt.NDArray[Any],
        labels: list[str],
        thresholds: npt.NDArray[np.uint16] | None = None,
    ) -> dict[str, float | int]:
        """What a card says of logits [n, c]. Never-heard words stand apart."""
        guess = logits.argmax(1)
        others = other_labels(labels)
        is_word = ~np.isin(self.truth, others)
        judged = (self.truth >= 0) & ~self.never_heard
        right = guess == self.truth
        found: dict[str, float | int] = {
            "clips": int(judged.sum()),
            "accuracy": float(right[judged].mean()),
            "words alone": float(right[judged & is_word].mean()),
        }
        for label in others:
            chosen = judged & (self.truth == label)
            if chosen.any():
                found[labels[label]] = float(right[chosen].mean())
                words = np.unique(self.words[chosen])
                if len(words) > 1:
                    found[f"{labels[label]}, each word alike"] = float(
                        np.mean(
                            [right[chosen & (self.words == w)].mean() for w in words]
                        )
                    )
        called = ~np.isin(guess, others)
        if self.never_heard.any():
            found["never heard, called a word"] = float(called[self.never_heard].mean())
        if thresholds is not None:
            best = softmax(logits)[np.arange(len(guess)), guess] * SCORE_ONE
            called &= best >= thresholds[guess]
            found["words at their thresholds"] = float(
                (right & called)[judged & is_word].mean()
            )
            if self.never_heard.any():
                found["never heard, at the thresholds"] = float(
                    called[self.never_heard].mean()
                )
        return found


@torch.no_grad()
def settle_unknown(
    encoder: QuantEncoder, val: HeldOut, labels: list[str], audio: AudioParams
) -> float:
    """Moves the bias of `unknown` to where the mean accuracy of the classes is best on
    val, other words counting alike; returns by how much, in nats.

    Training shows `unknown` more often than any word: this takes the preference back.
    """
    if UNKNOWN not in labels:
        return 0.0
    unknown = labels.index(UNKNOWN)
    logits = predict(encoder, val.features, audio)
    weight = val.weight_of_words()

    def mean_accuracy(shift: float) -> float:
        moved = logits + shift * (np.arange(len(labels)) == unknown)
        right = moved.argmax(1) == val.truth
        return float(
            np.mean(
                [
                    np.average(
                        right[val.truth == label], weights=weight[val.truth == label]
                    )
                    for label in np.unique(val.truth[val.truth >= 0])
                ]
            )
        )

    # The smallest of those that are as good as the best.
    shifts = sorted(np.arange(-1.5, 1.51, 0.1), key=abs)
    found = [mean_accuracy(shift) for shift in shifts]
    best = float(shifts[np.argmax(np.array(found) >= max(found) - AS_GOOD)])
    encoder.float_encoder.head.bias[unknown] += best
    return best


def word_thresholds(
    logits: npt.NDArray[Any],
    truth: IntArray,
    labels: list[str],
    weight: npt.NDArray[np.float64],
) -> npt.NDArray[np.uint16]:
    """Scores [classes] from which the spotter hears a word, of SCORE_ONE.

    Of the thresholds at which HEARD of the words' held-out clips are still heard, on
    average, and HEARD_OF_EACH of each word's, those at which the least of what is no
    word is taken for one. weight [n]: how much each clip of that counts. Strictness is
    so spent on the words that others are taken for. `unknown` and `silence` are never
    heard.
    """
    others = other_labels(labels)
    words = [c for c in range(len(labels)) if c not in others and (truth == c).any()]
    scores, guess = softmax(logits), logits.argmax(1)
    tried = np.arange(LOWEST, HIGHEST + STEP / 2, STEP)
    heard = np.zeros((len(labels), len(tried)))
    false = np.zeros_like(heard)
    is_other = np.isin(truth, others)
    for word in words:
        passed = (guess == word) & (scores[:, word] >= tried[:, None])  # [tried, n]
        heard[word] = passed[:, truth == word].mean(1)
        # Strict is better than lenient even where no clip tells the difference.
        false[word] = passed[:, is_other] @ weight[is_other] + 1e-3 * (1 - tried)

    # From the lowest, one word's threshold at a time goes up, the one that keeps out the
    # most for the clips that it costs, as long as enough are heard.
    chosen = np.zeros(len(labels), np.int64)
    while words:
        spare = (heard[words, chosen[words]].mean() - HEARD) * len(words)
        best, move = 0.0, None
        for word in words:
            for to in range(chosen[word] + 1, len(tried)):
                cost = heard[word, chosen[word]] - heard[word, to]
                if cost > spare or heard[word, to] < HEARD_OF_EACH:
                    break
                gain = (false[word, chosen[word]] - false[word, to]) / (cost + 1e-4)
                if gain > best:
                    best, move = gain, (word, to)
        if move is None:
            break
        chosen[move[0]] = move[1]
    thresholds = np.full(len(labels), NEVER, np.uint16)
    for word in words:
        thresholds[word] = math.floor(tried[chosen[word]] * SCORE_ONE)
    return thresholds


class Evaluation:
    """Figures of the integer model and of its float twin on held-out clips."""

    def __init__(
        self,
        labels: list[str],
        audio: AudioParams,
        thresholds: npt.NDArray[np.uint16] | None,
    ) -> None:
        self._labels, self._audio, self._thresholds = labels, audio, thresholds
        self.rows: list[tuple[str, dict[str, float | int]]] = []

    def add(self, encoder: QuantEncoder, clips: HeldOut) -> None:
        """Judges one part and prints its figures."""
        for model, kind in ((encoder, "int8"), (encoder.float_encoder, "float twin")):
            logits = predict(model, clips.features, self._audio)
            found = clips.figures(logits, self._labels, self._thresholds)
            self.rows.append((f"{clips.name}, {kind}", found))
            cells = "  ".join(f"{key} {_show(value)}" for key, value in found.items())
            print(f"{clips.name}, {kind}: {cells}")

    def table(self) -> str:
        """The figures as a Markdown table."""
        if not self.rows:
            return "No clips were held out to measure on.\n"
        keys = list(dict.fromkeys(key for _, found in self.rows for key in found))
        lines = [
            "| part | " + " | ".join(keys) + " |",
            "| --- | " + "--- | " * len(keys),
        ]
        for name, found in self.rows:
            cells = [_show(found[key]) if key in found else "" for key in keys]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        return "\n".join(line.rstrip() for line in lines) + "\n"


def _show(value: float | int) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{100 * value:.2f} %"


class Task:
    """A folder of clips, the labels of its words, and its parts as features."""

    def __init__(self, args: argparse.Namespace, recipe: KeywordRecipe) -> None:
        self.folder = ClipFolder(args.folder, args.work)
        self.recipe = recipe
        self.front_end = DeviceFrontEnd(recipe.audio)
        self.recordings = self.folder.noise()
        self.train = self.folder.part("train")
        heard = sorted(set(self.train.words))
        self.heard = heard
        words = args.words or WORDS.get(args.classes, tuple(heard))
        silence = args.classes != "35" or args.words is not None
        self.labels = class_names(words, heard, silence)
        self.numbers = label_numbers(self.train.words, self.labels)
        self.place = {label: i for i, label in enumerate(self.labels)}

    def copies(self, work: Path) -> Copies:
        """The augmented copies; made if they are not in work."""
        spoken = np.flatnonzero(self.numbers != self.place.get(UNKNOWN, -1))
        made = MadeCounts(
            silence=len(spoken) // 5 if SILENCE in self.place else 0,
            unknown=len(spoken) // 3 if UNKNOWN in self.place else 0,
        )
        maker = CopyMaker(
            *(self.front_end, self.train, spoken, self.recordings, made),
            self.recipe.seed,
        )
        rendered = [
            maker.render(copy, work / f"copy_{copy}.npy")
            for copy in range(self.recipe.copies)
        ]
        return Copies(
            *(self.recipe, rendered, maker.labels(self.numbers, self.labels)),
            real=len(self.numbers),
            unknown=self.place.get(UNKNOWN, -1),
            silence=self.place.get(SILENCE, -1),
            words=self.train.words,
        )

    def held_out(self, part: str) -> HeldOut | None:
        """A part to measure on; without silence of its own it gets noise that training
        never hears."""
        clips = self.folder.part(part)
        if not clips.words:
            return None
        pcm, words = clips.pcm, list(clips.words)
        wanted = SILENCE in self.place and SILENCE_FOLDER not in words
        if wanted and self.recordings:
            seed = self.recipe.seed + (part == "test")
            pcm = np.concatenate(
                [pcm, held_out_silence(self.recordings, HELD_OUT_SILENCE, seed)]
            )
            words += [SILENCE_FOLDER] * HELD_OUT_SILENCE
        known = {*self.heard, SILENCE_FOLDER}
        return HeldOut(
            part,
            self.front_end.features(pcm),
            label_numbers(words, self.labels),
            np.array([word not in known for word in words]),
            np.array(words),
        )

    def with_made(self, clips: HeldOut) -> HeldOut:
        """The clips and sounds that are no word, made of them, which count as much as
        all other words together."""
        unknown = self.place.get(UNKNOWN, -1)
        if unknown < 0:
            return clips
        part = self.folder.part(clips.name)
        numbers = label_numbers(part.words, self.labels)
        maker = CopyMaker(
            *(self.front_end, part, np.flatnonzero(numbers != unknown)),
            *(self.recordings, MadeCounts(0, MADE_HELD_OUT), self.recipe.seed),
        )
        kinds = max(1, len(set(clips.words[clips.truth == unknown])))
        names = [f"{MADE}{i % kinds}" for i in range(MADE_HELD_OUT)]
        return HeldOut(
            clips.name,
            np.concatenate([clips.features, maker.made_unknown()]),
            np.concatenate([clips.truth, np.full(MADE_HELD_OUT, unknown)]),
            np.concatenate([clips.never_heard, np.zeros(MADE_HELD_OUT, np.bool_)]),
            np.concatenate([clips.words, np.array(names)]),
        )


def check_export(
    encoder: QuantEncoder, model: Model, clips: HeldOut, audio: AudioParams
) -> int:
    """Compares training's integer forward pass with the NumPy reference on the model.

    Returns the number of clips compared; raises ValueError if any logit differs.
    """
    reference = Encoder(model)
    chosen = clips.features[:: max(1, len(clips.features) // CHECKED_CLIPS)]
    trained = np.rint(predict(encoder, chosen, audio) * 256).astype(np.int64)
    for rows, logits in zip(patches(chosen, audio), trained):
        if not np.array_equal(reference.logits_of_rows(rows), logits):
            raise ValueError("the exported model's logits are not those of training")
    return len(chosen)


def card(
    args: argparse.Namespace, task: Task, evaluation: Evaluation, weights: int
) -> str:
    """The model card."""
    recipe = task.recipe
    about = args.about.read_text("utf-8").strip() if args.about else f"# {args.name}"
    settings = {
        field.name: getattr(recipe, field.name)
        for field in fields(recipe)
        if field.name != "audio"
    }
    audio = recipe.audio
    lines = "\n".join(f"| {name} | {value} |" for name, value in settings.items())
    return f"""{about}

## Figures

Of the integer model, which are those of the device, and of its float twin: the same
parameters in real numbers.

{evaluation.table()}
{weights:,} bytes of weights; {multiply_adds(recipe, len(task.labels)):,} multiply-adds a
second of audio looked at, the front end aside.

## Training

Labels: {", ".join(task.labels)}. Trained on {len(task.train.words):,} clips, SHA-256 over
their names and bytes `{task.folder.fingerprint()}`. Other parts are only measured.

| setting | value |
| --- | --- |
| frame, hop, FFT | {audio.frame_length}, {audio.hop_length}, {audio.fft_length} samples |
| mel bins | {audio.bins}, {audio.low_hz:g} to {audio.high_hz:g} Hz |
| frames of a token, from token to token | {audio.patch_frames}, {audio.patch_stride} |
{lines}

Made by

    build/venv/bin/python tools/train/train_keywords.py {shlex.join(sys.argv[1:])}
"""


def multiply_adds(recipe: KeywordRecipe, classes: int) -> int:
    """Of all matrix products for one second of audio, attention's included."""
    d, f = recipe.embedding_length, recipe.feed_forward_length
    rows = recipe.audio.rows(RATE)
    tokens = recipe.config(classes).context_length
    block = tokens * (4 * d * d + 2 * d * f + 2 * tokens * d)
    return (
        rows * recipe.audio.input_length * d + recipe.block_count * block + d * classes
    )


def bytes_of_weights(model: Model) -> int:
    """Bytes of all tensors but the front end's tables."""
    return sum(
        tensor.nbytes
        for name, tensor in model.tensors.items()
        if not name.startswith("audio.")
    )


def _judge(task: Task, val: HeldOut | None, network: torch.nn.Module) -> str:
    if val is None:
        return ""
    found = val.figures(predict(network, val.features, task.recipe.audio), task.labels)
    wanted = ("accuracy", "words alone", UNKNOWN, f"{UNKNOWN}, each word alike")
    cells = (f"{key} {_show(found[key])}" for key in wanted if key in found)
    return f"{val.name}: " + ", ".join(cells)


def train(args: argparse.Namespace, recipe: KeywordRecipe) -> None:
    """Trains, measures, writes model and card."""
    args.work.mkdir(parents=True, exist_ok=True)
    _check_settings(args, recipe)
    task = Task(args, recipe)
    val = task.held_out("val")
    copies = task.copies(args.work)
    classes = len(task.labels)

    def judge(network: torch.nn.Module) -> str:
        return _judge(task, val, network)

    teacher = None
    if recipe.teacher_weight > 0:
        teacher = train_teacher(recipe, copies, classes, judge, args.work)
    encoder = train_keywords(recipe, copies, classes, judge, args.work, teacher)
    finish(args, task, encoder, val)


def finish(
    args: argparse.Namespace, task: Task, encoder: QuantEncoder, val: HeldOut | None
) -> None:
    """Chooses thresholds, measures, and writes the model, its twin and its card."""
    audio = task.recipe.audio
    thresholds = None
    if val is not None:
        shift = settle_unknown(encoder, val, task.labels, audio)
        print(f"bias of {UNKNOWN}: {shift:+.1f} nats")
        heard = task.with_made(val)
        logits = predict(encoder, heard.features, audio)
        thresholds = word_thresholds(
            logits, heard.truth, task.labels, heard.weight_of_words()
        )
    evaluation = Evaluation(task.labels, audio, thresholds)
    test = task.held_out("test") if args.test else None
    for clips in (val, test):
        if clips is not None:
            evaluation.add(encoder, clips)
    keys: dict[str, Any] = dict(audio.metadata())
    if thresholds is not None:
        keys["atto.audio.spot.thresholds"] = thresholds
    model = encoder.export_integers(args.name, task.labels, keys, audio.tensors())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.gguf"
        write_model(path, model)
        if val is not None:
            compared = check_export(encoder, read_model(path), val, audio)
            print(f"{compared} clips: the file's logits are those of training")
        data = path.read_bytes()
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_bytes(data)
    if args.float_twin:
        twin = trained_float_model(
            encoder.config,
            encoder.float_encoder.state_dict(),
            args.name,
            task.labels,
            keys,
            audio.tensors(),
            task.recipe.input_scale,
        )
        write_float_model(args.float_twin, twin)
    card_path = args.output.with_suffix(".md")
    text = card(args, task, evaluation, bytes_of_weights(model))
    card_path.write_text(text, "utf-8")
    print(f"{args.output}: {len(data):,} bytes; {card_path}")


def _check_settings(args: argparse.Namespace, recipe: KeywordRecipe) -> None:
    """What lies in the work folder must be of the same clips and settings."""
    path = args.work / "settings.json"
    settings = json.dumps(
        {"folder": str(args.folder.resolve()), "words": args.words or args.classes}
        | {"recipe": repr(recipe)},
        indent=1,
    )
    if path.is_file() and path.read_text("utf-8") != settings:
        raise ValueError(
            f"{args.work} holds what other settings made, see {path.name} there: name "
            "another folder with --work, or remove this one"
        )
    path.write_text(settings, "utf-8")


def recipe_of(args: argparse.Namespace) -> KeywordRecipe:
    """The recipe that the arguments describe; ValueError for an impossible shape."""
    if args.embedding_length % args.heads or args.embedding_length // args.heads > 256:
        raise ValueError(
            f"{args.embedding_length} dimensions do not divide into {args.heads} heads"
        )
    if args.integer_epochs > args.epochs:
        raise ValueError("--integer-epochs are the last of --epochs")
    default = KeywordRecipe()
    audio = replace(
        default.audio,
        bins=args.bins,
        patch_frames=args.patch_frames,
        patch_stride=args.patch_stride,
    )
    return replace(
        default,
        audio=audio,
        embedding_length=args.embedding_length,
        block_count=args.blocks,
        head_count=args.heads,
        feed_forward_length=args.feed_forward_length,
        pooling=args.pooling,
        copies=args.copies,
        teacher_epochs=args.teacher_epochs,
        teacher_weight=args.teacher_weight,
        epochs=args.epochs,
        integer_epochs=args.integer_epochs,
        batch_size=args.batch_size,
        learning_rate=args.learning_rate,
        fast=args.fast,
        seed=args.seed,
    )


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    default = KeywordRecipe()
    parser.add_argument("folder", type=Path, help="folder of spoken clips")
    parser.add_argument("--output", type=Path, required=True, help="MODEL.gguf")
    parser.add_argument("--name", help="name of the model (the output's)")
    parser.add_argument("--about", type=Path, help="Markdown that the card begins with")
    parser.add_argument(
        "--work", type=Path, help="folder for what training makes (build/keywords/NAME)"
    )
    parser.add_argument(
        "--float-twin", type=Path, help="write the float twin to this file as well"
    )
    parser.add_argument(
        "--test",
        action="store_true",
        help="measure on the test part as well, at the end",
    )
    labels = parser.add_mutually_exclusive_group()
    labels.add_argument(
        "--classes",
        choices=("10", "12", "35"),
        default="10",
        help="eight or ten words, unknown and silence; or every word of the folder (10)",
    )
    labels.add_argument(
        "--words",
        nargs="+",
        metavar="WORD",
        help="these words, unknown if there are others, and silence",
    )
    shape = parser.add_argument_group("shape of the model")
    # Ranges: docs/model_format.md, docs/audio.md.
    for name, value, low, high, text in (
        ("--embedding-length", default.embedding_length, 8, 512, "d_model"),
        ("--heads", default.head_count, 1, 512, "attention heads"),
        ("--feed-forward-length", default.feed_forward_length, 8, 2048, "d_ffn"),
        ("--blocks", default.block_count, 1, 32, "encoder blocks"),
        ("--bins", default.audio.bins, 1, 128, "mel bins"),
        ("--patch-frames", default.audio.patch_frames, 1, 512, "frames of a token"),
        ("--patch-stride", default.audio.patch_stride, 1, 512, "frames to the next"),
    ):
        shape.add_argument(
            name, type=bounded(low, high), default=value, help=f"{text} ({value})"
        )
    shape.add_argument("--pooling", choices=("mean", "class"), default=default.pooling)
    training = parser.add_argument_group("training")
    training.add_argument(
        "--fast",
        action="store_true",
        help="bfloat16 and torch.compile, for CPUs that multiply bfloat16",
    )
    for name, value, kind, text in (
        ("--copies", default.copies, positive_count, "augmented copies of the clips"),
        ("--teacher-epochs", default.teacher_epochs, positive_count, "of the teacher"),
        ("--teacher-weight", default.teacher_weight, share, "0: no teacher"),
        ("--epochs", default.epochs, positive_count, "of the encoder, in all"),
        ("--integer-epochs", default.integer_epochs, count, "of these in integers"),
        ("--batch-size", default.batch_size, positive_count, "clips of a step"),
        ("--learning-rate", default.learning_rate, float, "the highest"),
        ("--seed", default.seed, count, "of everything random"),
    ):
        training.add_argument(name, type=kind, default=value, help=f"{text} ({value})")


def main() -> int:
    """Parses the arguments."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    _add_arguments(parser)
    args = parser.parse_args()
    if args.output.suffix != ".gguf":
        parser.error(f"--output {args.output}: the name must end in .gguf")
    args.name = args.name or args.output.stem
    args.work = args.work or Path("build") / "keywords" / args.name
    torch.set_num_threads(1)
    try:
        train(args, recipe_of(args))
    except (OSError, ValueError) as error:
        print(f"train_keywords: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
