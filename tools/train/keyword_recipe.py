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
from tools.train.clip_augment import MARGIN, distort
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
    block_count: int = 4
    head_count: int = 4
    feed_forward_length: int = 160
    pooling: str = "mean"
    dropout: float = 0.0
    copies: int = 10
    # Of an epoch, relative to its clips of words: clips of other words, made silence,
    # made sounds that are no word.
    unknown_share: float = 0.33
    silence_share: float = 0.095
    made_share: float = 0.075
    teacher_epochs: int = 33
    teacher_channels: tuple[int, ...] = (32, 48, 48, 64, 64, 96, 96)
    epochs: int = 95
    integer_epochs: int = 4
    batch_size: int = 128
    learning_rate: float = 2e-3
    weight_decay: float = 0.05
    average_decay: float = 0.998
    label_smoothing: float = 0.05
    # Weight of the teacher's opinion; temperature at which it is told.
    teacher_weight: float = 0.7
    temperature: float = 2.0
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
            self.teacher_epochs, 4e-3, 0.02, self.average_decay, self.batch_size
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


class _Residual(nn.Module):
    """Two temporal convolutions and a way around them."""

    def __init__(self, inside: int, outside: int, width: int, stride: int) -> None:
        super().__init__()

        def convolution(a: int, b: int, size: int, step: int) -> nn.Sequential:
            return nn.Sequential(
                nn.Conv1d(a, b, size, step, padding=size // 2, bias=False),
                nn.BatchNorm1d(b),
            )

        self.first = convolution(inside, outside, width, stride)
        self.second = convolution(outside, outside, width, 1)
        same = stride == 1 and inside == outside
        self.around = nn.Identity() if same else convolution(inside, outside, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.second(F.relu(self.first(x))) + self.around(x))


class TeacherNetwork(nn.Module):
    """Temporal convolutions over mel bins as channels: TC-ResNet (Choi et al., arXiv
    1904.03814)."""

    def __init__(
        self, bins: int, channels: Sequence[int], classes: int, scale: float
    ) -> None:
        """scale: real value of one step of the int8 features."""
        super().__init__()
        self._scale = scale
        self.first = nn.Sequential(
            nn.Conv1d(bins, channels[0], 3, padding=1, bias=False),
            nn.BatchNorm1d(channels[0]),
            nn.ReLU(),
        )
        self.blocks = nn.Sequential(
            *(
                _Residual(a, b, 9, 1 + (i + 1) % 2)
                for i, (a, b) in enumerate(zip(channels, channels[1:]))
            )
        )
        self.head = nn.Linear(channels[-1], classes)

    def forward(self, x: Tensor) -> Tensor:
        """Features [B, frames, bins] -> logits [B, classes]."""
        y = self.blocks(self.first(x.transpose(1, 2) * self._scale))
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
    ) -> None:
        """labels [n] of the rows of every copy, of which the first `real` are clips;
        unknown, silence: the numbers of these labels, -1 if there is none."""
        self._recipe, self._copies, self.labels = recipe, copies, labels
        place = np.arange(len(labels))
        self._words = place[(labels != unknown) & (labels != silence)]
        self._others = [
            (place[(labels == unknown) & (place < real)], recipe.unknown_share),
            (place[labels == silence], recipe.silence_share),
            (place[(labels == unknown) & (place >= real)], recipe.made_share),
        ]
        self.opinions: list[FloatArray] = []

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
        for places, share in self._others:
            count = min(len(places), round(share * len(self._words)))
            chosen.append(rng.choice(places, count, replace=False))
        return rng.permutation(np.concatenate(chosen))

    def epoch(
        self, batch_size: int, rng: np.random.Generator
    ) -> Iterator[tuple[Tensor, Tensor, Tensor | None]]:
        """Batches of distorted features [B, frames, bins], labels [B], opinions."""
        order = self._order(rng)
        for at in range(0, len(order) - batch_size + 1, batch_size):
            places = order[at : at + batch_size]
            drawn = rng.integers(0, len(self._copies), batch_size)
            rows = np.stack([self._copies[c][i] for c, i in zip(drawn, places)])
            opinions = None
            if self.opinions:
                told = [self.opinions[c][i] for c, i in zip(drawn, places)]
                opinions = torch.from_numpy(np.stack(told))
            yield (
                torch.from_numpy(distort(rows, self._frames, rng)),
                torch.from_numpy(self.labels[places]),
                opinions,
            )


# --- Loops ------------------------------------------------------------------------

Loss = Callable[[int, Tensor, Tensor, "Tensor | None"], Tensor]
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
        bar.set_postfix_str(f"loss {total / steps:.3f} {judge(network)}")
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


def train_teacher(
    recipe: KeywordRecipe, copies: Copies, classes: int, judge: Judge, work: Path
) -> TeacherNetwork:
    """Trains the teacher, and lets it judge every copy (copies.opinions)."""
    torch.manual_seed(recipe.seed)
    network = TeacherNetwork(
        recipe.audio.bins, recipe.teacher_channels, classes, recipe.input_scale
    )

    def loss(epoch: int, x: Tensor, labels: Tensor, opinions: Tensor | None) -> Tensor:
        del epoch, opinions
        smoothing = recipe.label_smoothing
        return F.cross_entropy(network(x), labels, label_smoothing=smoothing)

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
) -> QuantEncoder:
    """Trains the encoder; returns the integer one, calibrated. Its float_encoder is the
    float twin, the same parameters in real numbers."""
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
    smoothing, heat = recipe.label_smoothing, recipe.temperature
    calibrated_for = -1

    def loss(epoch: int, x: Tensor, labels: Tensor, opinions: Tensor | None) -> Tensor:
        nonlocal calibrated_for
        in_integers = epoch >= recipe.epochs - recipe.integer_epochs
        if in_integers and calibrated_for != epoch:
            quantised.calibrate(calibration)
            calibrated_for = epoch
        logits = (quantised if in_integers else network)(audio_batch(x, recipe.audio))
        value = F.cross_entropy(logits, labels, label_smoothing=smoothing)
        if opinions is None:
            return value
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
