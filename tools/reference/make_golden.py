#!/usr/bin/env python3
"""Writes the golden vectors of tests/golden from the NumPy reference.

The seeds are fixed: the same reference gives the same files. tests/golden/README.md
describes the format.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.audio.params import AudioParams  # noqa: E402
from tools.reference import audio, ops, scales  # noqa: E402
from tools.reference.encoder import Encoder  # noqa: E402
from tools.reference.float_encoder import FloatEncoder  # noqa: E402
from tools.reference.float_model import (  # noqa: E402
    random_float_model,
    read_float_model,
    write_float_model,
)
from tools.reference.model import EncoderConfig  # noqa: E402
from tools.reference.model_writer import read_model, write_model  # noqa: E402
from tools.reference.random_model import random_model  # noqa: E402
from tools.reference.spotter import Spotter  # noqa: E402

SEED = 20240601
LINE_LENGTH = 96

_LIMITS = {
    "s8": (-(1 << 7), (1 << 7) - 1),
    "u8": (0, (1 << 8) - 1),
    "s16": (-(1 << 15), (1 << 15) - 1),
    "u16": (0, (1 << 16) - 1),
    "s32": (-(1 << 31), (1 << 31) - 1),
    "u32": (0, (1 << 32) - 1),
}


class GoldenFile:
    """One file of cases; see tests/golden/README.md."""

    def __init__(self, op: str) -> None:
        self.op = op
        self._lines = [f"golden {op}"]

    def case(self, name: str) -> None:
        self._lines.append(f"case {name}")

    def scalar(self, name: str, value: int) -> None:
        self._lines.append(f"scalar {name} {int(value)}")

    def array(self, name: str, kind: str, values: npt.ArrayLike) -> None:
        array = np.asarray(values).astype(np.int64)
        low, high = _LIMITS[kind]
        ops.check_bound(array, low, high, f"{self.op} {name}")
        shape = " ".join(str(size) for size in array.shape)
        head = f"{name} {kind} {array.ndim} {shape}"
        flat = array.ravel()
        if flat.size > 1 and np.all(flat == flat[0]):
            self._lines.append(f"fill {head} {flat[0]}")
            return
        self._lines.append(f"array {head}")
        line = ""
        for value in flat:
            word = str(value)
            if line and len(line) + 1 + len(word) > LINE_LENGTH:
                self._lines.append(line)
                line = ""
            line = f"{line} {word}" if line else word
        if line:
            self._lines.append(line)

    def write(self, folder: Path) -> None:
        text = "\n".join([*self._lines, "end", ""])
        (folder / f"{self.op}.txt").write_text(text, encoding="ascii")


def _rng(name: str) -> np.random.Generator:
    return np.random.default_rng([SEED, *name.encode()])


def fixed_point() -> GoldenFile:
    """rdh16, requant16, quantise8, isqrt."""
    rng = _rng("fixed_point")
    file = GoldenFile("fixed_point")
    edges = np.array([-32768, -32767, -16385, -16384, -1, 0, 1, 16383, 16384, 32767])
    a = np.concatenate([np.repeat(edges, 9), rng.integers(-32768, 32768, 200)])
    b = np.concatenate([np.tile(edges[1:], 10), rng.integers(-32767, 32768, 200)])
    file.case("rdh16")
    file.array("a", "s16", a)
    file.array("b", "s16", b)
    file.array("y", "s16", ops.rdh16(a, b))
    limits = np.array([-(1 << 31), -1, 0, 1, (1 << 31) - 1])
    for shift in (0, 1, 7, 13, 24):
        around = rng.integers(-(1 << (15 + shift)), 1 << (15 + shift), 30)
        acc = np.concatenate([limits, around.clip(-(1 << 31), (1 << 31) - 1)])
        m = rng.integers(1, 32768, acc.size)
        m[:5] = [1, 32767, 127, 32767, 32767]
        file.case(f"requant16_shift_{shift}")
        file.scalar("shift", shift)
        file.array("acc", "s32", acc)
        file.array("multiplier", "s16", m)
        file.array("y", "s16", ops.requant16(acc, shift, m))
    for shift in range(8):
        u = np.concatenate([edges, rng.integers(-32768, 32768, 40)])
        half = (np.arange(-6, 7) << shift >> 1) + rng.integers(-1, 2, 13)
        u = np.concatenate([u, half])
        file.case(f"quantise8_shift_{shift}")
        file.scalar("shift", shift)
        file.array("u", "s16", u)
        file.array("y", "s8", ops.quantise8(u, shift))
    roots = np.concatenate([np.arange(1, 20), rng.integers(1, 65536, 40), [65535]])
    squares = np.concatenate([[0], roots**2 - 1, roots**2, [(1 << 32) - 1]])
    file.case("isqrt")
    file.array("x", "u32", squares)
    file.array("y", "u32", ops.isqrt(squares))
    return file


def _matmul_case(
    file: GoldenFile,
    name: str,
    x: npt.NDArray[Any],
    weight: npt.NDArray[Any],
    bias: npt.NDArray[Any],
    multiplier: npt.NDArray[Any],
    shift: int,
    residual: npt.NDArray[Any],
) -> None:
    arguments = (x, weight, bias, multiplier, shift)
    file.case(name)
    file.scalar("shift", shift)
    file.array("x", "s8", x)
    file.array("weight", "s8", weight)
    file.array("bias", "s32", bias)
    file.array("multiplier", "s16", multiplier)
    file.array("residual", "s16", residual)
    file.array("matmul_s8", "s8", ops.matmul_s8(*arguments))
    file.array("matmul_s16", "s16", ops.matmul_s16(*arguments))
    file.array("matmul_add_s16", "s16", ops.matmul_add_s16(residual, *arguments))


def matmul() -> GoldenFile:
    rng = _rng("matmul")
    file = GoldenFile("matmul")
    shapes = ((1, 1, 1), (3, 7, 5), (4, 16, 16), (5, 33, 17), (2, 64, 9), (7, 31, 40))
    for n, inner, out in shapes:
        x = rng.integers(-127, 128, (n, inner))
        weight = rng.integers(-127, 128, (out, inner))
        rms = 73.3 * 73.3 * np.sqrt(inner)
        for kind, choose, target in (
            ("int8", scales.requant_to_int8, 40.0),
            ("int16", scales.requant_to_int16, 3000.0),
        ):
            factors = target / rms * np.exp(rng.uniform(-2, 0, out))
            factors = np.minimum(factors, 0.9)
            shift, multiplier = choose(factors)
            bias = np.rint(rng.normal(0, rms / 2, out)) + scales.rounding_term(shift)
            residual = rng.integers(-32768, 32768, (n, out))
            _matmul_case(
                file,
                f"random_{n}x{inner}x{out}_{kind}",
                x,
                weight,
                bias.astype(np.int64),
                multiplier,
                shift,
                residual,
            )
    limit = 1 << 30
    for sign in (-1, 1):
        word = "positive" if sign > 0 else "negative"
        for shift, m in ((0, 32767), (15, 32767), (24, 1), (16, 16384)):
            _matmul_case(
                file,
                f"extreme_4096_{word}_shift_{shift}",
                np.full((2, 4096), 127),
                np.full((3, 4096), 127 * sign),
                np.array([limit * sign, 0, -limit * sign]),
                np.full(3, m),
                shift,
                np.array([[32767, -32768, 0], [-1, 32767, -32768]]),
            )
    _matmul_case(
        file,
        "zero_rows",
        np.zeros((3, 20), np.int64),
        rng.integers(-127, 128, (6, 20)),
        rng.integers(-20000, 20000, 6),
        rng.integers(1, 32768, 6),
        3,
        np.zeros((3, 6), np.int64),
    )
    return file


def add() -> GoldenFile:
    """AddS16 and the position term."""
    rng = _rng("add")
    file = GoldenFile("add")
    edges = np.array([-32768, -32767, -1, 0, 1, 32767])
    a = np.concatenate([np.repeat(edges, 6), rng.integers(-32768, 32768, 61)])
    b = np.concatenate([np.tile(edges, 6), rng.integers(-32768, 32768, 61)])
    file.case("add_s16")
    file.array("residual", "s16", a)
    file.array("x", "s16", b)
    file.array("y", "s16", ops.add_s16(a, b))
    for shift in (0, 3, 8):
        x = rng.integers(-32768, 32768, (3, 9))
        position = rng.integers(-127, 128, (3, 9))
        position[0, :2] = [-127, 127]
        file.case(f"position_shift_{shift}")
        file.scalar("shift", shift)
        file.array("residual", "s16", x)
        file.array("position", "s8", position)
        file.array("y", "s16", ops.add_position(x, position, shift))
    return file


def embedding() -> GoldenFile:
    rng = _rng("embedding")
    file = GoldenFile("embedding")

    def case(name: str, table: npt.NDArray[Any], rows: Any, m: int) -> None:
        file.case(name)
        file.scalar("multiplier", m)
        file.array("table", "s8", table)
        file.array("rows", "u16", rows)
        file.array("y", "s8", ops.embedding_sum(table, rows, m))

    case("one_row", rng.integers(-127, 128, (1, 1)), [0], 32767)
    case("one_of_many", rng.integers(-127, 128, (9, 13)), [8], 30000)
    case("repeated_row", rng.integers(-127, 128, (5, 16)), [3, 3, 0, 3], 9000)
    for size, count in ((17, 5), (24, 20), (33, 64)):
        case(
            f"random_{size}x{count}",
            rng.integers(-127, 128, (40, size)),
            rng.integers(0, 40, count),
            int(32768 * 35 / (73 * np.sqrt(count))),
        )
    for value in (-127, 127):
        table = np.full((2, 10), value)
        case(f"all_{value}_saturates", table, np.zeros(255, np.int64), 32767)
        case(f"all_{value}_scaled", table, np.ones(255, np.int64), 100)
    case("multiplier_1", np.full((2, 6), 127), [0, 1], 1)
    case("zero_table", np.zeros((3, 7), np.int64), [0, 1, 2], 20000)
    return file


def layernorm() -> GoldenFile:
    rng = _rng("layernorm")
    file = GoldenFile("layernorm")

    def case(name: str, x: Any, gain: Any, bias: Any, shift: int) -> None:
        x = np.asarray(x)
        file.case(name)
        file.scalar("shift", shift)
        file.array("x", "s16", x)
        file.array("gain", "s16", gain)
        file.array("bias", "s16", bias)
        file.array("layernorm_s16", "s16", ops.layernorm_s16(x, gain, bias))
        file.array("layernorm_s8", "s8", ops.layernorm_s8(x, gain, bias, shift))

    def usual(d: int, shift: int) -> tuple[Any, Any]:
        unit = 32 * 2.0**shift / 512
        gain = np.rint(rng.uniform(-0.2, 1.4, d) * unit * 32768).clip(-32767, 32767)
        bias = np.rint(rng.normal(0, 0.3, d) * unit * 512)
        return gain.astype(np.int64), bias.astype(np.int64)

    for d in (2, 3, 8, 17, 64, 100):
        rows = [
            rng.normal(0, 10.0**p, d) + rng.normal(0, 10.0**p) for p in (0, 1.5, 3, 4.1)
        ]
        x = np.rint(np.array(rows)).clip(-32768, 32767).astype(np.int64)
        for shift in (0, 3):
            case(f"random_{d}_shift_{shift}", x, *usual(d, shift), shift)
    for d in (2, 8, 31, 512):
        one = np.zeros(d, np.int64)
        one[d // 3] = 1
        half = np.where(np.arange(d) % 2 == 0, -32768, 32767)
        ramp = np.linspace(-32768, 32767, d).astype(np.int64)
        single = np.where(np.arange(d) == d - 1, 32767, -32768)
        rows = np.array([one, -one, half, ramp, single, -1 - single])
        case(f"extreme_rows_{d}", rows, np.full(d, 16384), np.zeros(d, np.int64), 4)
    for value in (-32768, 0, 5, 32767):
        case(
            f"constant_row_{value}",
            np.full((1, 12), value),
            rng.integers(-32767, 32768, 12),
            rng.integers(-32768, 32768, 12),
            7,
        )
    x = rng.integers(-32768, 32768, (3, 24))
    for gain in (-32767, 0, 32767):
        for bias in (-32768, 32767):
            case(
                f"gain_{gain}_bias_{bias}",
                x,
                np.full(24, gain),
                np.full(24, bias),
                7 if gain else 1,
            )
    # The sum of squares decides by one which root it has, and the root shows.
    for name, row in (
        (
            "below_a_square",
            [334, -12, -10, -21, 25, 13, -8, -1, 23, 21, -34, -31]
            + [-23, 14, 1, 10, 19, 23, 0, 19, -26, -39, 13, -25],
        ),
        ("at_a_square", [53, -75, 165, -51, 218]),
    ):
        d = len(row)
        case(name, [row], np.full(d, 32767), np.zeros(d, np.int64), 0)
    return file


def activation() -> GoldenFile:
    """All inputs."""
    file = GoldenFile("activation")
    q = np.arange(-127, 128)
    for k in range(3, 7):
        file.case(f"gelu_{k}")
        file.scalar("fraction_bits", k)
        file.array("x", "s8", q)
        file.array("y", "s8", ops.gelu_s8(q, k))
    file.case("relu")
    file.array("x", "s8", q)
    file.array("y", "s8", ops.relu_s8(q))
    return file


def softmax() -> GoldenFile:
    rng = _rng("softmax")
    file = GoldenFile("softmax")

    def case(name: str, acc: Any, shift: int, m: int) -> None:
        file.case(name)
        file.scalar("shift", shift)
        file.scalar("multiplier", m)
        file.array("acc", "s32", acc)
        file.array("e", "u8", ops.softmax_s8(acc, shift, m))

    f = np.arange(0, 2048, 13)
    file.case("exp2m")
    file.array("f", "s16", f)
    file.array("y", "s16", ops.exp2m(f))
    case("one", [-12345], 0, 20000)
    case("all_equal", np.full(37, 99), 2, 20000)
    limit = 512 * 127 * 127
    case("extreme_distance", [limit, -limit, 0, limit - 1], -4, 32767)
    case("extreme_distance_right", [limit, -limit, 0, limit - 1], 20, 1)
    case("extreme_distance_seen", [limit, -limit, 0, limit - 1], 10, 32767)
    for n, shift in ((2, 0), (7, 3), (33, 5), (64, 1), (130, 7)):
        m = int(rng.integers(1 << 14, 1 << 15))
        unit = 2048 * 2.0**shift * 2**15 / m
        acc = np.rint(rng.normal(0, 2 * unit, n)).astype(np.int64)
        case(f"random_{n}_shift_{shift}", acc, shift, m)
    for shift in (-4, -1):
        acc = rng.integers(-900, 900, 25)
        case(f"random_left_{-shift}", acc, shift, 30000)
    steps = np.arange(0, 34000, 271)
    case("every_octave", -steps, 0, 16384)
    return file


def attention() -> GoldenFile:
    rng = _rng("attention")
    file = GoldenFile("attention")

    def case(name: str, q: Any, k: Any, v: Any, heads: int, shift: int, m: int) -> None:
        file.case(name)
        file.scalar("heads", heads)
        file.scalar("shift", shift)
        file.scalar("multiplier", m)
        file.array("q", "s8", q)
        file.array("k", "s8", k)
        file.array("v", "s8", v)
        file.array("y", "s8", ops.attention_s8(q, k, v, heads, shift, m))

    shapes = (
        (1, 1, 8, 1),
        (3, 5, 8, 2),
        (7, 7, 24, 3),
        (2, 33, 16, 4),
        (16, 16, 20, 4),
        (1, 130, 8, 8),
    )
    for rows, n, d, heads in shapes:
        q = rng.integers(-80, 81, (rows, d))
        k = rng.integers(-80, 81, (n, d))
        v = rng.integers(-127, 128, (n, d))
        factor = 2.0 * 1.4427 / (46.0 * 46.0 * np.sqrt(d // heads))
        case(
            f"random_{rows}x{n}x{d}_heads_{heads}",
            q,
            k,
            v,
            heads,
            *scales.attention_score(factor),
        )
    ones = np.full((2, 8), 127)
    case("all_127", ones, np.full((40, 8), 127), np.full((40, 8), 127), 2, 4, 20000)
    case("all_-127", ones, np.full((512, 8), -127), np.full((512, 8), -127), 1, 4, 1)
    case("zero", ones * 0, np.full((9, 8), 0), np.full((9, 8), 0), 4, 4, 20000)
    k = np.full((20, 8), -127)
    k[13] = 127
    v = np.where(np.arange(20)[:, None] == 13, -127, 127) * np.ones((1, 8), np.int64)
    case("one_key_wins", ones, k, v, 1, 0, 32767)
    return file


def pooling() -> GoldenFile:
    """weighted_mean8 and mean pooling."""
    rng = _rng("pooling")
    file = GoldenFile("pooling")
    for shift in range(7):
        total = np.concatenate(
            [
                [1, 1, 1, 2, 127, 255, 256, 32767, 32768, 65535, 65535],
                np.rint(np.exp(rng.uniform(0, np.log(65535), 40))),
            ]
        ).astype(np.int64)
        a = np.rint(rng.uniform(-127, 127, total.size) * total).astype(np.int64)
        a[:5] = [-127, 0, 127, -254, 127 * 127]
        a[9:11] = [-127 * 65535, 127 * 65535]
        file.case(f"weighted_mean8_shift_{shift}")
        file.scalar("shift", shift)
        file.array("a", "s32", a)
        file.array("sum", "s32", total)
        file.array("y", "s8", ops.weighted_mean8(a, total, shift))
    for n, d, shift in ((1, 8, 6), (3, 10, 5), (37, 17, 4), (64, 9, 3), (2, 8, 0)):
        y = rng.integers(-127, 128, (n, d))
        file.case(f"mean_{n}x{d}_shift_{shift}")
        file.scalar("shift", shift)
        file.array("x", "s8", y)
        file.array("y", "s8", ops.mean_pool_s8(y, shift))
    for value in (-127, 127):
        y = np.full((512, 8), value)
        file.case(f"mean_all_{value}")
        file.scalar("shift", 6)
        file.array("x", "s8", y)
        file.array("y", "s8", ops.mean_pool_s8(y, 6))
    return file


def score() -> GoldenFile:
    rng = _rng("score")
    file = GoldenFile("score")

    def case(name: str, logits: Any) -> None:
        file.case(name)
        file.array("logits", "s16", logits)
        file.array("scores", "u16", ops.scores(logits))
        file.scalar("label", ops.label(logits))

    case("two", [300, -45])
    case("equal", [7, 7, 7])
    case("tie_for_first", [5, 90, -3, 90])
    case("extreme", [-32768, 32767, 0])
    case("certain", [0, 4096])
    for c in (2, 12, 35):
        case(f"random_{c}", rng.integers(-1500, 1500, c))
    case("all_equal_1024", np.full(1024, -9))
    return file


def _test_sounds(rng: np.random.Generator, samples: int) -> npt.NDArray[np.int16]:
    """Noise, tones, silence, clicks and square waves in turn, loud and soft."""
    parts: list[npt.NDArray[np.float64]] = []
    while sum(part.size for part in parts) < samples:
        t = np.arange(int(rng.integers(40, 700)))
        level = 10.0 ** rng.uniform(0.5, 4.6)
        kind = int(rng.integers(5))
        if kind == 0:
            part = rng.normal(0, level, t.size)
        elif kind == 1:
            part = level * np.sin(t * rng.uniform(0.01, 3.0) + rng.uniform(0, 6))
        elif kind == 2:
            part = np.zeros(t.size)
        elif kind == 3:
            part = level * np.sign(np.sin(t * rng.uniform(0.01, 3.0)))
        else:
            part = np.where(t == t.size // 2, level, 0.0)
        parts.append(part)
    whole = np.concatenate(parts)[:samples]
    return np.clip(np.rint(whole), -32768, 32767).astype(np.int16)


def logmel() -> GoldenFile:
    """Features of frames, one after the other."""
    rng = _rng("logmel")
    file = GoldenFile("logmel")
    for frame, fft, bins, multiplier, offset in (
        (480, 512, 40, 512, 52 << 15),
        (400, 512, 64, 700, 40 << 15),
        (512, 512, 1, 32767, 0),
        (256, 256, 20, 512, 45 << 15),
        (127, 128, 10, 300, 0),
        (63, 64, 7, 512, 52 << 15),
        (1, 32, 4, 512, 30 << 15),
        (32, 32, 5, 1, (1 << 22) - 1),
    ):
        params = AudioParams(
            *(16000, frame, frame, fft, bins, 1, 1, multiplier, offset),
            low_hz=16000 / fft / 2,
        )
        tensors = params.tensors()
        if bins == 1:  # all FFT bins in one filter, the largest weights
            tensors["audio.mel_filters"] = np.array([[1, fft // 2 - 1]], np.int16)
            tensors["audio.mel_weights"] = np.full(fft // 2 - 1, 32767, np.int16)
            tensors["audio.window"] = np.full(frame, 32767, np.int16)
        t = np.arange(frame)
        frames = np.stack(
            [
                _test_sounds(rng, frame),
                rng.integers(-32768, 32768, frame),
                np.zeros(frame),
                np.full(frame, -32768),
                np.where(t % 2 == 0, -32768, 32767),
                rng.choice([-32768, 32767], frame),
                rng.integers(-1, 2, frame),
                np.where(t == frame // 3, 32767, 0),
            ]
        ).astype(np.int16)
        front_end = audio.FrontEnd.of_model(params.metadata(), tensors)
        file.case(f"fft_{fft}_frame_{frame}_bins_{bins}")
        file.scalar("fft_length", fft)
        file.scalar("multiplier", multiplier)
        file.scalar("offset", offset)
        file.array("window", "s16", front_end.window)
        file.array("filters", "s16", front_end.mel_filters)
        file.array("weights", "s16", front_end.mel_weights)
        file.array("pcm", "s16", frames)
        file.array("y", "s8", audio.log_mel(front_end, frames))
    values = np.concatenate(
        [np.arange(1, 200), rng.integers(1, 1 << 31, 200), 1 << np.arange(31)]
    )
    file.case("log2")
    file.array("x", "u32", values)
    file.array("y", "s32", audio.log2_q15(values))
    return file


GENERATORS = (
    logmel,
    fixed_point,
    matmul,
    add,
    embedding,
    layernorm,
    activation,
    softmax,
    attention,
    pooling,
    score,
)

MODELS: dict[str, EncoderConfig] = {
    "pre_mean_gelu": EncoderConfig(
        context_length=20,
        embedding_length=24,
        input_length=13,
        block_count=2,
        head_count=3,
        feed_forward_length=40,
        classes=2,
        vocabulary=64,
        positions=True,
    ),
    "post_class_relu": EncoderConfig(
        context_length=17,
        embedding_length=20,
        input_length=16,
        block_count=2,
        head_count=5,
        feed_forward_length=33,
        classes=3,
        vocabulary=64,
        norm="post",
        activation="relu",
        pooling="class",
        positions=True,
    ),
    "post_mean_gelu": EncoderConfig(
        context_length=64,
        embedding_length=16,
        input_length=9,
        block_count=1,
        head_count=1,
        feed_forward_length=64,
        classes=12,
        input="audio",
        norm="post",
    ),
    "pre_class_relu": EncoderConfig(
        context_length=33,
        embedding_length=32,
        input_length=24,
        block_count=3,
        head_count=4,
        feed_forward_length=48,
        classes=5,
        input="audio",
        activation="relu",
        pooling="class",
    ),
}


SPOTTERS = {
    "mean": EncoderConfig(
        context_length=7,
        embedding_length=16,
        input_length=40,
        block_count=1,
        head_count=2,
        feed_forward_length=24,
        classes=4,
        input="audio",
    ),
    "class": EncoderConfig(
        context_length=6,
        embedding_length=12,
        input_length=30,
        block_count=2,
        head_count=3,
        feed_forward_length=16,
        classes=3,
        input="audio",
        norm="post",
        activation="relu",
        pooling="class",
        positions=True,
    ),
}


def spotter_vectors(name: str, config: EncoderConfig, folder: Path) -> None:
    """Writes NAME.gguf and NAME.txt: a stream, its looks and events; clips."""
    rng = _rng(f"spotter_{name}")
    path = folder / f"{name}.gguf"
    model = random_model(config, int(rng.integers(1 << 31)))
    if name == "mean":
        params = AudioParams(8000, 200, 80, 256, 10, 4, 2, low_hz=60, high_hz=3800)
        spot = {"hop": 2, "smoothing": 2, "looks": 4, "votes": 2, "refractory": 60}
        thresholds = np.array([12000, 13000, 65535, 14000], np.uint16)
        model.keys["atto.audio.spot.thresholds"] = thresholds
        model.keys["atto.labels"] = ["one", "two", "silence", "drei"]
        for key, value in spot.items():
            model.keys[f"atto.audio.spot.{key}"] = np.uint32(value)
    else:  # the defaults, a class that is never reported
        params = AudioParams(8000, 64, 50, 64, 10, 3, 3, low_hz=60, high_hz=3900)
        model.keys["atto.labels"] = ["unknown", "yes", "no"]
        model.keys["atto.head.shift"] -= 3
    model.keys.update(params.metadata())
    model.tensors.update(params.tensors())
    write_model(path, model)
    spotter = Spotter(read_model(path))
    file = GoldenFile(name)
    pcm = _test_sounds(rng, 9 * spotter.window)
    looks = spotter.looks(pcm)
    events = spotter.events(pcm)
    file.case("stream")
    file.array("pcm", "s16", pcm)
    file.array("starts", "u32", [start for start, _, _ in looks])
    file.array("logits", "s16", [logits for _, _, logits in looks])
    file.array("events", "u32", [dataclasses.astuple(event) for event in events])
    for samples in (1, 30, spotter.window // 2, spotter.window, spotter.window + 99):
        clip = rng.normal(0, 5000, samples).clip(-32768, 32767).astype(np.int16)
        file.case(f"clip_{samples}")
        file.array("pcm", "s16", clip)
        file.array("logits", "s16", spotter.clip_logits(clip))
    file.write(folder)


def model_vectors(name: str, config: EncoderConfig, folder: Path) -> None:
    """Writes NAME.gguf and NAME.txt: inputs, pooled rows and logits."""
    rng = _rng(name)
    path = folder / f"{name}.gguf"
    write_model(path, random_model(config, int(rng.integers(1 << 31))))
    encoder = Encoder(read_model(path))
    file = GoldenFile(name)
    longest = config.context_length - (config.pooling == "class")
    for n in (1, 2, 7, longest):
        for kind in ("random", "extreme"):
            file.case(f"{kind}_{n}")
            if config.input == "text":
                most = 20 if kind == "random" else 48
                tokens = [
                    rng.integers(0, config.vocabulary, rng.integers(1, most + 1))
                    for _ in range(n)
                ]
                file.array("row_counts", "u8", [len(rows) for rows in tokens])
                file.array("rows", "u16", np.concatenate(tokens))
                y = encoder.input_rows([rows.tolist() for rows in tokens])
            else:
                shape = (n, config.input_length)
                y = np.rint(rng.normal(0, 35, shape)).clip(-127, 127)
                if kind == "extreme":
                    y = np.where(y < 0, -127, 127)
                y = y.astype(np.int64)
            file.array("input", "s8", y)
            file.array("pooled", "s8", encoder.pooled(y))
            file.array("logits", "s16", encoder.logits_of_rows(y))
    file.write(folder)


FLOAT_MODELS: dict[str, EncoderConfig] = {
    "pre_mean_gelu": EncoderConfig(
        context_length=20,
        embedding_length=24,
        input_length=13,
        block_count=2,
        head_count=3,
        feed_forward_length=40,
        classes=2,
        vocabulary=64,
        positions=True,
    ),
    "post_class_relu": EncoderConfig(
        context_length=17,
        embedding_length=20,
        input_length=16,
        block_count=2,
        head_count=5,
        feed_forward_length=33,
        classes=3,
        vocabulary=32,
        norm="post",
        activation="relu",
        pooling="class",
        positions=True,
    ),
    # Longer than a tile.
    "post_mean_gelu": EncoderConfig(
        context_length=150,
        embedding_length=16,
        input_length=5,
        block_count=1,
        head_count=1,
        feed_forward_length=40,
        classes=12,
        input="audio",
        norm="post",
    ),
    "pre_class_relu": EncoderConfig(
        context_length=100,
        embedding_length=18,
        input_length=7,
        block_count=2,
        head_count=2,
        feed_forward_length=19,
        classes=35,
        input="audio",
        activation="relu",
        pooling="class",
    ),
}


def float_model_vectors(name: str, config: EncoderConfig, folder: Path) -> None:
    """Writes NAME.gguf and NAME.txt: inputs, and logits in units of 2^-20 nat."""
    rng = _rng(f"float_{name}")
    path = folder / f"{name}.gguf"
    write_float_model(path, random_float_model(config, int(rng.integers(1 << 31))))
    encoder = FloatEncoder(read_float_model(path))
    file = GoldenFile(name)
    longest = config.context_length - (config.pooling == "class")
    for n in (1, 2, 7, longest):
        file.case(f"random_{n}")
        if config.input == "text":
            tokens = [
                rng.integers(0, config.vocabulary, rng.integers(1, 21))
                for _ in range(n)
            ]
            file.array("row_counts", "u8", [len(rows) for rows in tokens])
            file.array("rows", "u16", np.concatenate(tokens))
            logits = encoder.logits([rows.tolist() for rows in tokens])
        else:
            y = np.rint(rng.normal(0, 35, (n, config.input_length))).clip(-127, 127)
            file.array("input", "s8", y)
            logits = encoder.logits_of_rows(y)
        file.array("logits", "s32", np.rint(logits * (1 << 20)))
    file.write(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--output", type=Path, default=ROOT / "tests" / "golden", help="folder to fill"
    )
    folder: Path = parser.parse_args().output
    for models in ("models", "float_models", "spotters"):
        (folder / models).mkdir(parents=True, exist_ok=True)
    for generator in GENERATORS:
        generator().write(folder)
    for name, config in MODELS.items():
        model_vectors(name, config, folder / "models")
    for name, config in FLOAT_MODELS.items():
        float_model_vectors(name, config, folder / "float_models")
    for name, config in SPOTTERS.items():
        spotter_vectors(name, config, folder / "spotters")


if __name__ == "__main__":
    main()
