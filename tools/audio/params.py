"""Parameters of the audio front end and the tables made from them. docs/audio.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

KEY_PREFIX = "atto.audio."
VERSION = 1
MIN_FFT, MAX_FFT = 32, 512
MAX_BINS = 128
MAX_INPUT = 512

Int16Array = npt.NDArray[np.int16]
Int8Array = npt.NDArray[np.int8]


@dataclass(frozen=True)
class AudioParams:
    """Parameters of the front end: what stands in a model file, and what its tables
    are made from."""

    sample_rate: int = 16000
    frame_length: int = 480
    hop_length: int = 160
    fft_length: int = 512
    bins: int = 40
    patch_frames: int = 4
    patch_stride: int = 2
    # int8 = (log2 of the filter's energy - log_offset / 2^15) * log_multiplier / 64
    log_multiplier: int = 512
    log_offset: int = 52 << 15
    low_hz: float = 20.0
    high_hz: float = 7600.0

    @property
    def decibels_per_step(self) -> float:
        """What one step of an int8 feature means."""
        return 10 * math.log10(2) * 64 / self.log_multiplier

    @property
    def input_length(self) -> int:
        """Width of a row that enters the encoder, atto.input_length."""
        return self.patch_frames * self.bins

    def frames(self, samples: int) -> int:
        """Frames of a clip."""
        if samples < self.frame_length:
            return 0
        return 1 + (samples - self.frame_length) // self.hop_length

    def rows(self, samples: int) -> int:
        """Rows (tokens without the class token) of a clip."""
        frames = self.frames(samples)
        if frames < self.patch_frames:
            return 0
        return 1 + (frames - self.patch_frames) // self.patch_stride

    def samples(self, rows: int) -> int:
        """Samples that give so many rows, rows >= 1."""
        frames = (rows - 1) * self.patch_stride + self.patch_frames
        return (frames - 1) * self.hop_length + self.frame_length

    def metadata(self) -> dict[str, np.uint32]:
        """The keys of a model file."""
        names = (
            *("sample_rate", "frame_length", "hop_length", "fft_length", "bins"),
            *("patch_frames", "patch_stride", "log_multiplier", "log_offset"),
        )
        keys = {name: getattr(self, name) for name in names}
        return {
            KEY_PREFIX + name: np.uint32(value)
            for name, value in {"version": VERSION, **keys}.items()
        }

    def tensors(self) -> dict[str, Int16Array]:
        """The tensors of a model file."""
        filters, weights = mel_filters(self)
        return {
            "audio.window": hann_window(self.frame_length),
            "audio.mel_filters": filters,
            "audio.mel_weights": weights,
        }


def hann_window(length: int) -> Int16Array:
    """A periodic Hann window with 15 fraction bits."""
    phase = 2 * np.pi * np.arange(length) / length
    window = np.rint(32768 * (0.5 - 0.5 * np.cos(phase)))
    return np.minimum(window, 32767).astype(np.int16)


def hz_to_mel(hz: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """The mel scale of HTK: 2595 log10(1 + f / 700)."""
    return 2595.0 * np.log10(1.0 + np.asarray(hz, np.float64) / 700.0)


def mel_to_hz(mel: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Inverse of hz_to_mel."""
    return 700.0 * (10.0 ** (np.asarray(mel, np.float64) / 2595.0) - 1.0)


def mel_matrix(params: AudioParams) -> npt.NDArray[np.float64]:
    """Triangular filters [bins, fft_length / 2 + 1], evenly spaced in mel, straight in
    Hz, 1 at their peak: torchaudio's melscale_fbanks(norm=None, mel_scale="htk")."""
    low, high = hz_to_mel([params.low_hz, params.high_hz])
    corners = mel_to_hz(np.linspace(low, high, params.bins + 2))[:, None]
    hz = np.arange(params.fft_length // 2 + 1) * params.sample_rate / params.fft_length
    rising = (hz - corners[:-2]) / (corners[1:-1] - corners[:-2])
    falling = (corners[2:] - hz) / (corners[2:] - corners[1:-1])
    return np.maximum(0.0, np.minimum(rising, falling))


def mel_filters(params: AudioParams) -> tuple[Int16Array, Int16Array]:
    """The sparse form of a model file: [bins, 2] first FFT bin and number of FFT bins,
    and all weights with 15 fraction bits one after the other.

    Raises ValueError for a filter in which no FFT bin lies.
    """
    matrix = np.minimum(np.rint(32768 * mel_matrix(params)), 32767).astype(np.int16)
    # The front end computes neither the constant nor the highest bin.
    matrix[:, [0, -1]] = 0
    filters, weights = [], []
    for i, row in enumerate(matrix):
        inside = np.flatnonzero(row)
        if inside.size == 0:
            raise ValueError(f"no FFT bin lies in mel filter {i}: take fewer bins")
        first, end = int(inside[0]), int(inside[-1]) + 1
        filters.append((first, end - first))
        weights.append(row[first:end])
    return np.array(filters, np.int16), np.concatenate(weights)


def patches(features: npt.NDArray[Any], params: AudioParams) -> npt.NDArray[Any]:
    """Frames [.., frames, bins] -> rows [.., n, patch_frames * bins] of the encoder;
    the frames of a row stand one after the other. Frames that fill no row are left."""
    count, stride = params.patch_frames, params.patch_stride
    view = np.lib.stride_tricks.sliding_window_view(features, count, axis=-2)
    view = np.moveaxis(view[..., ::stride, :, :], -1, -2)
    return view.reshape(*view.shape[:-2], count * features.shape[-1])


def check_params(params: AudioParams) -> None:
    """Raises ValueError for parameters that no model file may have."""

    def within(name: str, low: int, high: int) -> None:
        value = getattr(params, name)
        if not low <= value <= high:
            raise ValueError(f"{name}: found {value}, legal is {low}..{high}")

    within("fft_length", MIN_FFT, MAX_FFT)
    if params.fft_length & (params.fft_length - 1):
        raise ValueError(f"fft_length: found {params.fft_length}, no power of two")
    within("frame_length", 1, params.fft_length)
    within("hop_length", 1, params.frame_length)
    within("bins", 1, MAX_BINS)
    within("patch_frames", 1, MAX_INPUT)
    within("patch_stride", 1, params.patch_frames)
    within("input_length", 1, MAX_INPUT)
    within("log_multiplier", 1, 32767)
    within("log_offset", 0, (1 << 22) - 1)
    if not 0 <= params.low_hz < params.high_hz <= params.sample_rate / 2:
        raise ValueError("low_hz and high_hz must ascend up to half the sample rate")
