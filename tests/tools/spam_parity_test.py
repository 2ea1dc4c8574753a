"""PyTorch, NumPy and C++ give the same logits for the shipped model, bit for bit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np

ROOT = Path(os.environ.get("ATTO_SOURCE_DIR", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("ATTO_BUILD_DIR", ROOT / "build" / "host"))
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "tools" / "text"))

try:
    from tools.reference.model_writer import read_model
except ImportError as error:
    raise unittest.SkipTest(f"{error}: run tools/dev setup") from error

from device_text import KEY_PREFIX, DeviceTokenizer, TextParams  # noqa: E402
from tools.reference.encoder import Encoder  # noqa: E402
from tools.reference.model import BLOCK_MATMULS, Model  # noqa: E402
from tools.train.tsv import read_tsv  # noqa: E402

MODEL = ROOT / "models" / "spam.gguf"
ATTO = BUILD / "atto"
TEST_SET = ROOT.parent / "shared" / "data" / "sms" / "test.tsv"
OWN_MESSAGES = ROOT / "tools" / "demo" / "messages.txt"

if not MODEL.is_file():
    raise unittest.SkipTest(f"{MODEL} is missing")
if not ATTO.is_file():
    raise unittest.SkipTest(f"{ATTO} is missing: the tools are not built")


def read_messages() -> list[str]:
    """The test set where it is; otherwise the project's own messages."""
    if TEST_SET.is_file():
        return read_tsv(TEST_SET)[1]
    print(f"{TEST_SET} is missing: {OWN_MESSAGES} instead")
    return OWN_MESSAGES.read_text("utf-8").splitlines()


def device_logits(messages: list[str]) -> list[list[int] | None]:
    """Logits of the command line tool; None: no token."""
    run = subprocess.run(
        [ATTO, "classify", MODEL, "-", "--json"],
        input="".join(f"{message}\n" for message in messages).encode(),
        capture_output=True,
        check=True,
    )
    results = [json.loads(line) for line in run.stdout.splitlines()]
    return [
        list(result["logits"].values()) if result.get("tokens") else None
        for result in results
    ]


def tokenizer_of(model: Model) -> DeviceTokenizer:
    """The front end that the model file describes."""
    params = {
        key.removeprefix(KEY_PREFIX): int(value)
        for key, value in model.keys.items()
        if key.startswith(KEY_PREFIX)
    }
    fold_table = model.tensors["text.fold_table"].tobytes()
    return DeviceTokenizer(TextParams(**params), fold_table)


class SpamParityTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.model = read_model(MODEL)
        tokenizer = tokenizer_of(cls.model)
        context = int(cls.model.keys["atto.context_length"])
        cls.messages = read_messages()
        cls.tokens = []
        for message in cls.messages:
            found = tokenizer.tokenize(message, context)
            rows = found.split_rows() if len(found) else []
            cls.tokens.append([one.tolist() for one in rows])
        reference = Encoder(cls.model)
        cls.logits = [
            reference.logits(tokens).tolist() if tokens else None
            for tokens in cls.tokens
        ]

    def test_messages_differ(self) -> None:
        distinct = {tuple(logits) for logits in self.logits if logits}
        self.assertGreater(len(distinct), len(self.messages) // 2)

    def test_device_equals_reference(self) -> None:
        found = device_logits(self.messages)
        self.assertEqual(len(found), len(self.logits))
        for number, (device, reference) in enumerate(zip(found, self.logits), 1):
            self.assertEqual(device, reference, f"message {number}")

    def test_pytorch_equals_reference(self) -> None:
        try:
            import torch
        except ImportError as error:
            raise unittest.SkipTest(f"PyTorch is missing: {error}") from error
        from tests.support.loaded_encoder import loaded_encoder
        from tools.train.qat import collate

        torch.set_num_threads(1)
        encoder = loaded_encoder(self.model)
        for start in range(0, len(self.tokens), 64):
            part = [
                (tokens, logits)
                for tokens, logits in zip(
                    self.tokens[start : start + 64], self.logits[start : start + 64]
                )
                if tokens
            ]
            found = encoder.integer_logits(collate([tokens for tokens, _ in part]))
            np.testing.assert_array_equal(found, [logits for _, logits in part])

    def test_neighbouring_weights_can_be_multiplied_as_pairs(self) -> None:
        names = [n for n in self.model.tensors if n.endswith(".weight")]
        matrices = [n for n in names if not n.endswith("_embd.weight")]
        self.assertGreaterEqual(len(matrices), 2 + len(BLOCK_MATMULS))
        for name in matrices:
            weight = np.abs(self.model.tensors[name].astype(np.int64))
            even = weight.shape[1] // 2 * 2
            pairs = weight[:, :even].reshape(len(weight), -1, 2).sum(2)
            self.assertLessEqual(int(pairs.max()), 128, name)


if __name__ == "__main__":
    unittest.main()
