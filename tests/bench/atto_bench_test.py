"""atto_bench: its JSON, its checksum on every backend, its errors."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import unittest
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from bench.peers.atto_model import noise_rows
from tools.reference.encoder import Encoder
from tools.reference.float_model import random_float_model, write_float_model
from tools.reference.model import EncoderConfig
from tools.reference.model_writer import read_model

BENCH = Path(os.environ["ATTO_BUILD_DIR"]) / "atto_bench"
MODELS = Path(os.environ["ATTO_SOURCE_DIR"]) / "tests" / "golden" / "models"
KEYS = (
    "model backend tokens ns_per_token_min ns_per_token_median gmacs peak_gmacs "
    "arena_bytes weight_bytes logits_crc32 ops"
).split()

if not BENCH.is_file():
    raise unittest.SkipTest("this build has no atto_bench")


def bench(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BENCH, *map(str, arguments)], capture_output=True, text=True, check=False
    )


def figures(*arguments: object) -> Any:
    result = bench(*arguments, "--json", "--seconds", 0.005)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return json.loads(result.stdout)


def expected_crc32(path: Path, tokens: int) -> str:
    """Of the logits of the NumPy reference, over the rows that atto_bench uses."""
    model = read_model(path)
    own_rows = int(model.keys["atto.pooling"] == "class")
    rows = noise_rows(tokens - own_rows, int(model.keys["atto.input_length"]))
    logits = Encoder(model).logits_of_rows(rows)
    return f"{zlib.crc32(np.asarray(logits, '<i2').tobytes()):08x}"


class AttoBenchTest(unittest.TestCase):
    def test_every_backend_gives_the_checksum_of_the_reference(self) -> None:
        names = bench("--list-backends").stdout.split()
        self.assertEqual(names[0], "ref")
        backends = [name for name in names if not name.startswith("f32_")]
        for path in sorted(MODELS.glob("p*.gguf")):
            expected = expected_crc32(path, 5)
            for backend in backends:
                with self.subTest(model=path.name, backend=backend):
                    found = figures(path, "--tokens", 5, "--backend", backend)
                    self.assertEqual(found["logits_crc32"], expected)
                    self.assertEqual(found["backend"], backend)

    def test_json_has_the_figures(self) -> None:
        found = figures(MODELS / "pre_mean_gelu.gguf", "--tokens", 7)
        for key in KEYS:
            self.assertIn(key, found)
        self.assertEqual(found["tokens"], 7)
        self.assertLessEqual(found["ns_per_token_min"], found["ns_per_token_median"])
        self.assertGreater(found["ns_per_token_min"], 0)
        macs = sum(op["multiply_adds"] for op in found["ops"])
        self.assertEqual(macs, found["multiply_adds"])
        self.assertIn("attention_s8", {op["op"] for op in found["ops"]})

    def test_float_models_have_no_checksum(self) -> None:
        if "f32_ref" not in bench("--list-backends").stdout.split():
            self.skipTest("this build has no float encoder")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.f32.gguf"
            write_float_model(path, random_float_model(EncoderConfig(), seed=1))
            found = figures(path, "--tokens", 7)
        self.assertTrue(found["backend"].startswith("f32_"))
        self.assertIsNone(found["logits_crc32"])
        self.assertGreater(found["weight_bytes"], 0)

    def test_several_numbers_of_tokens_give_a_list(self) -> None:
        found = figures(MODELS / "pre_mean_gelu.gguf", "--tokens", "1,3", "--no-ops")
        self.assertEqual([one["tokens"] for one in found], [1, 3])
        self.assertEqual(found[0]["ops"], [])

    def test_errors_are_sentences(self) -> None:
        model = MODELS / "pre_class_relu.gguf"
        for arguments, status, words in (
            ((), 2, "model is required"),
            (("missing.gguf",), 1, "missing.gguf: No such file or directory"),
            ((__file__,), 1, "atto_bench_test.py: "),
            ((model, "--tokens", 1), 1, "not 1"),
            ((model, "--backend", "abacus"), 1, "there are ref"),
            ((model, "--seconds", 0), 2, "--seconds"),
        ):
            with self.subTest(arguments=arguments):
                result = bench(*arguments)
                self.assertEqual(result.returncode, status, result.stderr)
                self.assertIn(words, result.stderr)


if __name__ == "__main__":
    unittest.main()
