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


def loaded_encoder(model: Model):
    """Training's integer encoder with a model file's integers for parameters."""
    import torch
    from tools.train.integer_ops import LinearIntegers, NormIntegers
    from tools.train.qat import EncoderConfig, FloatEncoder, QuantEncoder, _Integers

    keys, tensors = model.keys, model.tensors
    blocks = range(int(keys["atto.block_count"]))

    def number(name: str) -> torch.Tensor:
        return torch.from_numpy(tensors[name].astype(np.float32))

    def whole(name: str) -> torch.Tensor:
        return torch.from_numpy(tensors[name].astype(np.int32))

    def linear(site: str, shift: int, scale: float = 1.0) -> LinearIntegers:
        bias = whole(f"{site}.bias")
        return LinearIntegers(
            weight=number(f"{site}.weight"),
            bias=torch.zeros(len(bias)),
            bias_integers=bias,
            multiplier=whole(f"{site}.multiplier"),
            shift=int(shift),
            scale=scale,
        )

    def norm(site: str, shift: int) -> NormIntegers:
        gain = whole(f"{site}.gain")
        return NormIntegers(
            gamma=torch.ones(len(gain)),
            beta=torch.zeros(len(gain)),
            gain=gain,
            bias=whole(f"{site}.bias"),
            shift=int(shift),
            scale=1.0,
        )

    class LoadedEncoder(QuantEncoder):
        def _integers(self) -> _Integers:
            parts = _Integers()
            for site in ("in_proj", "head"):
                parts.linears[site] = linear(site, keys[f"atto.{site}.shift"])
            parts.norms["output_norm"] = norm(
                "output_norm", keys["atto.output_norm.shift"]
            )
            for block in blocks:
                for name in BLOCK_MATMULS:
                    site = f"blk.{block}.{name}"
                    shift = keys[f"atto.{name}.shift"][block]
                    # GELU checks that its input has the scale of its bits.
                    up = name == "ffn_up"
                    scale = 2.0 ** -self._fraction_bits(block) if up else 1.0
                    parts.linears[site] = linear(site, shift, scale)
                for name in ("attn_norm", "ffn_norm"):
                    site = f"blk.{block}.{name}"
                    parts.norms[site] = norm(site, keys[f"atto.{name}.shift"][block])
            return parts

        def _table(self) -> tuple[torch.Tensor, int]:
            multiplier = int(keys["atto.token_embd.multiplier"])
            return number("token_embd.weight"), multiplier

        def _score(self, block: int) -> tuple[int, int]:
            return (
                int(keys["atto.attn_score.shift"][block]),
                int(keys["atto.attn_score.multiplier"][block]),
            )

        def _fraction_bits(self, block: int) -> int:
            return int(keys["atto.gelu.fraction_bits"][block])

    vocabulary, input_length = tensors["token_embd.weight"].shape
    config = EncoderConfig(
        context_length=int(keys["atto.context_length"]),
        embedding_length=int(keys["atto.embedding_length"]),
        input_length=input_length,
        block_count=len(blocks),
        head_count=int(keys["atto.attention.head_count"]),
        feed_forward_length=int(keys["atto.feed_forward_length"]),
        classes=len(keys["atto.labels"]),
        vocabulary=vocabulary,
        norm=keys["atto.norm"],
        activation=keys["atto.activation"],
        pooling=keys["atto.pooling"],
        positions="position_embd.weight" in tensors,
    )
    encoder = LoadedEncoder(FloatEncoder(config))
    # Other real scales have no part in the integers; the forward pass carries them.
    encoder.scales = {"input": 1.0}
    encoder._pool_shift = int(keys["atto.pooling.shift"])
    return encoder


if __name__ == "__main__":
    unittest.main()
