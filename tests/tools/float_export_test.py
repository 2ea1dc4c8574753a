"""A trained float encoder and its exported file give the same logits."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

import numpy as np

from tools.reference.float_encoder import FloatEncoder
from tools.reference.float_model import (
    read_float_model,
    trained_float_model,
    write_float_model,
)
from tools.reference.model import EncoderConfig
from tools.reference.random_model import EMPTY_FOLD_TABLE, text_keys

try:
    import torch

    from tools.train import qat
except ImportError as missing:
    raise unittest.SkipTest(f"training is not set up: {missing}") from missing

TEXT = EncoderConfig(vocabulary=64, positions=True)
AUDIO = EncoderConfig(
    input="audio", norm="post", pooling="class", activation="relu", classes=12
)


def exported(config: EncoderConfig, encoder: "qat.FloatEncoder") -> FloatEncoder:
    text = config.input == "text"
    model = trained_float_model(
        config,
        encoder.state_dict(),
        "export",
        [f"class{i}" for i in range(config.classes)],
        text_keys(config.vocabulary) if text else None,
        {"text.fold_table": EMPTY_FOLD_TABLE} if text else None,
        encoder.input_scale,
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.gguf"
        write_float_model(path, model)
        return FloatEncoder(read_float_model(path))


def trained(config: EncoderConfig) -> "qat.FloatEncoder":
    """One whose every parameter matters: nothing is zero or one."""
    torch.manual_seed(1)
    encoder = qat.FloatEncoder(config).eval()
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return encoder


class Export(unittest.TestCase):
    def test_text(self) -> None:
        encoder = trained(TEXT)
        inputs = [[[1, 5, 5], [63]], [[9], [8, 7], [0, 2]]]
        wanted = encoder(qat.collate(inputs)).detach().numpy()
        twin = exported(TEXT, encoder)
        for tokens, logits in zip(inputs, wanted):
            np.testing.assert_allclose(twin.logits(tokens), logits, atol=1e-4)

    def test_audio(self) -> None:
        encoder = trained(AUDIO)
        rng = np.random.default_rng(2)
        features = rng.integers(-127, 128, (9, AUDIO.input_length))
        batch = qat.Batch(
            lengths=torch.tensor([9]),
            features=torch.from_numpy(features.astype(np.float32)),
        )
        wanted = encoder(batch).detach().numpy()[0]
        twin = exported(AUDIO, encoder)
        np.testing.assert_allclose(twin.logits_of_rows(features), wanted, atol=1e-4)


if __name__ == "__main__":
    unittest.main()
