"""The forward pass of training gives the reference's integers, bit for bit."""

from __future__ import annotations

import os
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

ROOT = Path(os.environ.get("ATTO_SOURCE_DIR", Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(ROOT))

try:
    import torch
except ImportError as error:
    raise unittest.SkipTest(f"PyTorch is missing: {error}") from error

from tools.reference import ops  # noqa: E402
from tools.reference.encoder import Encoder  # noqa: E402
from tools.train import integer_ops  # noqa: E402
from tools.train.integer_ops import QTensor  # noqa: E402
from tools.train.qat import (  # noqa: E402
    Batch,
    EncoderConfig,
    FloatEncoder,
    QuantEncoder,
    collate,
)

torch.set_num_threads(1)


def _tensor(x: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.asarray(x).astype(np.float32))


def _linear(weight, bias, multiplier, shift) -> integer_ops.LinearIntegers:
    return integer_ops.LinearIntegers(
        weight=_tensor(weight),
        bias=torch.zeros(len(bias)),
        bias_integers=torch.from_numpy(bias.astype(np.int32)),
        multiplier=torch.from_numpy(multiplier.astype(np.int32)),
        shift=shift,
        scale=1.0,
    )


class OpsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.rng = np.random.default_rng(7)

    def assert_same(self, ours: torch.Tensor, reference: np.ndarray) -> None:
        np.testing.assert_array_equal(ours.detach().numpy(), reference)

    def test_matmul(self) -> None:
        rng = self.rng
        for inner in (1, 17, 64, 1040, 1041, 4096):
            for shift in (0, 1, 9, 24):
                x = rng.integers(-127, 128, (5, inner))
                x[0] = 127
                weight = rng.integers(-127, 128, (7, inner))
                weight[0] = 127
                weight[1] = -127
                bias = rng.integers(-(1 << 30), 1 << 30, 7) >> rng.integers(0, 20, 7)
                bias[:2] = [1 << 30, -(1 << 30)]
                multiplier = rng.integers(1, 32768, 7)
                linear = _linear(weight, bias, multiplier, shift)
                q = QTensor(_tensor(x), 1.0)
                arguments = (x, weight, bias, multiplier, shift)
                self.assert_same(
                    integer_ops.matmul_s8(q, linear).q, ops.matmul_s8(*arguments)
                )
                residual = rng.integers(-32768, 32768, (5, 7))
                self.assert_same(
                    integer_ops.matmul_add_s16(
                        QTensor(_tensor(residual), 1.0), q, linear
                    ).q,
                    ops.matmul_add_s16(residual, *arguments),
                )

    def test_layernorm(self) -> None:
        rng = self.rng
        for d in (2, 3, 8, 63, 64, 511, 512):
            x = np.rint(
                rng.normal(0, 1, (300, d)) * 10.0 ** rng.uniform(-0.5, 5, (300, 1))
                + rng.normal(0, 1, (300, 1)) * 10.0 ** rng.uniform(0, 4.5, (300, 1))
            ).clip(-32768, 32767)
            x = x.astype(np.int64)
            x[0] = 32767
            x[1] = np.where(np.arange(d) % 2, -32768, 32767)
            x[2] = np.where(np.arange(d) == 1, -32768, 32767)
            gain = rng.integers(-32767, 32768, d)
            bias = rng.integers(-32768, 32768, d)
            for shift in (0, 3, 7):
                norm = integer_ops.NormIntegers(
                    gamma=torch.ones(d),
                    beta=torch.zeros(d),
                    gain=torch.from_numpy(gain.astype(np.int32)),
                    bias=torch.from_numpy(bias.astype(np.int32)),
                    shift=shift,
                    scale=1.0,
                )
                q = QTensor(_tensor(x), 1.0)
                self.assert_same(
                    integer_ops.layernorm_s16(q, norm).q,
                    ops.layernorm_s16(x, gain, bias),
                )
                self.assert_same(
                    integer_ops.layernorm_s8(q, norm).q,
                    ops.layernorm_s8(x, gain, bias, shift),
                )

    def test_activations(self) -> None:
        q = np.arange(-127, 128)
        for k in range(3, 7):
            self.assert_same(
                integer_ops.gelu_s8(QTensor(_tensor(q), 2.0**-k), k).q,
                ops.gelu_s8(q, k),
            )
        self.assert_same(
            integer_ops.relu_s8(QTensor(_tensor(q), 1.0)).q, ops.relu_s8(q)
        )

    def test_attention_ignores_padding(self) -> None:
        rng = self.rng
        for n, d, heads in ((1, 8, 1), (9, 24, 3), (40, 512, 1), (512, 8, 2)):
            for shift, m in ((-4, 32767), (2, 20000), (9, 1 << 14), (20, 3)):
                lengths = [n, max(1, n // 3)]
                q, k, v = (rng.integers(-127, 128, (2, n, d)) for _ in range(3))
                k[0, n // 2] = q[0, 0]
                mask = torch.arange(n)[None] < torch.tensor(lengths)[:, None]
                ours = integer_ops.attention_s8(
                    *(QTensor(_tensor(t), 1.0) for t in (q, k, v)),
                    mask,
                    heads,
                    shift,
                    m,
                ).q
                for i, length in enumerate(lengths):
                    rows = slice(0, length)
                    self.assert_same(
                        ours[i, rows],
                        ops.attention_s8(
                            q[i, rows], k[i, rows], v[i, rows], heads, shift, m
                        ),
                    )

    def test_weighted_mean(self) -> None:
        total = self.rng.integers(1, 65536, (4000, 1))
        total[:4, 0] = [1, 2, 32768, 65535]
        a = np.rint(self.rng.uniform(-127, 127, (4000, 3)) * total).astype(np.int64)
        a[:, 2] = 127 * total[:, 0]
        for shift in range(7):
            self.assert_same(
                integer_ops.weighted_mean8(_tensor(a), _tensor(total), shift),
                ops.weighted_mean8(a, total, shift),
            )

    def test_embedding_sum(self) -> None:
        table = self.rng.integers(-127, 128, (50, 11))
        tokens = [self.rng.integers(0, 50, size) for size in (1, 3, 255, 40)]
        offsets = torch.tensor([0, 1, 4, 259])
        for m in (1, 5000, 32767):
            ours = integer_ops.embedding_sum(
                _tensor(table),
                torch.from_numpy(np.concatenate(tokens)),
                offsets,
                m,
                1.0,
            ).q
            for i, rows in enumerate(tokens):
                self.assert_same(ours[i], ops.embedding_sum(table, rows, m))


CONFIGS = (
    EncoderConfig(),
    EncoderConfig(norm="post", positions=True),
    EncoderConfig(norm="post", pooling="class", activation="relu", classes=5),
    EncoderConfig(
        pooling="class",
        positions=True,
        embedding_length=36,
        head_count=3,
        input_length=17,
        feed_forward_length=50,
    ),
    EncoderConfig(activation="relu", positions=True, block_count=1, head_count=1),
    EncoderConfig(input="audio", input_length=40, classes=12, context_length=50),
)


class EncoderTest(unittest.TestCase):
    def _batches(self, config: EncoderConfig, rng: np.random.Generator):
        """(Batch, one reference input an entry)."""
        longest = config.context_length - (config.pooling == "class")
        lengths = [1, 2, longest, *rng.integers(1, longest + 1, 8)]
        if config.input == "audio":
            rows = [
                np.clip(np.rint(rng.normal(0, 40, (n, config.input_length))), -127, 127)
                for n in lengths
            ]
            batch = Batch(
                lengths=torch.tensor([int(n) for n in lengths]),
                features=_tensor(np.concatenate(rows)),
            )
            return batch, [r.astype(np.int64) for r in rows]
        tokens = [
            [
                rng.integers(0, config.vocabulary, rng.integers(1, 20)).tolist()
                for _ in range(n)
            ]
            for n in lengths
        ]
        return collate(tokens), tokens

    def test_logits_equal_the_reference(self) -> None:
        for number, config in enumerate(CONFIGS):
            with self.subTest(config=config):
                torch.manual_seed(number)
                rng = np.random.default_rng(number)
                float_encoder = FloatEncoder(config)
                with torch.no_grad():
                    for parameter in float_encoder.parameters():
                        parameter.add_(torch.randn_like(parameter) * 0.1)
                quantised = QuantEncoder(float_encoder)
                quantised.calibrate([self._batches(config, rng)[0] for _ in range(4)])
                optimiser = torch.optim.Adam(quantised.parameters(), 1e-3)
                for _ in range(3):
                    batch, inputs = self._batches(config, rng)
                    self._compare(quantised, batch, inputs)
                    # Move all parameters and compare again.
                    logits = quantised(batch)
                    target = torch.arange(len(inputs)) % config.classes
                    loss = torch.nn.functional.cross_entropy(logits, target)
                    optimiser.zero_grad()
                    loss.backward()
                    for name, parameter in quantised.named_parameters():
                        self.assertIsNotNone(parameter.grad, name)
                        self.assertTrue(bool(parameter.grad.isfinite().all()), name)
                    optimiser.step()

    def _compare(self, quantised, batch, inputs) -> None:
        config = quantised.config
        labels = [f"class{i}" for i in range(config.classes)]
        model = quantised.export_integers("test", labels)
        encoder = Encoder(self._through_a_file(model))
        run = encoder.logits if config.input == "text" else encoder.logits_of_rows
        expected = np.stack([run(one) for one in inputs])
        np.testing.assert_array_equal(quantised.integer_logits(batch).numpy(), expected)
        self.assertGreater(len(np.unique(expected)), 4)

    @staticmethod
    def _through_a_file(model):
        """Writes and reads the model where the gguf package is there."""
        try:
            from tools.reference.model_writer import read_model, write_model
        except ImportError:
            return model
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.gguf"
            write_model(path, model)
            return read_model(path)

    def test_state_holds_the_scales(self) -> None:
        config = EncoderConfig(norm="post")
        rng = np.random.default_rng(3)
        batch, _ = self._batches(config, rng)
        quantised = QuantEncoder(FloatEncoder(config))
        with self.assertRaisesRegex(ValueError, "calibrate"):
            quantised(batch)
        quantised.calibrate([batch])
        copy = QuantEncoder(FloatEncoder(config))
        copy.load_state_dict(quantised.state_dict())
        np.testing.assert_array_equal(
            copy.integer_logits(batch), quantised.integer_logits(batch)
        )

    def test_inputs_of_no_or_too_many_tokens(self) -> None:
        encoder = FloatEncoder(EncoderConfig())
        with self.assertRaisesRegex(ValueError, "no tokens"):
            encoder(collate([[[1]], []]))
        with self.assertRaisesRegex(ValueError, "context length"):
            encoder(collate([[[1]] * 65]))

    def test_gradients_follow_the_float_encoder(self) -> None:
        """Straight-through gradients point where the float gradients point."""
        for config in CONFIGS:
            with self.subTest(config=config):
                torch.manual_seed(1)
                rng = np.random.default_rng(1)
                float_encoder = FloatEncoder(config)
                quantised = QuantEncoder(float_encoder)
                batch, inputs = self._batches(config, rng)
                quantised.calibrate([batch])
                # One class for all: gradients of the inputs do not cancel.
                target = torch.zeros(len(inputs), dtype=torch.int64)
                gradients = []
                for module in (float_encoder, quantised):
                    float_encoder.zero_grad()
                    logits = module(batch)
                    torch.nn.functional.cross_entropy(logits, target).backward()
                    gradients.append(
                        {n: p.grad.clone() for n, p in float_encoder.named_parameters()}
                    )
                for name, exact in gradients[0].items():
                    if name.endswith("attn_k.bias"):
                        continue  # zero but for rounding: softmax is shift-invariant
                    ours = gradients[1][name]
                    difference = float((ours - exact).norm() / exact.norm())
                    self.assertLess(difference, 0.25, name)


if __name__ == "__main__":
    unittest.main()
