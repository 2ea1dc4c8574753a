"""How a keyword model is trained: copies, a teacher, the encoder, its integers.

A convolutional teacher learns the augmented copies first and judges each of them once.
The encoder learns from its opinions and the labels, on the same copies distorted anew
in every epoch, first in real numbers, then in the device's own integers (qat.py). Both
use AdamW on a cosine schedule, and averaged weights.

Every epoch has its own random numbers and ends with a checkpoint, so that training that
was killed goes on from the last epoch and comes to the same model.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from tqdm import tqdm

from tools.audio.device_audio import AudioParams
from tools.train.averaging import Average
from tools.train.clip_augment import MARGIN, distort, slide
from tools.train.clips import RATE
from tools.train.qat import Batch, EncoderConfig, FloatEncoder, QuantEncoder

EVALUATION_BATCH = 256
CALIBRATION_CLIPS = 1024

Int8Array = npt.NDArray[np.int8]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Schedule:
    """One cosine schedule."""

    epochs: int
    learning_rate: float
    weight_decay: float
    average_decay: float
    batch_size: int
    warm_up: int = 200  # steps


@dataclass(frozen=True)
class KeywordRecipe:
    """Everything that training can be told."""

    audio: AudioParams = AudioParams(patch_frames=8, patch_stride=3)
    embedding_length: int = 64
    block_count: int = 5
    head_count: int = 4
    feed_forward_length: int = 112
    pooling: str = "mean"
    dropout: float = 0.0
    copies: int = 12
    # Of an epoch, relative to its clips of words: clips of other words, made silence,
    # made sounds that are no word.
    unknown_share: float = 0.45
    silence_share: float = 0.095
    made_share: float = 0.25
    # How often other words are drawn: by the number of their clips to this power.
    unknown_power: float = 0.3
    # Share of clips of `unknown` that are heard in part, as streams have them.
    partial_share: float = 0.2
    # Share of clips that are mixed with another one.
    mixed_share: float = 0.5
    teacher_epochs: int = 38
    teacher_channels: tuple[int, ...] = (16, 32, 80, 96, 128, 128, 160, 160)
    epochs: int = 120
    integer_epochs: int = 4
    batch_size: int = 128
    learning_rate: float = 2e-3
    weight_decay: float = 0.05
    average_decay: float = 0.998
    label_smoothing: float = 0.05
    # Weight of the teacher's opinion; temperature at which it is told.
    teacher_weight: float = 0.8
    temperature: float = 2.0
    # bfloat16 and torch.compile where the arithmetic is in real numbers.
    fast: bool = False
    seed: int = 1

    def config(self, classes: int) -> EncoderConfig:
        """The shape of the encoder."""
        rows = self.audio.rows(RATE)
        return EncoderConfig(
            context_length=rows + (self.pooling == "class"),
            embedding_length=self.embedding_length,
            input_length=self.audio.input_length,
            block_count=self.block_count,
            head_count=self.head_count,
            feed_forward_length=self.feed_forward_length,
            classes=classes,
            input="audio",
            pooling=self.pooling,
            positions=True,
        )

    @property
    def input_scale(self) -> float:
        """Real value of one step of a feature: they spread about as widely as 1."""
        return 1 / 48

    def teacher_schedule(self) -> Schedule:
        return Schedule(
            self.teacher_epochs, 3e-3, 0.05, self.average_decay, self.batch_size
        )

    def schedule(self) -> Schedule:
        return Schedule(
            self.epochs,
            self.learning_rate,
            self.weight_decay,
            self.average_decay,
            self.batch_size,
        )


# --- Networks ---------------------------------------------------------------------


def _convolution(
    kind: type[nn.Conv1d] | type[nn.Conv2d],
    inside: int,
    outside: int,
    size: int,
    stride: int | tuple[int, int] = 1,
) -> nn.Sequential:
    norm = nn.BatchNorm1d if kind is nn.Conv1d else nn.BatchNorm2d
    return nn.Sequential(
        kind(inside, outside, size, stride, padding=size // 2, bias=False),
        norm(outside),
    )


class _Residual(nn.Module):
    """Two temporal convolutions and a way around them."""

    def __init__(self, inside: int, outside: int, width: int, stride: int) -> None:
        super().__init__()
        self.first = _convolution(nn.Conv1d, inside, outside, width, stride)
        self.second = _convolution(nn.Conv1d, outside, outside, width)
        same = stride == 1 and inside == outside
        self.around = (
            nn.Identity()
            if same
            else _convolution(nn.Conv1d, inside, outside, 1, stride)
        )

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.second(F.relu(self.first(x))) + self.around(x))


class TeacherNetwork(nn.Module):
    """Two convolutions over time and frequency, then temporal ones with what is left of
    the mel bins as channels: TC-ResNet (Choi et al., arXiv 1904.03814) behind a stem that
    a voice's pitch may shift."""

    def __init__(
        self, bins: int, channels: Sequence[int], classes: int, scale: float
    ) -> None:
        """channels: of the two convolutions of the stem, of its end, then of each pair of
        temporal ones. scale: real value of one step of the int8 features."""
        super().__init__()
        self._scale = scale
        one, two, *rest = channels
        self.stem = nn.Sequential(
            _convolution(nn.Conv2d, 1, one, 5, 2),
            nn.ReLU(),
            _convolution(nn.Conv2d, one, two, 3, (1, 2)),
            nn.ReLU(),
        )
        left = two * ((bins + 3) // 4)
        self.first = nn.Sequential(_convolution(nn.Conv1d, left, rest[0], 1), nn.ReLU())
        self.blocks = nn.Sequential(
            *(
                _Residual(a, b, 9, 1 + i % 2)
                for i, (a, b) in enumerate(zip(rest, rest[1:]))
            )
        )
        self.head = nn.Linear(channels[-1], classes)

    def forward(self, x: Tensor) -> Tensor:
        """Features [B, frames, bins] -> logits [B, classes]."""
        y = self.stem((x * self._scale)[:, None])
        y = self.blocks(self.first(y.transpose(2, 3).flatten(1, 2)))
        return self.head(F.dropout(y.mean(2), 0.3, self.training))


def audio_batch(x: Tensor, audio: AudioParams) -> Batch:
    """Features [B, frames, bins] -> the rows that enter the encoder."""
    rows = x.unfold(1, audio.patch_frames, audio.patch_stride).transpose(2, 3)
    count, tokens = rows.shape[:2]
    return Batch(
        lengths=torch.full((count,), tokens, dtype=torch.int64),
        features=rows.reshape(count * tokens, audio.input_length),
    )


@torch.no_grad()
def predict(
    network: nn.Module, features: npt.NDArray[Any], audio: AudioParams
) -> FloatArray:
    """Logits [n, classes] of features [n, frames, bins]; the integer encoder's are the
    device's / 256."""
    network.eval()
    found = []
    for at in range(0, len(features), EVALUATION_BATCH):
        x = torch.from_numpy(features[at : at + EVALUATION_BATCH].astype(np.float32))
        is_teacher = isinstance(network, TeacherNetwork)
        found.append(network(x if is_teacher else audio_batch(x, audio)).numpy())
    return np.concatenate(found)


# --- Data -------------------------------------------------------------------------


class Copies:
    """Augmented copies with their labels, and what the teacher says of them."""

    def __init__(
        self,
        recipe: KeywordRecipe,
        copies: Sequence[Int8Array],
        labels: IntArray,
        real: int,
        unknown: int,
        silence: int,
        words: Sequence[str] = (),
    ) -> None:
        """labels [n] of the rows of every copy, of which the first `real` are clips, of
        these words if they are named; unknown, silence: the numbers of these labels, -1
        if there is none."""
        self._recipe, self._copies, self.labels = recipe, copies, labels
        self._unknown = unknown
        place = np.arange(len(labels))
        self._words = place[(labels != unknown) & (labels != silence)]
        others = place[(labels == unknown) & (place < real)]
        self._others = [
            (others, recipe.unknown_share, self._rarity(others, words)),
            (place[labels == silence], recipe.silence_share, None),
            (place[(labels == unknown) & (place >= real)], recipe.made_share, None),
        ]

    def _rarity(self, places: IntArray, words: Sequence[str]) -> FloatArray | None:
        """How often each of these clips of other words is drawn, summing to 1: all of
        them alike where words are not named."""
        if not words or not len(places):
            return None
        _, kind, counts = np.unique(
            np.array(words)[places], return_inverse=True, return_counts=True
        )
        weight = counts[kind] ** (self._recipe.unknown_power - 1.0)
        return weight / weight.sum()

    @property
    def _frames(self) -> int:
        return self._copies[0].shape[1] - 2 * MARGIN

    def middle(self, copy: int, places: Any = slice(None)) -> Int8Array:
        """Features [n, frames, bins] of the rows of a copy, not shifted."""
        return self._copies[copy][places, MARGIN : MARGIN + self._frames]

    def steps(self, batch_size: int) -> int:
        """Steps of an epoch."""
        return len(self._order(np.random.default_rng(0))) // batch_size

    def _order(self, rng: np.random.Generator) -> IntArray:
        """All clips of words, and as many others as the recipe says."""
        chosen = [self._words]
        for places, share, rarity in self._others:
            count = min(len(places), round(share * len(self._words)))
            twice = rarity is not None  # rare words in several of their copies
            chosen.append(rng.choice(places, count, replace=twice, p=rarity))
        return rng.permutation(np.concatenate(chosen))

    def epoch(
        self, batch_size: int, rng: np.random.Generator
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Batches of distorted features [B, frames, bins] and labels [B]."""
        order = self._order(rng)
        for at in range(0, len(order) - batch_size + 1, batch_size):
            places = order[at : at + batch_size]
            drawn = rng.integers(0, len(self._copies), batch_size)
            rows = np.stack([self._copies[c][i] for c, i in zip(drawn, places)])
            cut = rng.random(batch_size) < self._recipe.partial_share
            for i in np.flatnonzero(cut & (self.labels[places] == self._unknown)):
                rows[i] = slide(rows[i], rng)
            yield (
                torch.from_numpy(distort(rows, self._frames, rng)),
                torch.from_numpy(self.labels[places]),
            )


def mix(
    x: Tensor, labels: Tensor, classes: int, share: float, smoothing: float
) -> tuple[Tensor, Tensor]:
    """A share of the clips mixed with others of the batch (Zhang et al., arXiv
    1710.09412), at most half and half; and wanted probabilities, smoothed."""
    wanted = F.one_hot(labels, classes).to(torch.float32)
    wanted = wanted * (1 - smoothing) + smoothing / classes
    mixed = (torch.rand(len(x)) < share).to(torch.float32)
    other = torch.randperm(len(x))
    part = mixed * torch.rand(len(x)) * 0.5
    x = x + part[:, None, None] * (x[other] - x)
    return x, wanted + part[:, None] * (wanted[other] - wanted)


# --- Loops ------------------------------------------------------------------------

Loss = Callable[[int, Tensor, Tensor], Tensor]
Judge = Callable[[nn.Module], str]


def _run(
    network: nn.Module,
    extra: nn.Module,
    schedule: Schedule,
    copies: Copies,
    loss: Loss,
    judge: Judge,
    seed: int,
    checkpoint: Path,
    progress: str,
) -> None:
    """Trains network and leaves its averaged weights in it.

    extra: a module whose state is kept in the checkpoint. judge(network) is
    called with the averages in place, after each epoch, and gives a word for the
    progress bar.
    """
    optimiser = torch.optim.AdamW(
        network.parameters(), weight_decay=schedule.weight_decay
    )
    average = Average(network, schedule.average_decay)
    steps = copies.steps(schedule.batch_size)
    if steps == 0:
        raise ValueError("fewer clips to train on than a batch holds")
    first = 0
    if checkpoint.is_file():
        state = torch.load(checkpoint, map_location="cpu", weights_only=False)
        network.load_state_dict(state["network"])
        extra.load_state_dict(state["extra"])
        optimiser.load_state_dict(state["optimiser"])
        average.mean, average.steps = state["mean"], state["steps"]
        first = state["epoch"] + 1
    bar = tqdm(
        total=schedule.epochs * steps,
        initial=first * steps,
        desc=progress,
        unit="step",
        disable=None,
    )
    started = time.monotonic()
    for epoch in range(first, schedule.epochs):
        rng = np.random.default_rng([seed, epoch])
        torch.manual_seed(seed * 1_000_003 + epoch)
        network.train()
        total = 0.0
        for i, batch in enumerate(copies.epoch(schedule.batch_size, rng)):
            step = epoch * steps + i
            rate = 0.5 * (1 + math.cos(math.pi * step / (schedule.epochs * steps)))
            rate *= schedule.learning_rate * min(1.0, (step + 1) / schedule.warm_up)
            for group in optimiser.param_groups:
                group["lr"] = rate
            value = loss(epoch, *batch)
            optimiser.zero_grad()
            value.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            average.update()
            total += float(value.detach())
            bar.update()
        average.swap()
        said = f"loss {total / steps:.3f} {judge(network)}"
        bar.set_postfix_str(said)
        if bar.disable:  # no terminal: a log
            seconds = time.monotonic() - started
            print(f"{progress} {epoch + 1}/{schedule.epochs}: {said}, {seconds:.0f} s")
        average.swap()
        state = {
            "network": network.state_dict(),
            "extra": extra.state_dict(),
            "optimiser": optimiser.state_dict(),
            "mean": average.mean,
            "steps": average.steps,
            "epoch": epoch,
        }
        part = checkpoint.with_suffix(".part")
        torch.save(state, part)
        part.rename(checkpoint)
    bar.close()
    average.take()
    network.eval()


def _in_bfloat16(wanted: bool) -> torch.autocast:
    return torch.autocast("cpu", torch.bfloat16, enabled=wanted)


def train_teacher(
    recipe: KeywordRecipe, copies: Copies, classes: int, judge: Judge, work: Path
) -> TeacherNetwork:
    """Trains the teacher on the copies."""
    torch.manual_seed(recipe.seed)
    network = TeacherNetwork(
        recipe.audio.bins, recipe.teacher_channels, classes, recipe.input_scale
    )
    compiled = torch.compile(network) if recipe.fast else network

    def loss(epoch: int, x: Tensor, labels: Tensor) -> Tensor:
        del epoch
        x, wanted = mix(
            *(x, labels, classes, recipe.mixed_share, recipe.label_smoothing)
        )
        with _in_bfloat16(recipe.fast):
            logits = compiled(x)
        return F.cross_entropy(logits.float(), wanted)

    _run(
        network,
        nn.Module(),
        recipe.teacher_schedule(),
        copies,
        loss,
        judge,
        recipe.seed,
        work / "teacher.checkpoint",
        "teacher",
    )
    return network


def train_keywords(
    recipe: KeywordRecipe,
    copies: Copies,
    classes: int,
    judge: Judge,
    work: Path,
    teacher: TeacherNetwork | None = None,
) -> QuantEncoder:
    """Trains the encoder; returns the integer one, calibrated. Its float_encoder is the
    float twin, the same parameters in real numbers. The teacher hears what the encoder
    hears, distorted and mixed, and says what it takes it for."""
    torch.manual_seed(recipe.seed)
    network = FloatEncoder(
        recipe.config(classes), recipe.dropout, input_scale=recipe.input_scale
    )
    quantised = QuantEncoder(network)
    rng = np.random.default_rng(recipe.seed)
    chosen = rng.permutation(len(copies.labels))[:CALIBRATION_CLIPS]
    calibration = [
        audio_batch(
            torch.from_numpy(copies.middle(0, part).astype(np.float32)), recipe.audio
        )
        for part in np.array_split(chosen, math.ceil(len(chosen) / EVALUATION_BATCH))
    ]
    heat = recipe.temperature
    calibrated_for = -1
    asked = torch.compile(teacher) if recipe.fast and teacher is not None else teacher

    def loss(epoch: int, x: Tensor, labels: Tensor) -> Tensor:
        nonlocal calibrated_for
        in_integers = epoch >= recipe.epochs - recipe.integer_epochs
        if in_integers and calibrated_for != epoch:
            quantised.calibrate(calibration)
            calibrated_for = epoch
        # Integers only come from the device: what is mixed is rounded.
        x, wanted = mix(
            *(x, labels, classes, recipe.mixed_share, recipe.label_smoothing)
        )
        x = torch.round(x)
        logits = (quantised if in_integers else network)(audio_batch(x, recipe.audio))
        value = F.cross_entropy(logits, wanted)
        if asked is None:
            return value
        with torch.no_grad(), _in_bfloat16(recipe.fast):
            opinions = asked(x).float()
        # Hinton et al., arXiv 1503.02531.
        told = F.kl_div(
            F.log_softmax(logits / heat, 1),
            F.softmax(opinions / heat, 1),
            reduction="batchmean",
        )
        weight = recipe.teacher_weight
        return (1 - weight) * value + weight * heat * heat * told

    _run(
        network,
        quantised,
        recipe.schedule(),
        copies,
        loss,
        judge,
        recipe.seed,
        work / "encoder.checkpoint",
        "encoder",
    )
    quantised.calibrate(calibration)
    return quantised
