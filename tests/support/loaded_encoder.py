"""Training's integer encoder with the integers of a model file."""

from __future__ import annotations

import numpy as np
import torch

from tools.reference.model import BLOCK_MATMULS, Model
from tools.train.integer_ops import LinearIntegers, NormIntegers
from tools.train.qat import EncoderConfig, FloatEncoder, QuantEncoder, _Integers


def loaded_encoder(model: Model) -> QuantEncoder:
    """Training's integer encoder with a model file's integers for parameters."""
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

        def _position(self, scale: float) -> tuple[torch.Tensor, int]:
            del scale
            return number("position_embd.weight"), int(keys["atto.position.shift"])

        def _score(self, block: int) -> tuple[int, int]:
            return (
                int(keys["atto.attn_score.shift"][block]),
                int(keys["atto.attn_score.multiplier"][block]),
            )

        def _fraction_bits(self, block: int) -> int:
            return int(keys["atto.gelu.fraction_bits"][block])

    table = tensors.get("token_embd.weight")
    config = EncoderConfig(
        context_length=int(keys["atto.context_length"]),
        embedding_length=int(keys["atto.embedding_length"]),
        input_length=int(keys["atto.input_length"]),
        block_count=len(blocks),
        head_count=int(keys["atto.attention.head_count"]),
        feed_forward_length=int(keys["atto.feed_forward_length"]),
        classes=len(keys["atto.labels"]),
        vocabulary=1 if table is None else len(table),
        input=keys["atto.input"],
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
