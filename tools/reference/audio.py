"""NumPy reference of docs/audio.md: the front end, written from that page alone.

Everything is computed in int64 and the bounds that the page states are checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tools.reference import ops

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class FrontEnd:
    """Keys and tensors of a model file, without their prefix."""

    window: IntArray
    mel_filters: IntArray
    mel_weights: IntArray
    hop_length: int
    fft_length: int
    log_multiplier: int
    log_offset: int
    patch_frames: int = 1
    patch_stride: int = 1

    @classmethod
    def of_model(cls, keys: dict[str, Any], tensors: dict[str, Any]) -> FrontEnd:
        """From the keys and tensors of a model file."""

        def key(name: str) -> int:
            return int(keys[f"atto.audio.{name}"])

        def tensor(name: str) -> IntArray:
            return np.asarray(tensors[f"audio.{name}"]).astype(np.int64)

        return cls(
            tensor("window"),
            tensor("mel_filters"),
            tensor("mel_weights"),
            key("hop_length"),
            key("fft_length"),
            key("log_multiplier"),
            key("log_offset"),
            key("patch_frames"),
            key("patch_stride"),
        )


def mul_w(x: IntArray, w: IntArray) -> IntArray:
    """floor(x w / 2^16): x int32, w int16."""
    ops.check_bound(x, -(1 << 31), (1 << 31) - 1, "mul_w x")
    return (x * w) >> 16


def twiddles(angles: npt.NDArray[np.float64]) -> tuple[IntArray, IntArray]:
    """(-cos, -sin) with 15 fraction bits."""

    def q15(x: npt.NDArray[np.float64]) -> IntArray:
        return np.minimum(np.rint(-32768 * x), 32767).astype(np.int64)

    return q15(np.cos(angles)), q15(np.sin(angles))


def _negated_half_product(
    re: IntArray, im: IntArray, c: IntArray, s: IntArray
) -> tuple[IntArray, IntArray]:
    return mul_w(re, c) + mul_w(im, s), mul_w(im, c) - mul_w(re, s)


def fft(re: IntArray, im: IntArray) -> tuple[IntArray, IntArray]:
    """Complex FFT of the last axis, divided by its length."""
    points = re.shape[-1]
    bits = points.bit_length() - 1
    order = [int(f"{n:0{bits}b}"[::-1], 2) if bits else 0 for n in range(points)]
    re, im = re[..., order], im[..., order]
    half = 1
    while half < points:
        c, s = twiddles(np.pi * np.arange(half) / half)
        shape = (*re.shape[:-1], points // (2 * half), 2, half)
        pair_re, pair_im = re.reshape(shape), im.reshape(shape)
        t_re, t_im = _negated_half_product(pair_re[..., 1, :], pair_im[..., 1, :], c, s)
        a_re, a_im = pair_re[..., 0, :] >> 1, pair_im[..., 0, :] >> 1
        re = np.stack([a_re - t_re, a_re + t_re], -2).reshape(re.shape)
        im = np.stack([a_im - t_im, a_im + t_im], -2).reshape(im.shape)
        half *= 2
    return re, im


def spectrum(y: IntArray) -> tuple[IntArray, IntArray]:
    """Real windowed samples [.., N] -> bins [.., N / 2] of their FFT / N; bin 0 is 0."""
    points = y.shape[-1] // 2
    z_re, z_im = fft(y[..., 0::2], y[..., 1::2])
    k = np.arange(1, points // 2 + 1)
    a_re, a_im = z_re[..., k] >> 1, z_im[..., k] >> 1
    b_re, b_im = z_re[..., points - k] >> 1, z_im[..., points - k] >> 1
    even_re, even_im = a_re + b_re, a_im - b_im
    odd_re, odd_im = a_re - b_re, a_im + b_im
    c, s = twiddles(np.pi * k / points)
    t_re, t_im = _negated_half_product(odd_re, odd_im, c, s)
    re, im = np.zeros_like(z_re), np.zeros_like(z_im)
    re[..., points - k], im[..., points - k] = (
        (even_re >> 1) + t_im,
        t_re - (even_im >> 1),
    )
    re[..., k], im[..., k] = (even_re >> 1) - t_im, (even_im >> 1) + t_re
    for part in (re, im):
        ops.check_bound(part, -(1 << 31) + 1, (1 << 31) - 1, "spectrum")
    return re, im


def log2_q15(x: npt.ArrayLike) -> IntArray:
    """log2 of 0 < x < 2^63 with 15 fraction bits."""
    values = np.asarray(x, np.int64)
    exponent = np.array([int(v).bit_length() - 1 for v in values.ravel()], np.int64)
    exponent = exponent.reshape(values.shape)
    up, down = np.maximum(15 - exponent, 0), np.maximum(exponent - 15, 0)
    f = ((values >> down) << up) & 0x7FFF
    u = (f * (32768 - f)) >> 15
    h = ops.rdh16(f, ops.rdh16(f, 2691) - 7833) + 14376
    return (exponent << 15) + f + ops.rdh16(u, h)


def log_energies(front_end: FrontEnd, pcm: npt.ArrayLike) -> tuple[IntArray, IntArray]:
    """Frames [.., frame_length] int16 -> log2 of the filters' energies with 15 fraction
    bits, and where they are not zero [.., bins]."""
    frames = ops.check_bound(np.asarray(pcm).astype(np.int64), -32768, 32767, "pcm")
    length = front_end.window.size
    y = np.zeros((*frames.shape[:-1], front_end.fft_length), np.int64)
    y[..., :length] = frames * front_end.window
    re, im = spectrum(y)
    largest = np.maximum(np.abs(re), np.abs(im)).max(axis=-1)
    shift = np.maximum(0, 2 * ops.bit_length(largest) - 31)
    power = (re * re + im * im) >> shift[..., None]
    ops.check_bound(power, 0, (1 << 32) - 1, "power")
    energies = np.empty((*frames.shape[:-1], len(front_end.mel_filters)), np.int64)
    at = 0
    for i, (first, count) in enumerate(front_end.mel_filters):
        weights = front_end.mel_weights[at : at + count]
        energies[..., i] = power[..., first : first + count] @ weights
        at += count
    log2 = log2_q15(np.maximum(energies, 1)) + (shift[..., None] << 15)
    return log2, energies != 0


def log_mel(front_end: FrontEnd, pcm: npt.ArrayLike) -> IntArray:
    """Frames [.., frame_length] int16 -> features [.., bins] int8."""
    log2, sounds = log_energies(front_end, pcm)
    u = ops.sat16((log2 - front_end.log_offset + 32) >> 6)
    scaled = ops.clamp127(ops.rdh16(u, front_end.log_multiplier))
    return np.where(sounds, scaled, -127)


def features(front_end: FrontEnd, pcm: npt.ArrayLike) -> IntArray:
    """A clip [samples] int16 -> features of its frames [frames, bins]."""
    samples = np.asarray(pcm)
    length = front_end.window.size
    if samples.size < length:
        return np.zeros((0, len(front_end.mel_filters)), np.int64)
    view = np.lib.stride_tricks.sliding_window_view(samples, length)
    return log_mel(front_end, view[:: front_end.hop_length])


def rows(front_end: FrontEnd, frames: npt.ArrayLike) -> IntArray:
    """Features [frames, bins] -> rows of the encoder [n, patch_frames * bins]."""
    array = np.asarray(frames)
    count, stride = front_end.patch_frames, front_end.patch_stride
    starts = range(0, len(array) - count + 1, stride)
    if not len(starts):
        return np.zeros((0, count * array.shape[1]), np.int64)
    return np.stack([array[t : t + count].ravel() for t in starts])
