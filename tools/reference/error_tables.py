#!/usr/bin/env python3
"""Prints docs/error_tables.md: the error of every integer operation.

Compared with double arithmetic on the same inputs; exhaustive where the inputs are few
enough, otherwise random with fixed seeds.

    build/venv/bin/python tools/reference/error_tables.py > docs/error_tables.md
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import Iterator

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.audio.params import AudioParams, mel_matrix  # noqa: E402
from tools.reference import audio, ops, scales  # noqa: E402

FloatArray = npt.NDArray[np.float64]
Row = tuple[str, str, str, str, str]

HEADER = """# Error of the integer operations

Every operation of `docs/quantization.md` in the NumPy reference (`tools/reference`) against double arithmetic on the same integer inputs. LSB is one unit of
the result; rounding to it alone costs up to 0.5 and an rms of 0.29. All inputs where the domain is small, else random ones with a fixed seed. Made by

    build/venv/bin/python tools/reference/error_tables.py > docs/error_tables.md
"""

FOOTER = """
The largest errors are those of softmax over hundreds of keys when one key stands out: keys with less than 1/254 of its weight count as zero, and what
hundreds of them would have added is missing: the table is of random scores, the worst legal case is one key above 511 equal ones just below 1/254, whose sum of 0.67 is lost. Training computes the same integers, so a trained model has learnt with it."""


def gelu(x: FloatArray) -> FloatArray:
    """x Phi(x)."""
    phi = [0.5 * math.erfc(-value / math.sqrt(2)) for value in x.ravel()]
    return x * np.array(phi).reshape(x.shape)


def softmax(x: FloatArray) -> FloatArray:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _lsb(error: FloatArray) -> tuple[str, str]:
    rms = math.sqrt(float(np.mean(error**2)))
    return f"{np.abs(error).max():.3f} LSB", f"{rms:.3f} LSB"


def requantise_rows(rng: np.random.Generator) -> Iterator[Row]:
    for name, choose, low, high, target in (
        ("`MatmulS8`", scales.requant_to_int8, -127, 127, 40.0),
        ("`MatmulS16`", scales.requant_to_int16, -32768, 32767, 3000.0),
    ):
        spread = 32 if high == 127 else 8
        errors = []
        for inner in (16, 64, 256):
            acc_rms = 73.0 * 40.0 * math.sqrt(inner)
            factors = target / acc_rms * np.exp(rng.uniform(-math.log(spread), 0, 64))
            shift, m = choose(factors)
            exact_factors = m * 2.0 ** -(shift + 15)
            acc = np.rint(rng.normal(0, acc_rms, (4000, 64))).astype(np.int64)
            y = ops.requant16(acc + scales.rounding_term(shift), shift, m)
            wanted = np.clip(acc * exact_factors, low, high)
            errors.append(np.clip(y, low, high) - wanted)
        worst, rms = _lsb(np.concatenate(errors))
        inputs = f"random, channel scales up to {spread} apart"
        yield name, inputs, worst, rms, "two roundings"


def embedding_rows(rng: np.random.Generator) -> Iterator[Row]:
    acc = np.arange(-32385, 32386)
    errors = []
    for m in rng.integers(1, 32768, 60):
        inside = acc[np.abs(acc) * int(m) <= 127 * 32768]
        errors.append(ops.rdh16(inside, int(m)) - inside * int(m) / 32768)
    worst, rms = _lsb(np.concatenate(errors))
    yield "embedding sum", "all sums that do not clip, 60 multipliers", worst, rms, ""


def _norm_rows(
    rng: np.random.Generator, d: int, kind: str, count: int
) -> npt.NDArray[np.int64]:
    x = rng.normal(0, 1, (count, d))
    if kind == "one outlier":
        x[:, 0] *= 30
    magnitude = 10.0 ** rng.uniform(1.0, 3.9, (count, 1))
    if kind == "tiny":
        magnitude = 10.0 ** rng.uniform(0.0, 0.7, (count, 1))
    if kind == "large mean":
        x += rng.normal(0, 20, (count, 1))
        magnitude = 10.0 ** rng.uniform(1.0, 2.6, (count, 1))
    return np.clip(np.rint(x * magnitude), -32768, 32767).astype(np.int64)


def layernorm_rows(rng: np.random.Generator) -> Iterator[Row]:
    for kind in ("usual", "tiny", "large mean", "one outlier"):
        for d in (8, 64, 512):
            x = _norm_rows(rng, d, kind, 2000)
            mean = x.mean(axis=1, keepdims=True)
            std = np.sqrt(((x - mean) ** 2).mean(axis=1, keepdims=True))
            x, mean, std = x[std[:, 0] > 0], mean[std[:, 0] > 0], std[std[:, 0] > 0]
            z = (x - mean) / std
            worst, rms = _lsb(ops.standardise(x) - z * 512)
            yield f"LayerNorm z, d = {d}", f"{kind} rows", worst, rms, "LSB 2^-9"
            # The int8 result holds 4 standard deviations.
            scale = 4 / 127
            shift = scales.norm_shift(scale, 1.0)
            unit = scale * 2.0**-shift
            gain = np.full(d, round(64 / unit))
            bias = np.rint(rng.normal(0, 0.3, d) / unit).astype(np.int64)
            y = ops.layernorm_s8(x, gain, bias, shift)
            wanted = np.clip((z + bias * unit) / scale, -127, 127)
            worst, rms = _lsb(y - wanted)
            yield f"`LayerNormS8`, d = {d}", f"{kind} rows", worst, rms, "LSB 1/32 std"


def gelu_rows() -> Iterator[Row]:
    q = np.arange(-127, 128)
    for k in range(3, 7):
        wanted = gelu(q * 2.0**-k)
        error = ops.gelu_s8(q, k) - wanted * 2.0**k
        worst, rms = _lsb(error)
        note = f"{np.abs(error).max() * 2.0**-k:.4f} absolute"
        yield f"GELU, k = {k}", "all 255", worst, rms, note


def weights(distance: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Softmax weights e of keys at these distances from the largest, 2 x = distance."""
    rows = np.stack([np.zeros_like(distance), -distance], axis=1)
    return ops.softmax_s8(rows, 0, 16384)[:, 1]


def exp_rows() -> Iterator[Row]:
    f = np.arange(2048)
    wanted = 32512 * 2.0 ** (-f / 2048)
    error = (ops.exp2m(f) - wanted) / wanted
    worst = f"{np.abs(error).max() * 100:.2f} %"
    rms = f"{math.sqrt(float(np.mean(error**2))) * 100:.2f} %"
    yield "`exp2m`", "all 2,048", worst, rms, "relative"
    x = np.arange(16385)
    worst, rms = _lsb(weights(2 * x) - 127 * 2.0 ** (-x / 2048))
    yield "softmax weight e", "all distances", worst, rms, "127 is the largest key"


def softmax_rows(rng: np.random.Generator) -> Iterator[Row]:
    for n in (8, 64, 512):
        for std in (0.5, 2.0, 5.0):
            # Scores in units of 1/2000 nat, as int8 q and k would give them.
            acc = np.rint(rng.normal(0, std, (400, n)) * 2000).astype(np.int64)
            shift, m = scales.attention_score(1.4426950408889634 / 2000)
            e = ops.softmax_s8(acc, shift, m)
            p = e / e.sum(axis=1, keepdims=True)
            error = p - softmax(acc / 2000)
            worst = f"{np.abs(error).max():.5f}"
            rms = f"{math.sqrt(float(np.mean(error**2))):.5f}"
            inputs = f"random scores, std {std} nat"
            yield f"softmax probability, n = {n}", inputs, worst, rms, "of 1"


def attention_rows(rng: np.random.Generator) -> Iterator[Row]:
    for n in (8, 64, 512):
        errors = []
        for std in (0.5, 2.0, 5.0):
            q, k, v = (
                np.rint(rng.normal(0, 32, (rows, 16))).clip(-127, 127).astype(np.int64)
                for rows in (512, n, n)
            )
            factor = std / (32 * 32 * 4)
            shift, m = scales.attention_score(math.log2(math.e) * factor)
            y = ops.attention_s8(q, k, v, 1, shift, m)
            errors.append(y - softmax((q @ k.T) * factor) @ v)
        worst, rms = _lsb(np.concatenate(errors))
        yield f"attention, n = {n}", "random q, k, v of rms 32", worst, rms, "LSB of v"


def mean_rows(rng: np.random.Generator) -> Iterator[Row]:
    total = np.arange(1, 65536)
    for shift in (6, 4):
        errors = []
        for _ in range(60):
            top = 127 * 2.0 ** (shift - 6)
            a = np.rint(rng.uniform(-top, top, total.size) * total).astype(np.int64)
            wanted = a / total * 2.0 ** (6 - shift)
            errors.append(
                ops.weighted_mean8(a, total, shift) - np.clip(wanted, -127, 127)
            )
        worst, rms = _lsb(np.concatenate(errors))
        inputs = "all sums, 60 random a each"
        yield f"`weighted_mean8`, s = {shift}", inputs, worst, rms, ""


def score_rows(rng: np.random.Generator) -> Iterator[Row]:
    # Two classes: the score depends on the distance alone.
    errors = []
    for distance in range(0, 4097):
        wanted = 1 / (1 + math.exp(-distance / 256))
        errors.append(ops.scores([distance, 0])[0] / 32768 - wanted)
    yield (
        "score, 2 classes",
        "all distances to 16 nat",
        f"{np.abs(errors).max():.5f}",
        f"{math.sqrt(float(np.mean(np.square(errors)))):.5f}",
        "of 1",
    )
    errors = []
    for _ in range(4000):
        logits = np.rint(rng.normal(0, 500, 12)).astype(np.int64)
        errors.append(ops.scores(logits) / 32768 - softmax(logits / 256))
    yield (
        "score, 12 classes",
        "random logits, std 2 nat",
        f"{np.abs(errors).max():.5f}",
        f"{math.sqrt(float(np.mean(np.square(errors)))):.5f}",
        "of 1",
    )


def bounds() -> Iterator[tuple[str, str, str]]:
    """(claim of the page, how it is checked here, what was found)."""
    corners = np.array([-32768, -32767, 0, 32767])
    products = ops.rdh16(corners[:, None], np.array([-32767, 0, 32767])[None])
    yield (
        "rdh16 fits int16",
        "corners of a bilinear function",
        f"[{products.min()}, {products.max()}]",
    )
    low, high = 1 << 30, 0
    for d in range(2, 513):
        # R falls as V grows: V >= 2^28 (one |c| is 2^14 or more), V <= d 2^30.
        for variance in (1 << 28, d << 30):
            r = _reciprocal_root(d, variance)
            low, high = min(low, r), max(high, r)
    yield "R in [512, 32767]", "all d at the limits of V", f"[{low}, {high}]"
    f = ops.exp2m(np.arange(2048))
    falls = bool(np.all(np.diff(f) <= 0)) and int(f[-1]) >= 32512 >> 1
    yield (
        "exp2m falls, also from octave to octave",
        "all 2,048",
        f"{falls}, {f[-1]} >= {32512 >> 1}",
    )
    e = weights(np.arange(33000))
    falls = bool(np.all(np.diff(e) <= 0))
    yield (
        "weights fall with distance, the largest is 127",
        "all distances",
        f"{falls}, {e[0]}",
    )
    exact = True
    total = np.arange(1, 65536)
    for value in range(-127, 128):
        y = ops.weighted_mean8(total * value, total, 6)
        exact = exact and bool(np.all(y == value))
    yield (
        "the mean of equal int8 values is that value",
        "all 65,535 sums x 255 values",
        str(exact),
    )
    t = np.minimum(np.abs(np.arange(-127, 128))[:, None] << np.arange(7, 11), 32767)
    w = 32767 - t
    h = ops.rdh16(w, -10456) + 31414
    peaks = [int(np.abs(h).max())]
    for constant in (-14479, 2190):
        h = ops.rdh16(w, h) + constant
        peaks.append(int(np.abs(h).max()))
    yield "GELU: h fits int16", "all inputs, k = 3..6", f"at most {max(peaks)}"
    distance = np.arange(0, 65536)
    x = distance * 11819 + 512
    yield "score: x fits int32", "all distances", f"at most {x.max()} < 2^31"


def _reciprocal_root(d: int, variance: int) -> int:
    """R of the page for V = variance."""
    j = (32 - variance.bit_length()) >> 1
    v = variance << (2 * j) if j >= 0 else variance >> (-2 * j)
    q = (1 << 31) // math.isqrt(v)
    return (q * math.isqrt(d << 20) + (1 << (16 - j))) >> (17 - j)


def _audio_frames(rng: np.random.Generator, kind: str) -> npt.NDArray[np.int64]:
    """400 frames of 480 samples at 16 kHz."""
    t = np.arange(480)
    shape = (400, 480)
    if kind.startswith("noise"):
        frames = rng.normal(0, float(kind.split()[-1]), shape)
    elif kind == "harmonics":
        # A voice: harmonics that fall by 12 dB an octave, over a little noise.
        pitch = rng.uniform(90, 280, (400, 1, 1))
        order = np.arange(1, 60)[None, :, None]
        phase = rng.uniform(0, 6.28, (400, 59, 1))
        waves = np.sin(2 * np.pi * pitch * order * t / 16000 + phase) / order**2
        frames = 10 ** rng.uniform(2, 4, (400, 1)) * waves.sum(axis=1)
        frames = frames + rng.normal(0, 3, shape)
    else:
        hz = rng.uniform(50, 7500, (400, 1))
        frames = 32767 * np.sin(2 * np.pi * hz * t / 16000)
    return np.clip(np.rint(frames), -32768, 32767).astype(np.int64)


def log_mel_rows(rng: np.random.Generator) -> Iterator[Row]:
    """Log-mel features against double arithmetic, with the file's integer tables and
    with the formula's real ones (torchaudio: periodic Hann, HTK filters, no norm)."""
    params = AudioParams()
    front_end = audio.FrontEnd.of_model(params.metadata(), params.tensors())
    integer = np.zeros((params.bins, params.fft_length // 2 + 1))
    at = 0
    for row, (first, count) in zip(integer, front_end.mel_filters):
        row[first : first + count] = front_end.mel_weights[at : at + count] / 32768
        at += count
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(480) / 480)
    tables = (
        ("the same tables", front_end.window / 32768, integer),
        ("real tables", hann, mel_matrix(params)),
    )
    decibel = 10 * math.log10(2)
    for kind in ("noise 3000", "noise 30", "noise 1", "harmonics", "full-scale tones"):
        frames = _audio_frames(rng, kind)
        log2, _ = audio.log_energies(front_end, frames)
        y = audio.log_mel(front_end, frames)
        for name, window, filters in tables:
            spectrum = np.abs(np.fft.rfft(frames * window, params.fft_length))
            energy = (spectrum * (2.0**15 / params.fft_length)) ** 2 @ filters.T
            wanted = np.log2(np.maximum(energy * 32768, 1e-9))
            near = wanted > wanted.max(axis=1, keepdims=True) - 60 / decibel
            error = np.where(near, (log2 / 32768 - wanted) * decibel, 0)
            rms = math.sqrt(float((error[near] ** 2).mean()))
            steps = (wanted - params.log_offset / 32768) * params.log_multiplier / 64
            off = np.where(near, y - np.clip(steps, -127, 127), 0)
            yield (
                f"log-mel, {name}",
                f"{kind}, filters within 60 dB of the loudest",
                f"{np.abs(error).max():.4f} dB",
                f"{rms:.4f} dB",
                f"int8 feature: at most {np.abs(off).max():.2f} LSB",
            )


def all_rows(rng: np.random.Generator) -> Iterator[Row]:
    """All rows of the table."""
    yield from requantise_rows(rng)
    yield from embedding_rows(rng)
    yield from layernorm_rows(rng)
    yield from gelu_rows()
    yield from exp_rows()
    yield from softmax_rows(rng)
    yield from attention_rows(rng)
    yield from mean_rows(rng)
    yield from score_rows(rng)
    yield from log_mel_rows(rng)


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    print(HEADER)
    print("| operation | inputs | largest error | rms error | note |")
    print("| --- | --- | --- | --- | --- |")
    for row in all_rows(np.random.default_rng(20240601)):
        print(f"| {' | '.join(row)} |")
    print(FOOTER)
    print("\n## Bounds\n")
    print(
        "The reference also checks every bound of the page on every value it computes."
    )
    print("\n| claim | checked on | found |")
    print("| --- | --- | --- |")
    for claim in bounds():
        print(f"| {' | '.join(claim)} |")


if __name__ == "__main__":
    main()
