"""Augmented copies of clips, as features of the device's own front end.

A copy holds every training clip once, its waveform changed (speed, level, noise, place
within the second), then made ones: stretches of noise for `silence`, and for `unknown`
sounds that are no word: reversed clips, joined halves, clips cut short, vowels that end
in the hiss of another word. The features of a copy have MARGIN frames on both sides of the second that a model looks at,
so that a shift in time is a matter of where to cut.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from tools.audio.device_audio import DeviceFrontEnd
from tools.train.clips import RATE, SILENCE, UNKNOWN, Clips, Pcm

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

MARGIN = 10
# Noise of training ends, and that of validation begins, at this share of a recording.
NOISE_FOR_TRAINING = 0.9
# The share of clips that get noise.
NOISY = 0.55
_CHUNK = 64


def _rms(x: FloatArray) -> float:
    return float(np.sqrt(np.mean(x * x))) + 1e-3


class NoiseMaker:
    """Pieces of recorded and of made noise, as float32 in int16 units."""

    def __init__(self, recordings: Sequence[Pcm], length: int) -> None:
        """length: samples of a piece."""
        self._recordings = [samples.astype(np.float32) for samples in recordings]
        self._length = length

    def piece(self, rng: np.random.Generator) -> FloatArray:
        """Some noise; a quarter of it is made: of random colour, of random band."""
        if not self._recordings or rng.random() < 0.25:
            return self._coloured(rng)
        samples = self._recordings[rng.integers(len(self._recordings))]
        end = int(NOISE_FOR_TRAINING * len(samples)) - self._length
        start = int(rng.integers(0, max(end, 1)))
        return samples[start : start + self._length].copy()

    def _coloured(self, rng: np.random.Generator) -> FloatArray:
        spectrum = np.fft.rfft(rng.standard_normal(self._length))
        frequency = np.maximum(np.arange(len(spectrum)) / len(spectrum), 1e-3)
        spectrum *= frequency ** -rng.uniform(0, 1.2)
        if rng.random() < 0.5:
            octaves = np.log(frequency) - rng.uniform(-3.5, 0)
            spectrum *= np.exp(-0.5 * (octaves / rng.uniform(0.3, 1.5)) ** 2) + 0.02
        return np.fft.irfft(spectrum, self._length).astype(np.float32)

    def silence(self, rng: np.random.Generator) -> FloatArray:
        """What a microphone hears when nobody speaks, seldom nothing at all."""
        if rng.random() < 0.04:
            return np.zeros(self._length, np.float32)
        x = self.piece(rng)
        if rng.random() < 0.25:
            other = self.piece(rng)
            x = x / _rms(x) + other * (0.7 / _rms(other))
        if rng.random() < 0.5:
            return x * np.float32(rng.random())
        return x * np.float32(10 ** rng.uniform(0, 3.6) / _rms(x))


def held_out_silence(recordings: Sequence[Pcm], count: int, seed: int) -> Pcm:
    """Seconds of noise [count, RATE] from the part of the recordings that training never
    hears, every second one at a random level."""
    rng = np.random.default_rng(seed)
    pcm = np.zeros((count, RATE), np.int16)
    for i in range(count):
        samples = recordings[i % len(recordings)]
        start = int(NOISE_FOR_TRAINING * len(samples))
        start = min(start, len(samples) - RATE)
        start += int(rng.integers(0, max(len(samples) - RATE - start, 1)))
        level = rng.random() if i % 2 else 1.0
        pcm[i] = np.rint(samples[start : start + RATE] * level)
    return pcm


def _energy_centre(x: FloatArray) -> int:
    energy = x * x
    return int((np.arange(len(x)) * energy).sum() / (energy.sum() + 1))


_FRAME, _HOP = 320, 160  # samples: of the search for vowels and hisses


@dataclass(frozen=True)
class Sounds:
    """Where a clip has its loudest sound, and a hiss."""

    vowel_end: int  # samples
    hiss: tuple[int, int] | None  # samples, first and end
    loudest: float  # rms of the loudest frame


def find_sounds(x: FloatArray) -> Sounds:
    """The end of the sound about the loudest frame, and the longest hiss.

    A hiss has much of its energy in high frequencies, which the differences of
    neighbouring samples tell, is within 40 dB of the loudest frame and above the
    quietest, and lasts 50 ms.
    """
    count = max(1, (len(x) - _FRAME) // _HOP + 1)
    padded = np.pad(x, (0, max(0, _FRAME - len(x))))
    frames = np.lib.stride_tricks.sliding_window_view(padded, _FRAME)[::_HOP][:count]
    energy = np.einsum("ij,ij->i", frames, frames) / _FRAME + 1
    steps = np.diff(frames, axis=1)
    rough = np.einsum("ij,ij->i", steps, steps) / _FRAME / energy
    top = int(energy.argmax())
    below = np.flatnonzero(energy[top:] < energy[top] / 16)
    end = top + int(below[0]) if len(below) else count
    audible = max(energy[top] / 10000, 4 * float(np.quantile(energy, 0.1)))
    hissing = (rough > 0.5) & (energy > audible)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], hissing, [0]])))
    runs = edges.reshape(-1, 2)
    hiss = None
    if len(runs):
        first, last = runs[(runs[:, 1] - runs[:, 0]).argmax()]
        if last - first >= 4:
            hiss = (int(first) * _HOP, int(last) * _HOP + _FRAME - _HOP)
    return Sounds(end * _HOP, hiss, math.sqrt(float(energy[top])))


def join(one: FloatArray, other: FloatArray, fade: int = 128) -> FloatArray:
    """One sound after the other, faded into each other over so many samples."""
    fade = min(fade, len(one), len(other))
    if fade == 0:
        return np.concatenate([one, other])
    rising = np.linspace(0, 1, fade, dtype=np.float32)
    middle = one[len(one) - fade :] * (1 - rising) + other[:fade] * rising
    return np.concatenate([one[: len(one) - fade], middle, other[fade:]])


@dataclass(frozen=True)
class MadeCounts:
    """How many made clips follow the real ones in a copy."""

    silence: int
    unknown: int


class CopyMaker:
    """Renders augmented copies of clips."""

    def __init__(
        self,
        front_end: DeviceFrontEnd,
        clips: Clips,
        spoken: IntArray,
        recordings: Sequence[Pcm],
        made: MadeCounts,
        seed: int,
    ) -> None:
        """spoken: places of the clips of the words that the model is to hear. The rest
        are other words."""
        self._front_end, self._clips = front_end, clips
        self._is_spoken = np.isin(np.arange(len(clips.words)), spoken)
        self._spoken = self._by_word(self._is_spoken)
        self._others = self._by_word(~self._is_spoken) or self._spoken
        self._made, self._seed = made, seed
        self._margin = MARGIN * front_end.params.hop_length
        self._length = RATE + 2 * self._margin
        self._noise = NoiseMaker(recordings, self._length)

    def labels(self, numbers: IntArray, labels: Sequence[str]) -> IntArray:
        """Labels of a copy's rows, given those of the clips."""
        made = (
            [labels.index(SILENCE)] * self._made.silence if self._made.silence else []
        )
        made += (
            [labels.index(UNKNOWN)] * self._made.unknown if self._made.unknown else []
        )
        return np.concatenate([numbers, np.array(made, np.int64)])

    def render(self, copy: int, path: Path) -> npt.NDArray[np.int8]:
        """Features [clips and made ones, frames + 2 MARGIN, bins] of a copy; from path
        if they are there. The same seed and copy give the same bytes."""
        if not path.is_file():
            part = path.with_suffix(".part.npy")
            np.save(part, self._features(copy))
            part.rename(path)
        return np.load(path)

    def _features(self, copy: int) -> npt.NDArray[np.int8]:
        rng = np.random.default_rng([self._seed, copy])
        real = len(self._clips.words)
        total = real + self._made.silence + self._made.unknown
        params = self._front_end.params
        shape = (total, params.frames(self._length), params.bins)
        features = np.empty(shape, np.int8)
        bar = tqdm(
            total=total, desc=f"features, copy {copy}", unit="clip", disable=None
        )
        for start in range(0, total, _CHUNK):
            end = min(start + _CHUNK, total)
            waves = [self._wave(i, real, rng) for i in range(start, end)]
            pcm = np.clip(np.rint(np.stack(waves)), -32768, 32767).astype(np.int16)
            features[start:end] = self._front_end.features(pcm)
            bar.update(end - start)
        bar.close()
        return features

    def _by_word(self, chosen: npt.NDArray[np.bool_]) -> list[IntArray]:
        """Places of the chosen clips, an array a word."""
        words = np.array(self._clips.words)
        return [
            np.flatnonzero(chosen & (words == word))
            for word in np.unique(words[chosen])
        ]

    def _draw(self, words: list[IntArray], rng: np.random.Generator) -> FloatArray:
        """A clip of any of the words: rare words as often as others."""
        return self._clip(int(rng.choice(words[rng.integers(len(words))])))

    def _wave(self, i: int, real: int, rng: np.random.Generator) -> FloatArray:
        if i < real:
            speed = 1.0
            if rng.random() >= 0.25:
                # Other words stay others at any speed; fast and slow, they are many.
                limits = (0.87, 1.15) if self._is_spoken[i] else (0.75, 1.3)
                speed = rng.uniform(*limits)
            return self._spoil(self._place(self._clip(i), rng, speed), rng)
        if i < real + self._made.silence:
            return self._noise.silence(rng)
        return self._made_wave(rng)

    def _made_wave(self, rng: np.random.Generator) -> FloatArray:
        made = self._no_word(rng)
        return self._spoil(self._place(made, rng, rng.uniform(0.87, 1.15)), rng)

    def made_unknown(self) -> npt.NDArray[np.int8]:
        """Features [made.unknown, frames, bins] of sounds that are no word, alone."""
        rng = np.random.default_rng(self._seed)
        waves = [self._made_wave(rng) for _ in range(self._made.unknown)]
        pcm = np.clip(np.rint(np.stack(waves)), -32768, 32767).astype(np.int16)
        return self._front_end.features(pcm[:, self._margin : -self._margin])

    def _clip(self, i: int) -> FloatArray:
        return self._clips.pcm[i, : self._clips.lengths[i]].astype(np.float32)

    def _place(
        self, clip: FloatArray, rng: np.random.Generator, speed: float
    ) -> FloatArray:
        """The clip at the given speed somewhere in the second, in zeros."""
        if speed != 1.0:
            at = np.arange(round(len(clip) / speed)) * speed
            clip = np.interp(at, np.arange(len(clip)), clip).astype(np.float32)
        free = RATE - len(clip)
        start = self._margin
        start += int(rng.integers(0, free + 1)) if free > 0 else free // 2
        placed = np.zeros(self._length, np.float32)
        first, end = max(0, -start), min(len(clip), self._length - start)
        placed[start + first : start + end] = clip[first:end]
        return placed

    def _spoil(self, x: FloatArray, rng: np.random.Generator) -> FloatArray:
        """x with noise, most of the time, and at another level."""
        gain = 10 ** (rng.uniform(-14, 6) / 20)
        if rng.random() < NOISY:
            noise = self._noise.piece(rng)
            level = _rms(x[self._margin : -self._margin]) / _rms(noise)
            x = x + noise * np.float32(level * 10 ** (-rng.uniform(0, 30) / 20))
        return x * np.float32(gain)

    def _no_word(self, rng: np.random.Generator) -> FloatArray:
        """A sound that is no word, made of clips: see _KINDS."""
        kind = rng.choice(len(_KINDS), p=_KINDS)
        one = self._draw(self._spoken, rng)
        if kind == 0:  # reversed
            return one[::-1]
        centre = _energy_centre(one)
        if kind == 1:  # cut short
            if rng.random() < 0.5:
                return one[: int(centre * rng.uniform(0.7, 0.9))]
            return one[centre + (len(one) - centre) // 4 :]
        if kind == 2:  # an end and a beginning
            other = self._draw(self._spoken, rng)
            return join(one[centre:], other[: _energy_centre(other)])[:RATE]
        other = self._draw(self._others, rng)
        if kind == 5:  # a vowel that ends in a hiss
            return self._hissed(one if rng.random() < 0.75 else other, rng)
        other *= np.float32(_rms(one) / _rms(other))
        cut, start = centre, _energy_centre(other)
        if kind == 3:  # a word begun, another one ended
            return join(one[:cut], other[start:])[:RATE]
        return join(other[:start], one[cut:])[:RATE]

    def _hissed(self, one: FloatArray, rng: np.random.Generator) -> FloatArray:
        """The clip as far as its vowel, then the hiss of another one."""
        found = find_sounds(one)
        for _ in range(20):
            words = self._spoken if rng.random() < 0.4 else self._others
            other = self._draw(words, rng)
            sounds = find_sounds(other)
            if sounds.hiss is not None:
                first, end = sounds.hiss
                gain = found.loudest / sounds.loudest * 10 ** (rng.uniform(-6, 6) / 20)
                hiss = other[
                    first : min(end, first + int(rng.uniform(0.1, 0.3) * RATE))
                ]
                return join(one[: found.vowel_end], hiss * np.float32(gain))[:RATE]
        return one[::-1]


# Shares of the sounds that are no word: reversed, cut short, an end and a beginning, a
# word begun and another ended, the same the other way round, a vowel with a hiss.
_KINDS = (0.12, 0.14, 0.12, 0.2, 0.14, 0.28)


def slide(
    features: npt.NDArray[np.int8], rng: np.random.Generator
) -> npt.NDArray[np.int8]:
    """Features [frames, bins] of a clip 100 to 350 ms earlier or later; what is missing
    is made of its quietest frames."""
    frames = len(features)
    by = int(rng.integers(10, 36)) * (1 if rng.random() < 0.5 else -1)
    quiet = np.argsort(features.mean(1))[: max(1, frames // 8)]
    slid = features[rng.choice(quiet, frames)]
    if by > 0:
        slid[by:] = features[:-by]
    else:
        slid[:by] = features[-by:]
    return slid


def distort(
    features: npt.NDArray[np.int8],
    frames: int,
    rng: np.random.Generator,
    band: int = 5,
    stretch: int = 12,
) -> FloatArray:
    """Features [n, frames + 2 MARGIN, bins] of a copy -> [n, frames, bins]: shifted in
    time, at another level, tilted in frequency, and with two bands of up to `band` bins
    and two stretches of up to `stretch` frames blanked (SpecAugment, Park et al., arXiv
    1904.08779)."""
    count, _, bins = features.shape
    starts = rng.integers(0, 2 * MARGIN + 1, count)
    x = np.stack([one[at : at + frames] for one, at in zip(features, starts)])
    y = x.astype(np.float32)
    tilt = rng.uniform(-16, 16, (count, 1, 1)) * np.linspace(-0.5, 0.5, bins)
    tilt = tilt + rng.uniform(-8, 8, (count, 1, 1))
    y = np.clip(y + np.rint(tilt).astype(np.float32), -127, 127)
    for one, level in zip(y, np.rint(y.mean((1, 2)))):
        for _ in range(2):
            wide = int(rng.integers(0, min(band, bins) + 1))
            at = int(rng.integers(0, bins - wide + 1))
            one[:, at : at + wide] = level
            long = int(rng.integers(0, min(stretch, frames) + 1))
            at = int(rng.integers(0, frames - long + 1))
            one[at : at + long] = level
    return y
