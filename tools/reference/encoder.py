"""The integer encoder of docs/quantization.md in NumPy.

    logits = Encoder(read_model(path)).logits([[3, 17, 80], [5]])
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
import numpy.typing as npt

from tools.reference import ops
from tools.reference.model import Model


class Encoder:
    """Runs one input at a time; bit for bit what the device computes."""

    def __init__(self, model: Model) -> None:
        self._tensors = model.tensors
        self._keys = model.keys
        self.norm: str = self._choice("norm", ("pre", "post"))
        self.activation: str = self._choice("activation", ("gelu", "relu"))
        self.pooling: str = self._choice("pooling", ("mean", "class"))
        self.input: str = self._choice("input", ("text", "audio"))
        self.heads = int(self._key("attention.head_count"))
        self.blocks = int(self._key("block_count"))
        self.context_length = int(self._key("context_length"))

    def _key(self, name: str) -> Any:
        return self._keys[f"atto.{name}"]

    def _choice(self, name: str, legal: tuple[str, ...]) -> str:
        value = self._key(name)
        if value not in legal:
            raise ValueError(f"atto.{name}: found {value!r}, legal is {legal}")
        return value

    def _matmul_arguments(
        self, name: str, shift: int
    ) -> tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike, int]:
        tensors = self._tensors
        return (
            tensors[f"{name}.weight"],
            tensors[f"{name}.bias"],
            tensors[f"{name}.multiplier"],
            int(shift),
        )

    def _block_matmul(
        self, block: int, name: str
    ) -> tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike, int]:
        shift = self._key(f"{name}.shift")[block]
        return self._matmul_arguments(f"blk.{block}.{name}", shift)

    def _gain_and_bias(self, name: str) -> tuple[npt.ArrayLike, npt.ArrayLike]:
        return self._tensors[f"{name}.gain"], self._tensors[f"{name}.bias"]

    def _attention(self, block: int, y: ops.IntArray) -> ops.IntArray:
        return ops.attention_s8(
            ops.matmul_s8(y, *self._block_matmul(block, "attn_q")),
            ops.matmul_s8(y, *self._block_matmul(block, "attn_k")),
            ops.matmul_s8(y, *self._block_matmul(block, "attn_v")),
            self.heads,
            int(self._key("attn_score.shift")[block]),
            int(self._key("attn_score.multiplier")[block]),
        )

    def _activation(self, block: int, y: ops.IntArray) -> ops.IntArray:
        if self.activation == "relu":
            return ops.relu_s8(y)
        return ops.gelu_s8(y, int(self._key("gelu.fraction_bits")[block]))

    def input_rows(self, tokens: Sequence[Sequence[int]]) -> ops.IntArray:
        """Text tokens, each a list of feature rows -> y [n, e] int8."""
        table = self._tensors["token_embd.weight"]
        multiplier = int(self._key("token_embd.multiplier"))
        y = np.zeros((len(tokens), table.shape[1]), np.int64)
        for t, rows in enumerate(tokens):
            y[t] = ops.embedding_sum(table, np.asarray(rows, np.int64), multiplier)
        return y

    def residual_input(self, y: npt.ArrayLike) -> ops.IntArray:
        """Rows y [n, e] int8 -> residual stream x [n or n + 1, d] int16."""
        x = ops.matmul_s16(
            y, *self._matmul_arguments("in_proj", self._key("in_proj.shift"))
        )
        if self.pooling == "class":
            x = np.concatenate([self._tensors["class_embd.weight"][None], x])
        if len(x) > self.context_length:
            raise ValueError(
                f"{len(x)} tokens, the context length is {self.context_length}"
            )
        if "position_embd.weight" in self._tensors:
            position = self._tensors["position_embd.weight"][: len(x)]
            x = ops.add_position(x, position, int(self._key("position.shift")))
        return ops.check_bound(x.astype(np.int64), -32768, 32767, "residual stream")

    def blocks_pre_norm(self, x: ops.IntArray) -> ops.IntArray:
        """Residual stream x [n, d] -> rows for the pool [n, d] int8."""
        for block in range(self.blocks):
            y = self._pre_norm(f"blk.{block}.attn_norm", "attn_norm", block, x)
            y = self._attention(block, y)
            x = ops.matmul_add_s16(x, y, *self._block_matmul(block, "attn_o"))
            y = self._pre_norm(f"blk.{block}.ffn_norm", "ffn_norm", block, x)
            y = ops.matmul_s8(y, *self._block_matmul(block, "ffn_up"))
            y = self._activation(block, y)
            x = ops.matmul_add_s16(x, y, *self._block_matmul(block, "ffn_down"))
        shift = int(self._key("output_norm.shift"))
        return ops.layernorm_s8(x, *self._gain_and_bias("output_norm"), shift)

    def _pre_norm(
        self, tensor: str, key: str, block: int, x: ops.IntArray
    ) -> ops.IntArray:
        shift = int(self._key(f"{key}.shift")[block])
        return ops.layernorm_s8(x, *self._gain_and_bias(tensor), shift)

    def blocks_post_norm(self, x: ops.IntArray) -> ops.IntArray:
        """Residual stream x [n, d] -> rows for the pool [n, d] int8."""
        x = ops.layernorm_s16(x, *self._gain_and_bias("input_norm"))
        y = ops.quantise8(x, int(self._key("input_norm.shift")))
        for block in range(self.blocks):
            y = self._attention(block, y)
            x = ops.matmul_add_s16(x, y, *self._block_matmul(block, "attn_o"))
            x = ops.layernorm_s16(x, *self._gain_and_bias(f"blk.{block}.attn_norm"))
            y = ops.quantise8(x, int(self._key("attn_norm.shift")[block]))
            y = ops.matmul_s8(y, *self._block_matmul(block, "ffn_up"))
            y = self._activation(block, y)
            x = ops.matmul_add_s16(x, y, *self._block_matmul(block, "ffn_down"))
            x = ops.layernorm_s16(x, *self._gain_and_bias(f"blk.{block}.ffn_norm"))
            y = ops.quantise8(x, int(self._key("ffn_norm.shift")[block]))
        return y

    def pooled(self, y: npt.ArrayLike) -> ops.IntArray:
        """Input rows y [n, e] int8 -> pooled row [d] int8; n >= 1."""
        if len(np.asarray(y)) == 0:
            raise ValueError("no input rows: an empty input has no result")
        x = self.residual_input(y)
        run = self.blocks_pre_norm if self.norm == "pre" else self.blocks_post_norm
        rows = run(x)
        if self.pooling == "class":
            return rows[0]
        return ops.mean_pool_s8(rows, int(self._key("pooling.shift")))

    def logits_of_rows(self, y: npt.ArrayLike) -> ops.IntArray:
        """Input rows y [n, e] int8 (audio features) -> logits [c] int16."""
        head = self._matmul_arguments("head", self._key("head.shift"))
        return ops.matmul_s16(self.pooled(y)[None], *head)[0]

    def logits(self, tokens: Sequence[Sequence[int]]) -> ops.IntArray:
        """Text tokens, each a list of feature rows -> logits [c] int16."""
        return self.logits_of_rows(self.input_rows(tokens))
