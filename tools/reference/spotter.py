"""NumPy reference of docs/audio.md: looks at a stream and the events they make."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np
import numpy.typing as npt

from tools.reference import audio, ops
from tools.reference.encoder import Encoder
from tools.reference.model import Model

SCORE_ONE = 32768
DEFAULT_THRESHOLD = 24576
NEVER = 65535


@dataclass(frozen=True)
class Event:
    """A keyword in a stream; positions in samples."""

    word: int
    score: int
    start: int
    end: int
    detected: int


@dataclass(frozen=True)
class SpotterParams:
    """Keys atto.audio.spot.*."""

    hop: int = 5
    smoothing: int = 3
    looks: int = 4
    votes: int = 2
    refractory: int = 750
    thresholds: tuple[int, ...] = ()

    @classmethod
    def of_model(cls, keys: dict[str, Any]) -> SpotterParams:
        """From the keys of a model file; what is not there has its default."""
        prefix = "atto.audio.spot."
        found = {
            name.removeprefix(prefix): value
            for name, value in keys.items()
            if name.startswith(prefix)
        }
        thresholds = [
            NEVER if label in ("unknown", "silence") else DEFAULT_THRESHOLD
            for label in keys["atto.labels"]
        ]
        thresholds = [int(t) for t in found.pop("thresholds", thresholds)]
        numbers = {name: int(value) for name, value in found.items()}
        return cls(**numbers, thresholds=tuple(thresholds))


class EventDetector:
    """Scores of looks -> events."""

    def __init__(self, params: SpotterParams, sample_rate: int) -> None:
        self._params = params
        self._refractory = params.refractory * sample_rate // 1000
        self._history: deque[npt.NDArray[np.int64]] = deque(maxlen=params.smoothing)
        self._votes: deque[tuple[int, int]] = deque(maxlen=params.looks)
        self._silent_until = 0
        self.smoothed = np.zeros(0, np.int64)

    def look(self, scores: npt.ArrayLike, start: int, end: int) -> Event | None:
        """The scores of a look at the samples start..end."""
        self._history.append(np.asarray(scores).astype(np.int64))
        self.smoothed = sum(self._history) // len(self._history)
        best = int(np.argmax(self.smoothed))
        score = int(self.smoothed[best])
        votes = end >= self._silent_until and score >= self._params.thresholds[best]
        self._votes.append((best if votes else -1, end))
        if not votes:
            return None
        ends = [e for word, e in self._votes if word == best]
        if len(ends) < self._params.votes:
            return None
        self._votes.clear()
        self._silent_until = end + self._refractory
        return Event(best, score, start, min(ends) if min(ends) > start else end, end)


class Spotter:
    """A whole stream at once."""

    def __init__(self, model: Model, hop: int = 0) -> None:
        self._encoder = Encoder(model)
        self._front_end = audio.FrontEnd.of_model(model.keys, model.tensors)
        self._params = SpotterParams.of_model(model.keys)
        self._hop = hop or self._params.hop
        self._rate = int(model.keys["atto.audio.sample_rate"])
        pooled_by_class = model.keys["atto.pooling"] == "class"
        self._rows = self._encoder.context_length - pooled_by_class
        length, step = self._front_end.window.size, self._front_end.hop_length
        count, stride = self._front_end.patch_frames, self._front_end.patch_stride
        self._stride = stride * step
        self.window = ((self._rows - 1) * stride + count - 1) * step + length

    def clip_logits(self, pcm: npt.ArrayLike) -> ops.IntArray:
        """A clip of at least one sample, cut or followed by silence -> logits [c]."""
        samples = np.asarray(pcm, np.int64)[: self.window]
        padded = np.pad(samples, (0, self.window - samples.size))
        frames = audio.features(self._front_end, padded)
        return self._encoder.logits_of_rows(audio.rows(self._front_end, frames))

    def looks(self, pcm: npt.ArrayLike) -> list[tuple[int, int, ops.IntArray]]:
        """(start, end, logits) of every look at a stream."""
        frames = audio.features(self._front_end, pcm)
        rows = audio.rows(self._front_end, frames)
        found = []
        for first in range(0, len(rows) - self._rows + 1, self._hop):
            logits = self._encoder.logits_of_rows(rows[first : first + self._rows])
            start = first * self._stride
            found.append((start, start + self.window, logits))
        return found

    def events(self, pcm: npt.ArrayLike) -> list[Event]:
        """The events of a stream."""
        detector = EventDetector(self._params, self._rate)
        found: Sequence[Event | None] = [
            detector.look(ops.scores(logits), start, end)
            for start, end, logits in self.looks(pcm)
        ]
        return [event for event in found if event is not None]
