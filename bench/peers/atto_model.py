"""An atto model as real numbers, for runtimes that compute with floats.

The scales that the integers imply are folded into the weights, so that another runtime
gives the same logits, up to the rounding and clipping of the integers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tools.reference.model import Model

Array = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Linear:
    """y = x weight + bias: weight [in, out], bias [out]."""

    weight: Array
    bias: Array


@dataclass(frozen=True)
class Norm:
    """Layer normalisation without an epsilon: gain [d], bias [d]."""

    gain: Array
    bias: Array


@dataclass(frozen=True)
class Block:
    """An encoder block; pre-norm and post-norm differ in where the norms stand."""

    attn_norm: Norm
    q: Linear  # so scaled that the scores are q k^T / sqrt(d_head)
    k: Linear
    v: Linear
    o: Linear
    ffn_norm: Norm
    up: Linear
    down: Linear


@dataclass(frozen=True)
class FloatModel:
    """An encoder over rows [n, e] of the integers -127..127, as floats."""

    heads: int
    post_norm: bool
    activation: str  # gelu or relu
    class_token: Array | None  # [d]
    positions: Array | None  # [n_max, d]
    in_proj: Linear
    outer_norm: Norm  # before the first block (post) or after the last (pre)
    blocks: list[Block]
    head: Linear  # to logits in nats


def noise_rows(rows: int, columns: int) -> npt.NDArray[np.int8]:
    """The input that atto_bench uses: bench/support/memory.h, Noise."""
    state, values = 1, []
    for _ in range(rows * columns):
        state = (state * 1664525 + 1013904223) % (1 << 32)
        values.append((state >> 8) % 255 - 127)
    return np.array(values, np.int8).reshape(rows, columns)


def float_model(model: Model) -> FloatModel:
    """The real numbers behind a model's integers; docs/quantization.md."""
    keys, tensors = model.keys, model.tensors
    post = keys["atto.norm"] == "post"
    heads = int(keys["atto.attention.head_count"])
    d_head = int(keys["atto.embedding_length"]) // heads
    gelu = keys["atto.activation"] == "gelu"

    def linear(
        name: str, shift: int, input_scale: float = 1.0, output_scale: float = 1.0
    ) -> Linear:
        shift = int(shift)
        unit = tensors[f"{name}.multiplier"] * 2.0 ** -(shift + 15) * output_scale
        half = 2.0 ** (shift - 1) if shift > 0 else 0.0
        weight = tensors[f"{name}.weight"].astype(float) * unit[:, None] * input_scale
        bias = (tensors[f"{name}.bias"] - half) * unit
        return Linear(weight.T.astype(np.float32), bias.astype(np.float32))

    def norm(name: str, shift: int) -> Norm:
        # Post-norm keeps 16 bits: the shift is that of the int8 view alone.
        unit = 1.0 if post else 2.0 ** -int(shift)
        gain = tensors[f"{name}.gain"] * unit * 512 / 32768
        bias = tensors[f"{name}.bias"] * unit
        return Norm(gain.astype(np.float32), bias.astype(np.float32))

    def view(shift: int) -> float:
        """What the int8 view of the residual stream is a multiple of."""
        return 2.0 ** -int(shift) if post else 1.0

    def block(i: int, input_shift: int) -> Block:
        prefix = f"blk.{i}"
        shifts = {
            name: keys[f"atto.{name}.shift"][i]
            for name in ("attn_norm", "ffn_norm", "attn_q", "attn_k", "attn_v")
            + ("attn_o", "ffn_up", "ffn_down")
        }
        score = (
            float(keys["atto.attn_score.multiplier"][i])
            * 2.0 ** (-15 - int(keys["atto.attn_score.shift"][i]) - 11)
            * np.log(2)
            * np.sqrt(d_head)
        )
        fraction = int(keys["atto.gelu.fraction_bits"][i]) if gelu else 0
        seen = view(input_shift)
        return Block(
            attn_norm=norm(f"{prefix}.attn_norm", shifts["attn_norm"]),
            q=linear(f"{prefix}.attn_q", shifts["attn_q"], seen, score),
            k=linear(f"{prefix}.attn_k", shifts["attn_k"], seen),
            v=linear(f"{prefix}.attn_v", shifts["attn_v"], seen),
            o=linear(f"{prefix}.attn_o", shifts["attn_o"]),
            ffn_norm=norm(f"{prefix}.ffn_norm", shifts["ffn_norm"]),
            up=linear(
                f"{prefix}.ffn_up",
                shifts["ffn_up"],
                view(shifts["attn_norm"]),
                2.0**-fraction,
            ),
            down=linear(f"{prefix}.ffn_down", shifts["ffn_down"], 2.0**fraction),
        )

    outer = "input_norm" if post else "output_norm"
    # Post-norm: a block reads the stream through the shift of the norm before it.
    input_shift = int(keys[f"atto.{outer}.shift"])
    blocks = []
    for i in range(int(keys["atto.block_count"])):
        blocks.append(block(i, input_shift))
        input_shift = int(keys["atto.ffn_norm.shift"][i])
    pooled = view(input_shift)
    mean = keys["atto.pooling"] == "mean"
    if mean:
        pooled *= 2.0 ** (6 - int(keys["atto.pooling.shift"]))
    class_token = positions = None
    if not mean:
        class_token = tensors["class_embd.weight"].astype(np.float32)
    if "position_embd.weight" in tensors:
        unit = 1 << int(keys["atto.position.shift"])
        positions = (tensors["position_embd.weight"].astype(float) * unit).astype(
            np.float32
        )
    return FloatModel(
        heads=heads,
        post_norm=post,
        activation=keys["atto.activation"],
        class_token=class_token,
        positions=positions,
        in_proj=linear("in_proj", keys["atto.in_proj.shift"]),
        outer_norm=norm(outer, keys[f"atto.{outer}.shift"]),
        blocks=blocks,
        head=linear("head", keys["atto.head.shift"], pooled, 1 / 256),
    )
