"""The NumPy reference: golden vectors, errors against real arithmetic, model files."""

from __future__ import annotations

import os
import re
import struct
import sys
import tempfile
import unittest
import zlib
from pathlib import Path
from typing import Any, Iterator

import numpy as np

ROOT = Path(os.environ.get("ATTO_SOURCE_DIR", Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(ROOT))

from tools.reference import audio, error_tables, ops, scales  # noqa: E402
from tools.reference.encoder import Encoder  # noqa: E402
from tools.reference.model import EncoderConfig, Model  # noqa: E402
from tools.reference.random_model import random_model  # noqa: E402

try:
    from tools.reference import model_writer
except ImportError:
    model_writer = None

GOLDEN = ROOT / "tests" / "golden"

Case = dict[str, Any]


def read_golden(path: Path) -> Iterator[tuple[str, Case]]:
    """(name, values) of every case; see tests/golden/README.md."""
    words = iter(path.read_text(encoding="ascii").split())
    assert next(words) == "golden"
    next(words)
    name, case = "", {}
    for word in words:
        if word in ("case", "end"):
            if name:
                yield name, case
            if word == "end":
                return
            name, case = next(words), {}
        elif word == "scalar":
            key = next(words)
            case[key] = int(next(words))
        else:
            key, _, rank = next(words), next(words), int(next(words))
            shape = [int(next(words)) for _ in range(rank)]
            count = 1 if word == "fill" else int(np.prod(shape))
            values = np.array([int(next(words)) for _ in range(count)], np.int64)
            case[key] = np.resize(values, shape)
    raise AssertionError(f"{path}: no end")


def expected(op: str, name: str, c: Case) -> dict[str, Any]:
    """The results of a case, computed from its inputs."""
    if op == "fixed_point":
        if name == "rdh16":
            return {"y": ops.rdh16(c["a"], c["b"])}
        if name == "isqrt":
            return {"y": ops.isqrt(c["x"])}
        if name.startswith("quantise8"):
            return {"y": ops.quantise8(c["u"], c["shift"])}
        return {"y": ops.requant16(c["acc"], c["shift"], c["multiplier"])}
    if op == "matmul":
        a = [c[key] for key in ("x", "weight", "bias", "multiplier", "shift")]
        return {
            "matmul_s8": ops.matmul_s8(*a),
            "matmul_s16": ops.matmul_s16(*a),
            "matmul_add_s16": ops.matmul_add_s16(c["residual"], *a),
        }
    if op == "add":
        if name == "add_s16":
            return {"y": ops.add_s16(c["residual"], c["x"])}
        return {"y": ops.add_position(c["residual"], c["position"], c["shift"])}
    if op == "embedding":
        return {"y": ops.embedding_sum(c["table"], c["rows"], c["multiplier"])}
    if op == "layernorm":
        a = [c[key] for key in ("x", "gain", "bias")]
        return {
            "layernorm_s16": ops.layernorm_s16(*a),
            "layernorm_s8": ops.layernorm_s8(*a, c["shift"]),
        }
    if op == "activation":
        if name == "relu":
            return {"y": ops.relu_s8(c["x"])}
        return {"y": ops.gelu_s8(c["x"], c["fraction_bits"])}
    if op == "softmax":
        if name == "exp2m":
            return {"y": ops.exp2m(c["f"])}
        return {"e": ops.softmax_s8(c["acc"], c["shift"], c["multiplier"])}
    if op == "attention":
        keys = ("q", "k", "v", "heads", "shift", "multiplier")
        return {"y": ops.attention_s8(*(c[key] for key in keys))}
    if op == "pooling":
        if name.startswith("mean"):
            return {"y": ops.mean_pool_s8(c["x"], c["shift"])}
        return {"y": ops.weighted_mean8(c["a"], c["sum"], c["shift"])}
    if op == "score":
        return {"scores": ops.scores(c["logits"]), "label": ops.label(c["logits"])}
    if op == "logmel":
        if name == "log2":
            return {"y": audio.log2_q15(c["x"])}
        front_end = audio.FrontEnd(
            *(c["window"], c["filters"], c["weights"], 1),
            *(c["fft_length"], c["multiplier"], c["offset"]),
        )
        return {"y": audio.log_mel(front_end, c["pcm"])}
    raise AssertionError(f"no such operation: {op}")


class GoldenTest(unittest.TestCase):
    def test_operations(self) -> None:
        files = [
            path
            for path in sorted(GOLDEN.glob("*.txt"))
            if path.read_text(encoding="ascii").startswith("golden ")
        ]
        self.assertEqual(len(files), 11)
        for path in files:
            for name, case in read_golden(path):
                with self.subTest(file=path.name, case=name):
                    for key, value in expected(path.stem, name, case).items():
                        np.testing.assert_array_equal(case[key], value)

    @unittest.skipIf(model_writer is None, "the gguf package is missing")
    def test_models(self) -> None:
        files = sorted((GOLDEN / "models").glob("*.txt"))
        self.assertEqual(len(files), 4)
        for path in files:
            encoder = Encoder(model_writer.read_model(path.with_suffix(".gguf")))
            for name, case in read_golden(path):
                with self.subTest(file=path.name, case=name):
                    y = case["input"]
                    if encoder.input == "text":
                        ends = np.cumsum(case["row_counts"])[:-1]
                        tokens = [t.tolist() for t in np.split(case["rows"], ends)]
                        np.testing.assert_array_equal(encoder.input_rows(tokens), y)
                    np.testing.assert_array_equal(encoder.pooled(y), case["pooled"])
                    np.testing.assert_array_equal(
                        encoder.logits_of_rows(y), case["logits"]
                    )


class ErrorTest(unittest.TestCase):
    """Largest errors of docs/error_tables.md, with little room."""

    LIMITS = (
        ("`MatmulS8`", 0.65),
        ("`MatmulS16`", 1.0),
        ("embedding sum", 0.501),
        ("LayerNorm z", 1.7),
        ("`LayerNormS8`", 0.65),
        ("GELU", 0.63),
        ("`exp2m`", 0.33),
        ("softmax weight", 0.70),
        ("softmax probability, n = 8", 0.02),
        ("softmax probability, n = 64", 0.04),
        ("softmax probability, n = 512", 0.12),
        ("attention, n = 8", 2.0),
        ("attention, n = 64", 3.5),
        ("attention, n = 512", 10.0),
        ("`weighted_mean8`", 0.6),
        ("score", 0.0008),
        ("log-mel", 0.3),
    )

    def test_errors(self) -> None:
        checked = set()
        for row in error_tables.all_rows(np.random.default_rng(3)):
            limit = max(
                (name for name, _ in self.LIMITS if row[0].startswith(name)), key=len
            )
            checked.add(limit)
            worst = float(row[2].split()[0])
            self.assertLessEqual(worst, dict(self.LIMITS)[limit], row)
        self.assertEqual(checked, {name for name, _ in self.LIMITS})

    def test_bounds(self) -> None:
        found = {claim: value for claim, _, value in error_tables.bounds()}
        self.assertEqual(found["rdh16 fits int16"], "[-32767, 32767]")
        self.assertEqual(found["R in [512, 32767]"], "[512, 23170]")
        for claim in (
            "exp2m falls, also from octave to octave",
            "weights fall with distance, the largest is 127",
            "the mean of equal int8 values is that value",
        ):
            self.assertTrue(found[claim].startswith("True"), claim)

    def test_illegal_values_are_refused(self) -> None:
        with self.assertRaises(ops.BoundError):
            ops.rdh16(1, -32768)
        with self.assertRaises(ops.BoundError):
            ops.relu_s8([-128])
        with self.assertRaises(ops.BoundError):
            ops.weighted_mean8([128], [1], 6)
        with self.assertRaises(ops.BoundError):
            ops.embedding_sum(np.zeros((3, 4), np.int64), [3], 1)
        with self.assertRaises(ops.BoundError):
            ops.requant16(1 << 31, 0, 1)
        with self.assertRaises(TypeError):
            ops.relu_s8([0.5])


class ScalesTest(unittest.TestCase):
    def test_int8_rule(self) -> None:
        rng = np.random.default_rng(5)
        for _ in range(200):
            factors = 10.0 ** rng.uniform(-6, -2) * rng.uniform(1, 32, 9)
            shift, m = scales.requant_to_int8(factors)
            # Every channel reaches 127 within 16 bits; one shift less would not do.
            self.assertTrue(np.all(ops.requant16([1 << 30] * 9, shift, m) >= 127))
            if shift > 0:
                self.assertLess(int(m.min()), 256)
            np.testing.assert_allclose(m, factors * 2.0 ** (shift + 15), atol=0.5)

    def test_int16_rule(self) -> None:
        rng = np.random.default_rng(5)
        for _ in range(200):
            factors = 10.0 ** rng.uniform(-6, -0.95) * rng.uniform(1, 8, 9)
            shift, m = scales.requant_to_int16(factors)
            self.assertTrue(1 << 14 <= int(m.max()) < 1 << 15)
            np.testing.assert_allclose(m, factors * 2.0 ** (shift + 15), atol=1)
        with self.assertRaisesRegex(ValueError, "output scale must grow"):
            scales.requant_to_int16(np.array([1.5]))

    def test_attention_score(self) -> None:
        for factor in 2.0 ** np.linspace(-31, -7.01, 60):
            shift, m = scales.attention_score(float(factor))
            self.assertTrue(1 << 14 <= m <= 32767)
            real = m * 2.0 ** (-shift - 26)
            self.assertLess(abs(real / factor - 1), 1e-4)
        with self.assertRaisesRegex(ValueError, "too coarse"):
            scales.attention_score(0.01)

    def test_norm_shift(self) -> None:
        for scale in (0.01, 0.03, 0.2):
            for gain in (0.3, 1.0, 4.0):
                shift = scales.norm_shift(scale, gain)
                self.assertLessEqual(gain * 64 / (scale * 2.0**-shift), 32767)
                if shift < 7:
                    self.assertGreater(gain * 64 / (scale * 2.0 ** -(shift + 1)), 32767)


CONFIGS = (
    EncoderConfig(),
    EncoderConfig(norm="post", positions=True, block_count=3),
    EncoderConfig(pooling="class", activation="relu", input="audio"),
    EncoderConfig(embedding_length=8, head_count=8, input_length=1, classes=40),
)


class RandomModelTest(unittest.TestCase):
    def test_logits_depend_on_the_input(self) -> None:
        rng = np.random.default_rng(2)
        for seed, config in enumerate(CONFIGS):
            encoder = Encoder(random_model(config, seed))
            shape = (9, config.input_length)
            inputs = [rng.integers(-127, 128, shape) for _ in range(8)]
            logits = np.stack([encoder.logits_of_rows(y) for y in inputs])
            self.assertGreater(len({tuple(row) for row in logits}), 6)
            self.assertLess(np.abs(logits).max(), 20000)
            pooled = np.stack([encoder.pooled(y) for y in inputs])
            self.assertLess(np.mean(np.abs(pooled) == 127), 0.5)

    def test_input_of_no_or_too_many_tokens(self) -> None:
        encoder = Encoder(random_model(EncoderConfig(), 1))
        with self.assertRaisesRegex(ValueError, "no input rows"):
            encoder.logits([])
        with self.assertRaisesRegex(ValueError, "context length"):
            encoder.logits([[1]] * 65)


@unittest.skipIf(model_writer is None, "the gguf package is missing")
class ModelFileTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "model.gguf"

    def test_round_trip(self) -> None:
        for seed, config in enumerate(CONFIGS):
            model = random_model(config, seed)
            model_writer.write_model(self.path, model)
            read = model_writer.read_model(self.path)
            self.assertEqual(read.tensors.keys(), model.tensors.keys())
            for name, tensor in model.tensors.items():
                np.testing.assert_array_equal(
                    read.tensors[name].view(np.uint8), tensor.view(np.uint8)
                )
            self.assertEqual(read.keys.keys(), model.keys.keys())
            for name, value in model.keys.items():
                np.testing.assert_array_equal(read.keys[name], value, name)

    def test_types_and_alignment_in_the_file(self) -> None:
        """Reads the bytes without the library that wrote them."""
        for alignment in (16, 64):
            model = random_model(EncoderConfig(), 1)
            model_writer.write_model(self.path, model, alignment)
            data = self.path.read_bytes()
            magic, version, tensors, keys = struct.unpack_from("<4sIQQ", data)
            self.assertEqual((magic, version), (b"GGUF", 3))
            self.assertEqual(tensors, len(model.tensors))
            types, offset = self._key_types(data, keys)
            self.assertEqual(types["general.architecture"], "string")
            self.assertEqual(types["atto.format_version"], "u32")
            self.assertEqual(types["atto.checksum"], "u32")
            self.assertEqual(types["atto.labels"], "array of string")
            self.assertEqual(types["atto.attn_q.shift"], "array of u8")
            self.assertEqual(types["atto.attn_score.shift"], "array of i8")
            self.assertEqual(types["atto.attn_score.multiplier"], "array of u16")
            self.assertEqual(types["atto.gelu.fraction_bits"], "array of u8")
            self.assertEqual(types["atto.text.buckets"], "u32")
            self._check_documented_types(types)
            for _ in range(tensors):
                (length,) = struct.unpack_from("<Q", data, offset)
                name = data[offset + 8 : offset + 8 + length].decode()
                offset += 8 + length
                (rank,) = struct.unpack_from("<I", data, offset)
                shape = struct.unpack_from(f"<{rank}Q", data, offset + 4)
                offset += 4 + 8 * rank
                kind, place = struct.unpack_from("<IQ", data, offset)
                offset += 12
                tensor = model.tensors[name]
                # GGUF lists the innermost dimension first.
                self.assertEqual(shape[::-1], tensor.shape)
                self.assertEqual(kind, {1: 24, 2: 25, 4: 26}[tensor.itemsize], name)
                self.assertEqual(place % alignment, 0)

    NAMES = ("u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array")

    def _key_types(self, data: bytes, keys: int) -> tuple[dict[str, str], int]:
        sizes = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1}
        types, offset = {}, 24

        def skip(kind: int, at: int) -> int:
            if kind == 8:
                return at + 8 + struct.unpack_from("<Q", data, at)[0]
            return at + sizes[kind]

        for _ in range(keys):
            (length,) = struct.unpack_from("<Q", data, offset)
            name = data[offset + 8 : offset + 8 + length].decode()
            offset += 8 + length
            (kind,) = struct.unpack_from("<I", data, offset)
            offset += 4
            if kind != 9:
                types[name] = self.NAMES[kind]
                offset = skip(kind, offset)
                continue
            kind, count = struct.unpack_from("<IQ", data, offset)
            offset += 12
            types[name] = f"array of {self.NAMES[kind]}"
            for _ in range(count):
                offset = skip(kind, offset)
        return types, offset

    def _check_documented_types(self, types: dict[str, str]) -> None:
        """Every key has the type of docs/model_format.md."""
        page = (ROOT / "docs" / "model_format.md").read_text(encoding="utf-8")
        found = 0
        for line in page.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if len(cells) != 3 or not cells[0].startswith("`"):
                continue
            wanted = cells[1].split(",")[0]
            for name in re.findall(r"`([a-z_.]+)`", cells[0]):
                # "`atto.attn_q.shift`, `attn_k`, ..": the short names are alike.
                name = name if "." in name else f"atto.{name}.shift"
                if name in types:
                    self.assertEqual(types[name], wanted, name)
                    found += 1
        self.assertGreater(found, 25)

    def test_checksum(self) -> None:
        model_writer.write_model(self.path, random_model(EncoderConfig(), 1))
        data = bytearray(self.path.read_bytes())
        place = data.index(b"atto.checksum") + len("atto.checksum") + 4
        (stored,) = struct.unpack_from("<I", data, place)
        data[place : place + 4] = bytes(4)
        self.assertEqual(stored, zlib.crc32(data))
        struct.pack_into("<I", data, place, stored)
        data[-20] ^= 1
        self.path.write_bytes(data)
        with self.assertRaisesRegex(ValueError, "atto.checksum"):
            model_writer.read_model(self.path)

    def test_values_that_do_not_fit_are_refused(self) -> None:
        model = random_model(EncoderConfig(), 1)
        model.tensors["head.weight"] = np.full((2, 32), 200)
        with self.assertRaisesRegex(ValueError, "head.weight"):
            model_writer.write_model(self.path, model)
        model = Model({"atto.text.buckets": 5}, {})
        with self.assertRaisesRegex(ValueError, "atto.text.buckets"):
            model_writer.write_model(self.path, model)
        model = Model({"atto.checksum": 5}, {})
        with self.assertRaisesRegex(ValueError, "set by the writer"):
            model_writer.write_model(self.path, model)


if __name__ == "__main__":
    unittest.main()
