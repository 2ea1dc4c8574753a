"""The encoder of docs/quantization.md in real numbers, in NumPy's float64.

    logits = FloatEncoder(read_float_model(path)).logits([[3, 17, 80], [5]])
"""

from __future__ import annotations

import math
from typing import Any, Sequence

import numpy as np
import numpy.typing as npt

from tools.reference.model import Model

FloatArray = npt.NDArray[np.float64]

# As in training; the integer LayerNorm has none.
LAYER_NORM_EPSILON = 1e-5


def gelu(x: FloatArray) -> FloatArray:
    """x Phi(x)."""
    phi = [0.5 * math.erfc(-value / math.sqrt(2)) for value in x.ravel()]
    return x * np.array(phi).reshape(x.shape)


def softmax(x: FloatArray) -> FloatArray:
    """Over the last axis."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


class FloatEncoder:
    """Runs one input at a time."""

    def __init__(self, model: Model) -> None:
        self._keys = model.keys
        self._tensors = {
            name: np.asarray(array, np.float64)
            for name, array in model.tensors.items()
            if name != "text.fold_table"
        }
        self._pre_norm = self._key("norm") == "pre"
        self._class_token = self._key("pooling") == "class"

    def _key(self, name: str) -> Any:
        return self._keys[f"atto.{name}"]

    def _linear(self, name: str, x: FloatArray) -> FloatArray:
        return x @ self._tensors[f"{name}.weight"].T + self._tensors[f"{name}.bias"]

    def _norm(self, name: str, x: FloatArray) -> FloatArray:
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = (centred**2).mean(axis=-1, keepdims=True)
        z = centred / np.sqrt(variance + LAYER_NORM_EPSILON)
        return z * self._tensors[f"{name}.gain"] + self._tensors[f"{name}.bias"]

    def _attention(self, block: str, y: FloatArray) -> FloatArray:
        n, d = y.shape
        heads = int(self._key("attention.head_count"))

        def split(name: str) -> FloatArray:
            rows = self._linear(f"{block}.{name}", y)
            return rows.reshape(n, heads, d // heads).transpose(1, 0, 2)

        q, k, v = split("attn_q"), split("attn_k"), split("attn_v")
        weights = softmax(q @ k.transpose(0, 2, 1) / math.sqrt(d // heads))
        context = (weights @ v).transpose(1, 0, 2).reshape(n, d)
        return self._linear(f"{block}.attn_o", context)

    def _feed_forward(self, block: str, y: FloatArray) -> FloatArray:
        hidden = self._linear(f"{block}.ffn_up", y)
        if self._key("activation") == "relu":
            hidden = np.maximum(hidden, 0)
        else:
            hidden = gelu(hidden)
        return self._linear(f"{block}.ffn_down", hidden)

    def _block(self, block: str, x: FloatArray) -> FloatArray:
        if self._pre_norm:
            x = x + self._attention(block, self._norm(f"{block}.attn_norm", x))
            return x + self._feed_forward(block, self._norm(f"{block}.ffn_norm", x))
        x = self._norm(f"{block}.attn_norm", x + self._attention(block, x))
        return self._norm(f"{block}.ffn_norm", x + self._feed_forward(block, x))

    def input_rows(self, tokens: Sequence[Sequence[int]]) -> FloatArray:
        """Text tokens, each a list of feature rows -> rows [n, e]."""
        table = self._tensors["token_embd.weight"]
        return np.array([table[list(rows)].sum(axis=0) for rows in tokens])

    def logits_of_rows(self, rows: npt.ArrayLike) -> FloatArray:
        """Input rows [n, e], of audio the int8 features as they are -> logits [c]."""
        y = np.asarray(rows, np.float64)
        if len(y) == 0:
            raise ValueError("no input rows: an empty input has no result")
        x = self._linear("in_proj", y)
        if self._class_token:
            x = np.concatenate([self._tensors["class_embd.weight"][None], x])
        limit = int(self._key("context_length"))
        if len(x) > limit:
            raise ValueError(f"{len(x)} tokens, the context length is {limit}")
        if "position_embd.weight" in self._tensors:
            x = x + self._tensors["position_embd.weight"][: len(x)]
        if not self._pre_norm:
            x = self._norm("input_norm", x)
        for block in range(int(self._key("block_count"))):
            x = self._block(f"blk.{block}", x)
        if self._pre_norm:
            x = self._norm("output_norm", x)
        pooled = x[0] if self._class_token else x.mean(axis=0)
        return self._linear("head", pooled)

    def logits(self, tokens: Sequence[Sequence[int]]) -> FloatArray:
        """Text tokens, each a list of feature rows -> logits [c] in nats."""
        return self.logits_of_rows(self.input_rows(tokens))
