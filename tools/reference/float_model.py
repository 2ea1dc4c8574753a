"""Float models: their files, and random ones for tests.

The float format of docs/model_format.md has the keys and tensors of the integer one
without shifts and multipliers; every tensor but the fold table is float32.

    model = trained_float_model(config, encoder.state_dict(), name, labels, ...)
    write_float_model(path, model)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tools.reference.model import (
    BLOCK_MATMULS,
    EncoderConfig,
    Model,
    tensor_type,
    typed,
)
from tools.reference.model_writer import read_container, write_container
from tools.reference.random_model import EMPTY_FOLD_TABLE, audio_params, text_keys

ARCHITECTURE = "atto-encoder-f32"
# No parameter is larger: docs/model_format.md.
MAX_PARAMETER = 256.0


def _tensor_type(name: str) -> type[Any]:
    if name == "text.fold_table" or name.startswith("audio."):
        return tensor_type(name)
    return np.float32


def _float32(array: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
    if name.startswith("audio."):
        return typed(array, tensor_type(name), name)
    values = np.ascontiguousarray(array, np.float32)
    if not np.all(np.abs(values) <= MAX_PARAMETER):
        raise ValueError(f"{name}: a value is not in [-256, 256]")
    return values


def write_float_model(path: Path, model: Model, alignment: int = 16) -> None:
    """Writes a float model to path, with version and checksum.

    Raises ValueError if a parameter is NaN or beyond [-256, 256].
    """
    write_container(path, model, ARCHITECTURE, _float32, alignment)


def read_float_model(path: Path) -> Model:
    """Reads one; raises ValueError if version, type or checksum differ."""
    return read_container(path, ARCHITECTURE, _tensor_type)


def float_keys(
    config: EncoderConfig, name: str, labels: Sequence[str]
) -> dict[str, Any]:
    """The keys of a float model, the tokenizer's (``atto.text.*``) aside."""
    return {
        "general.name": name,
        "atto.input": config.input,
        "atto.context_length": config.context_length,
        "atto.embedding_length": config.embedding_length,
        "atto.input_length": config.input_length,
        "atto.block_count": config.block_count,
        "atto.attention.head_count": config.head_count,
        "atto.feed_forward_length": config.feed_forward_length,
        "atto.norm": config.norm,
        "atto.activation": config.activation,
        "atto.pooling": config.pooling,
        "atto.labels": list(labels),
    }


# Names in training (FloatEncoder.state_dict) of what is neither layer nor norm.
_TRAINED_NAMES = {
    "table": "token_embd.weight",
    "position": "position_embd.weight",
    "class_token": "class_embd.weight",
}


def _tensor_name(trained: str) -> str:
    """blocks.1.attn_norm.weight -> blk.1.attn_norm.gain"""
    if trained in _TRAINED_NAMES:
        return _TRAINED_NAMES[trained]
    name = trained.replace("blocks.", "blk.", 1)
    if name.endswith("_norm.weight"):
        name = name[: -len("weight")] + "gain"
    return name


def trained_float_model(
    config: EncoderConfig,
    parameters: Mapping[str, npt.ArrayLike],
    name: str,
    labels: Sequence[str],
    extra_keys: Mapping[str, Any] | None = None,
    extra_tensors: Mapping[str, npt.NDArray[Any]] | None = None,
    input_scale: float = 1.0,
) -> Model:
    """The float model of a trained FloatEncoder.

    parameters: its state_dict, on the CPU. extras: the front end's keys and tensors.
    input_scale: real value of one unit of the audio features; it goes into in_proj.
    """
    if len(labels) != config.classes:
        raise ValueError(f"{len(labels)} labels for {config.classes} classes")
    model = Model(float_keys(config, name, labels))
    for trained, values in parameters.items():
        tensor = _tensor_name(trained)
        array = np.asarray(values, np.float64)
        if tensor == "in_proj.weight" and config.input == "audio":
            array = array * input_scale
        model.tensors[tensor] = _float32(array, tensor)
    model.keys.update(extra_keys or {})
    model.tensors.update(extra_tensors or {})
    return model


def random_float_model(config: EncoderConfig, seed: int) -> Model:
    """A random float model of any legal shape, the same for the same seed."""
    rng = np.random.default_rng(seed)
    d, f = config.embedding_length, config.feed_forward_length
    labels = [f"class{i}" for i in range(config.classes)]
    model = Model(float_keys(config, "random", labels))
    tensors = model.tensors

    def linear(name: str, out: int, inner: int) -> None:
        std = 1.5 / np.sqrt(inner)
        tensors[f"{name}.weight"] = rng.normal(0, std, (out, inner))
        tensors[f"{name}.bias"] = rng.normal(0, 0.3, out)

    def norm(name: str) -> None:
        sign = rng.choice([-1, 1], d, p=[0.1, 0.9])
        tensors[f"{name}.gain"] = rng.uniform(0.5, 1.5, d) * sign
        tensors[f"{name}.bias"] = rng.normal(0, 0.2, d)

    # What enters the projection has an rms of about one unit.
    if config.input == "text":
        model.keys.update(text_keys(config.vocabulary))
        tensors["text.fold_table"] = EMPTY_FOLD_TABLE
        shape = (config.vocabulary, config.input_length)
        tensors["token_embd.weight"] = rng.normal(0, 0.35, shape)
    linear("in_proj", d, config.input_length)
    if config.input == "audio":
        tensors["in_proj.weight"] /= 32
        params = audio_params(config.input_length)
        model.keys.update(params.metadata())
        tensors.update(params.tensors())
    if config.positions:
        tensors["position_embd.weight"] = rng.normal(0, 0.5, (config.context_length, d))
    if config.pooling == "class":
        tensors["class_embd.weight"] = rng.normal(0, 1, d)
    norm("input_norm" if config.norm == "post" else "output_norm")
    for block in range(config.block_count):
        for name in BLOCK_MATMULS:
            out = f if name == "ffn_up" else d
            linear(f"blk.{block}.{name}", out, f if name == "ffn_down" else d)
        norm(f"blk.{block}.attn_norm")
        norm(f"blk.{block}.ffn_norm")
    linear("head", config.classes, d)
    for name, array in tensors.items():
        if name != "text.fold_table":
            tensors[name] = _float32(array, name)
    return model
