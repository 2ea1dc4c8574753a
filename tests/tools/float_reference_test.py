"""The float reference: its files, and the twin of the integer encoder."""

from __future__ import annotations

import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

import numpy as np

from tools.reference.float_encoder import FloatEncoder, gelu
from tools.reference.float_model import (
    random_float_model,
    read_float_model,
    write_float_model,
)
from tools.reference.model import EncoderConfig
from tools.reference.model_writer import read_model

SMALL = EncoderConfig(
    context_length=9,
    embedding_length=8,
    input_length=5,
    block_count=1,
    head_count=2,
    feed_forward_length=6,
    vocabulary=16,
)


class FloatModelFile(unittest.TestCase):
    def test_round_trip(self) -> None:
        model = random_float_model(SMALL, 3)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.gguf"
            write_float_model(path, model)
            again = read_float_model(path)
            with self.assertRaisesRegex(ValueError, "architecture"):
                read_model(path)
        self.assertEqual(sorted(again.tensors), sorted(model.tensors))
        for name, array in model.tensors.items():
            np.testing.assert_array_equal(again.tensors[name], array, name)
        self.assertEqual(again.keys["atto.norm"], "pre")

    def test_illegal_parameters(self) -> None:
        for value in (256.5, np.nan, np.inf):
            model = random_float_model(SMALL, 3)
            model.tensors["head.bias"][0] = value
            with tempfile.TemporaryDirectory() as folder:
                with self.assertRaisesRegex(ValueError, "head.bias"):
                    write_float_model(Path(folder) / "model.gguf", model)


class Encoder(unittest.TestCase):
    def test_gelu(self) -> None:
        np.testing.assert_allclose(
            gelu(np.array([-1.0, 0.0, 1.0, 9.0])),
            [-0.15865525, 0.0, 0.84134475, 9.0],
            atol=1e-8,
        )

    def test_order_of_tokens(self) -> None:
        """Without positions a mean over tokens does not see their order."""
        model = random_float_model(SMALL, 5)
        tokens = [[1, 2], [3], [9, 9, 4]]
        logits = FloatEncoder(model).logits(tokens)
        np.testing.assert_allclose(FloatEncoder(model).logits(tokens[::-1]), logits)
        placed = random_float_model(replace(SMALL, positions=True), 5)
        logits = FloatEncoder(placed).logits(tokens)
        self.assertGreater(
            np.abs(FloatEncoder(placed).logits(tokens[::-1]) - logits).max(), 1e-6
        )

    def test_too_many_and_no_tokens(self) -> None:
        encoder = FloatEncoder(random_float_model(SMALL, 5))
        with self.assertRaisesRegex(ValueError, "context length"):
            encoder.logits([[1]] * 10)
        with self.assertRaisesRegex(ValueError, "no input"):
            encoder.logits([])


if __name__ == "__main__":
    unittest.main()
