"""Writes and reads model files in the format of docs/model_format.md.

A model is a plain ``Model``: the keys of the file with Python values, and its tensors by
name. Keys that the page lists get the type that the page gives them; the type of any
other key (``atto.text.*``) follows from its NumPy type.
"""

from __future__ import annotations

import logging
import zlib
from pathlib import Path
from typing import Any, Callable

import gguf
import numpy as np
import numpy.typing as npt

from tools.reference.model import BLOCK_MATMULS, Model, tensor_type, typed

U32 = gguf.GGUFValueType.UINT32
STRING = gguf.GGUFValueType.STRING
ARRAY = gguf.GGUFValueType.ARRAY
U8 = gguf.GGUFValueType.UINT8
I8 = gguf.GGUFValueType.INT8
U16 = gguf.GGUFValueType.UINT16

ARCHITECTURE = "atto-encoder"
FORMAT_VERSION = 1
CHECKSUM_KEY = "atto.checksum"

_SCALAR_KEYS: dict[str, gguf.GGUFValueType] = {
    "general.name": STRING,
    "atto.input": STRING,
    "atto.context_length": U32,
    "atto.embedding_length": U32,
    "atto.input_length": U32,
    "atto.block_count": U32,
    "atto.attention.head_count": U32,
    "atto.feed_forward_length": U32,
    "atto.norm": STRING,
    "atto.activation": STRING,
    "atto.pooling": STRING,
    "atto.pooling.shift": U32,
    "atto.position.shift": U32,
    "atto.token_embd.multiplier": U32,
    "atto.in_proj.shift": U32,
    "atto.head.shift": U32,
    "atto.input_norm.shift": U32,
    "atto.output_norm.shift": U32,
}
_ARRAY_KEYS: dict[str, gguf.GGUFValueType] = {
    "atto.labels": STRING,
    **{f"atto.{name}.shift": U8 for name in BLOCK_MATMULS},
    "atto.attn_score.shift": I8,
    "atto.attn_score.multiplier": U16,
    "atto.attn_norm.shift": U8,
    "atto.ffn_norm.shift": U8,
    "atto.gelu.fraction_bits": U8,
}
# Written by the writer itself, from the page.
_WRITER_KEYS = (
    "general.architecture",
    "general.alignment",
    "atto.format_version",
    CHECKSUM_KEY,
)
_TYPE_OF_NUMPY: dict[str, gguf.GGUFValueType] = {
    "uint8": U8,
    "int8": I8,
    "uint16": U16,
    "int16": gguf.GGUFValueType.INT16,
    "uint32": U32,
    "int32": gguf.GGUFValueType.INT32,
    "uint64": gguf.GGUFValueType.UINT64,
    "int64": gguf.GGUFValueType.INT64,
    "float32": gguf.GGUFValueType.FLOAT32,
    "float64": gguf.GGUFValueType.FLOAT64,
    "bool": gguf.GGUFValueType.BOOL,
}


def _add_key(writer: gguf.GGUFWriter, key: str, value: Any) -> None:
    if key in _WRITER_KEYS:
        raise ValueError(f"{key} is set by the writer")
    if key in _SCALAR_KEYS:
        value_type = _SCALAR_KEYS[key]
        writer.add_key_value(
            key, value if value_type is STRING else int(value), value_type
        )
    elif key in _ARRAY_KEYS:
        item_type = _ARRAY_KEYS[key]
        items = [v if item_type is STRING else int(v) for v in value]
        writer.add_key_value(key, items, ARRAY, sub_type=item_type)
    elif isinstance(value, str):
        writer.add_key_value(key, value, STRING)
    elif isinstance(value, np.ndarray):
        writer.add_key_value(
            key, value.tolist(), ARRAY, sub_type=_TYPE_OF_NUMPY[value.dtype.name]
        )
    elif isinstance(value, (np.generic, bool)):
        name = np.asarray(value).dtype.name
        writer.add_key_value(key, np.asarray(value).item(), _TYPE_OF_NUMPY[name])
    else:
        raise ValueError(
            f"{key}: give a str, a NumPy scalar or a NumPy array, so that its type "
            f"in the file is certain; found {type(value).__name__}"
        )


def write_model(path: Path, model: Model, alignment: int = 16) -> None:
    """Writes model to path, with version and checksum.

    Raises ValueError if a value does not fit the type that the page gives it.
    """

    def convert(array: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
        return typed(array, tensor_type(name), name)

    write_container(path, model, ARCHITECTURE, convert, alignment)


def write_container(
    path: Path,
    model: Model,
    architecture: str,
    convert: Callable[[npt.ArrayLike, str], npt.NDArray[Any]],
    alignment: int,
) -> None:
    """Writes keys and tensors; convert(array, name) gives a tensor its type."""
    logging.getLogger("gguf.gguf_writer").setLevel(logging.WARNING)
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_custom_alignment(alignment)
    writer.add_key_value("atto.format_version", FORMAT_VERSION, U32)
    writer.add_key_value(CHECKSUM_KEY, 0, U32)
    for key, value in model.keys.items():
        _add_key(writer, key, value)
    for name, array in model.tensors.items():
        if name == "text.fold_table":
            # Bytes: GGUF has no unsigned 8-bit tensors.
            data = np.ascontiguousarray(array, np.uint8).view(np.int8)
        else:
            data = convert(array, name)
        writer.add_tensor(name, data)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    _seal(path)


def _checksum_offset(path: Path) -> int:
    """Offset of the four bytes of the checksum in the file."""
    reader = gguf.GGUFReader(path)
    entry = reader.fields.get(CHECKSUM_KEY)
    if entry is None or entry.types != [U32]:
        raise ValueError(f"{path}: no {CHECKSUM_KEY} of type u32")
    return int(entry.offset) + sum(part.nbytes for part in entry.parts[:-1])


def file_checksum(path: Path) -> int:
    """CRC-32 of the file with the bytes of the checksum taken as zero."""
    data = bytearray(path.read_bytes())
    offset = _checksum_offset(path)
    data[offset : offset + 4] = bytes(4)
    return zlib.crc32(data)


def _seal(path: Path) -> None:
    offset = _checksum_offset(path)
    checksum = file_checksum(path)
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(checksum.to_bytes(4, "little"))


def read_model(path: Path) -> Model:
    """Reads a model file; raises ValueError if version, type or checksum differ."""
    return read_container(path, ARCHITECTURE, tensor_type)


def read_container(
    path: Path, architecture: str, type_of: Callable[[str], type[Any]]
) -> Model:
    """The same for a format whose tensors have the types type_of(name)."""
    reader = gguf.GGUFReader(path)
    keys: dict[str, Any] = {}
    for name, entry in reader.fields.items():
        if name.startswith("GGUF."):
            continue
        wanted = [_SCALAR_KEYS[name]] if name in _SCALAR_KEYS else None
        if name in _ARRAY_KEYS:
            wanted = [ARRAY, _ARRAY_KEYS[name]]
        if wanted is not None and entry.types != wanted:
            raise ValueError(f"{name}: type {entry.types}, expected {wanted}")
        keys[name] = _value(entry)
    if keys.get("general.architecture") != architecture:
        raise ValueError(f"{path}: architecture is not {architecture}")
    if keys.get("atto.format_version") != FORMAT_VERSION:
        raise ValueError(f"{path}: format version is not {FORMAT_VERSION}")
    if keys.get(CHECKSUM_KEY) != file_checksum(path):
        raise ValueError(f"{path}: {CHECKSUM_KEY} does not match the file")
    tensors: dict[str, npt.NDArray[Any]] = {}
    for tensor in reader.tensors:
        data = np.array(tensor.data)
        if data.dtype != np.dtype(type_of(tensor.name)):
            raise ValueError(f"{tensor.name}: type {data.dtype.name}")
        tensors[tensor.name] = data
    return Model({k: v for k, v in keys.items() if k not in _WRITER_KEYS}, tensors)


def _value(entry: gguf.ReaderField) -> Any:
    item_type = entry.types[-1]
    if item_type == STRING:
        items = [bytes(entry.parts[i]).decode("utf-8") for i in entry.data]
    else:
        items = [entry.parts[i][0] for i in entry.data]
    if entry.types[0] == ARRAY:
        return items if item_type == STRING else np.array(items)
    return items[0]
