"""A model as plain integers, by the names of docs/model_format.md."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

BLOCK_MATMULS = ("attn_q", "attn_k", "attn_v", "attn_o", "ffn_up", "ffn_down")


@dataclass(frozen=True)
class EncoderConfig:
    """Shape of an encoder, in the words of docs/model_format.md."""

    context_length: int = 64
    embedding_length: int = 32
    input_length: int = 24
    block_count: int = 2
    head_count: int = 4
    feed_forward_length: int = 64
    classes: int = 2
    vocabulary: int = 200
    input: str = "text"
    norm: str = "pre"
    activation: str = "gelu"
    pooling: str = "mean"
    positions: bool = False


@dataclass
class Model:
    """Keys (without the four that the writer sets) and tensors of a model file."""

    keys: dict[str, Any] = field(default_factory=dict)
    tensors: dict[str, npt.NDArray[Any]] = field(default_factory=dict)


def tensor_type(name: str) -> type[np.signedinteger[Any]]:
    """The element type that the page gives to a tensor."""
    if name in ("token_embd.weight", "position_embd.weight", "text.fold_table"):
        return np.int8
    if name == "class_embd.weight" or name.startswith("audio."):
        return np.int16
    stem, _, part = name.rpartition(".")
    if stem.endswith("_norm"):
        return np.int16
    return {"weight": np.int8, "bias": np.int32, "multiplier": np.int16}[part]


def typed(array: npt.ArrayLike, dtype: type[Any], name: str) -> npt.NDArray[Any]:
    """array as dtype; ValueError rather than a silent wrap-around."""
    source = np.asarray(array)
    typed = source.astype(dtype)
    if not np.array_equal(source, typed):
        raise ValueError(f"{name}: a value does not fit {np.dtype(dtype).name}")
    return np.ascontiguousarray(typed)
