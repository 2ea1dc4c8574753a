#!/usr/bin/env python3
"""Turns a model file into C++ constants: NAME.h and NAME.cc.

The bytes are those of the file, aligned as atto wants them; with --tokens the
embedded model takes fewer tokens than the file, and so less memory. With --reader,
the program made of embed_parts.cc, the model is read as a device would read it, and
what the reader found out becomes a constant, too: then the device needs no reader.
Needs nothing beyond Python's own library.
"""

from __future__ import annotations

import argparse
import re
import struct
import subprocess
import sys
import tempfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# GGUF's numbers of the value types, and how struct names them.
_SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
_STRING = 8
_ARRAY = 9


class ModelError(Exception):
    """The file is not a model that can be embedded."""


@dataclass
class ModelFile:
    """Keys of a GGUF file, and where in it their values stand."""

    data: bytearray
    keys: dict[str, Any] = field(default_factory=dict)
    offsets: dict[str, int] = field(default_factory=dict)
    tensors: set[str] = field(default_factory=set)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def scalar(self, code: str) -> Any:
        (value,) = struct.unpack_from("<" + code, self._data, self.at)
        self.at += struct.calcsize("<" + code)
        return value

    def string(self) -> str:
        size = self.scalar("Q")
        if self.at + size > len(self._data):
            raise ModelError("the file ends within a string")
        self.at += size
        return bytes(self._data[self.at - size : self.at]).decode()

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.string()
        if kind == _ARRAY:
            element = self.scalar("I")
            count = self.scalar("Q")
            if count > len(self._data):
                raise ModelError("the file ends within an array")
            return [self.value(element) for _ in range(count)]
        if kind not in _SCALARS:
            raise ModelError(f"unknown type {kind} of a value")
        return self.scalar(_SCALARS[kind])


def read_model(data: bytes) -> ModelFile:
    """The keys of a GGUF file. Raises ModelError."""
    if data[:4] != b"GGUF":
        raise ModelError("not a GGUF file")
    model = ModelFile(bytearray(data))
    reader = _Reader(data)
    reader.at = 8
    try:
        tensor_count = reader.scalar("Q")
        for _ in range(reader.scalar("Q")):
            name = reader.string()
            kind = reader.scalar("I")
            model.offsets[name] = reader.at
            model.keys[name] = reader.value(kind)
        for _ in range(tensor_count):
            model.tensors.add(reader.string())
            rank = reader.scalar("I")
            for _ in range(rank):
                reader.scalar("Q")
            reader.scalar("I")
            reader.scalar("Q")
    except (struct.error, UnicodeDecodeError) as error:
        raise ModelError(f"damaged: {error}") from error
    if model.keys.get("general.architecture") != "atto-encoder":
        raise ModelError("not an integer model (general.architecture)")
    return model


def limit_tokens(model: ModelFile, tokens: int) -> None:
    """Makes the model take at most `tokens` tokens. Raises ModelError."""
    key = "atto.context_length"
    if not 1 <= tokens <= model.keys[key]:
        raise ModelError(f"takes 1 to {model.keys[key]} tokens, not {tokens}")
    if "position_embd.weight" in model.tensors:
        raise ModelError("has position embeddings: --tokens would not fit them")
    model.keys[key] = tokens
    struct.pack_into("<I", model.data, model.offsets[key], tokens)
    checksum = model.offsets["atto.checksum"]
    struct.pack_into("<I", model.data, checksum, 0)
    struct.pack_into("<I", model.data, checksum, zlib.crc32(model.data))


_SHAPE = (
    ("tokens", "atto.context_length"),
    ("d_model", "atto.embedding_length"),
    ("heads", "atto.attention.head_count"),
    ("d_ffn", "atto.feed_forward_length"),
    ("blocks", "atto.block_count"),
    ("d_input", "atto.input_length"),
)
_CHOICES = (
    ("Norm", "atto.norm"),
    ("Activation", "atto.activation"),
    ("Pooling", "atto.pooling"),
    ("Input", "atto.input"),
)


_AUDIO = (
    *("sample_rate", "frame_length", "hop_length", "fft_length"),
    *("bins", "patch_frames", "patch_stride"),
)


def audio_initializer(model: ModelFile) -> str:
    """The model's atto::AudioShape, all zero unless it hears."""
    if model.keys["atto.input"] != "audio":
        return "{}"
    keys = model.keys
    return "{" + ", ".join(str(keys[f"atto.audio.{name}"]) for name in _AUDIO) + "}"


def shape_initializer(model: ModelFile) -> str:
    """The model's atto::EncoderShape, as a C++ initializer."""
    numbers = [f"/*{name}=*/{model.keys[key]}" for name, key in _SHAPE]
    numbers.append(f"/*classes=*/{len(model.keys['atto.labels'])}")
    choices = [
        f"atto::{enumeration}::k{model.keys[key].capitalize()}"
        for enumeration, key in _CHOICES
    ]
    parts = [*numbers, *choices, f"/*audio=*/{audio_initializer(model)}"]
    return "{" + ",\n      ".join(parts) + "}"


_HEADER = """\
/* {source}, embedded. Generated: do not edit. */
#ifndef {guard}
#define {guard}

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

/* The model file, aligned to 16. */
#define {name}_size {size}
extern const uint8_t {name}_bytes[{name}_size];

/* Memory for one classifier at a time: exactly what this model needs. For C; a
 * program that does not name it does not pay for it. */
extern uint8_t {name}_arena[];
extern const size_t {name}_arena_size;
{spotter_header}{embedded_header}
#ifdef __cplusplus
}}

#include "ops/base/span.h"
{embedded_include}#include "runtime/model/shape.h"

namespace {name} {{

struct Model {{
  static constexpr atto::EncoderShape kShape = {shape};
}};

constexpr atto::Span<const std::uint8_t> kBytes({name}_bytes, {name}_size);
{embedded_constant}
}}  // namespace {name}
#endif

#endif
"""

_SOURCE = """\
// {source}, embedded. Generated: do not edit.
#include "{name}.h"

{include}

extern "C" {{

alignas(64) extern const std::uint8_t {name}_bytes[{name}_size] = {{
{bytes}}};

alignas(atto::kArenaAlignment) std::uint8_t
    {name}_arena[atto::ArenaBytes({name}::Model::kShape)];
extern const std::size_t {name}_arena_size = sizeof({name}_arena);
{spotter_source}
}}  // extern "C"
{embedded_source}"""


# What models that hear have as well.
_SPOTTER_HEADER = """
/* The same for a keyword spotter. */
extern uint8_t {name}_spotter_arena[];
extern const size_t {name}_spotter_arena_size;
"""
_SPOTTER_SOURCE = """
alignas(atto::kArenaAlignment) std::uint8_t {name}_spotter_arena
    [atto::SpotterArenaBytes({name}::Model::kShape)];
extern const std::size_t {name}_spotter_arena_size =
    sizeof({name}_spotter_arena);
"""


# What models that the reader has passed have as well.
_EMBEDDED_HEADER = """
/* The model as the reader found it when this was generated: for Init calls that
 * take an embedded model, and need no reader on the device. */
extern const struct atto_embedded_model {name}_embedded;
"""
_EMBEDDED_CONSTANT = """
inline constexpr const atto::EmbeddedModel& kModel = {name}_embedded;
"""
_EMBEDDED_SOURCE = """
#define ATTO_AT(type, offset) \\
  static_cast<const type*>(static_cast<const void*>({name}_bytes + (offset)))

{parts}"""


def read_parts(reader: Path, model: ModelFile, name: str) -> str:
    """What the reader makes of a model, as C++. Raises ModelError."""
    with tempfile.NamedTemporaryFile(suffix=".gguf") as file:
        file.write(model.data)
        file.flush()
        result = subprocess.run(
            [reader, file.name, name], capture_output=True, text=True, check=False
        )
    if result.returncode != 0:
        raise ModelError(result.stderr.strip())
    return result.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="a model file (.gguf)")
    parser.add_argument("--name", required=True, help="C identifier, file name")
    parser.add_argument("--out", type=Path, required=True, help="folder")
    parser.add_argument("--tokens", type=int, help="fewer than the model takes")
    parser.add_argument("--reader", type=Path, help="program of embed_parts.cc")
    arguments = parser.parse_args()
    name = arguments.name
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        parser.error(f"--name: '{name}' is no C identifier")
    try:
        model = read_model(arguments.model.read_bytes())
        if arguments.tokens is not None:
            limit_tokens(model, arguments.tokens)
        shape = shape_initializer(model)
        parts = read_parts(arguments.reader, model, name) if arguments.reader else ""
    except (OSError, ModelError, KeyError) as error:
        print(f"{arguments.model}: {error}", file=sys.stderr)
        return 1
    lines = (
        ",".join(str(byte) for byte in model.data[i : i + 20]) + ",\n"
        for i in range(0, len(model.data), 20)
    )
    fields = {
        "source": arguments.model.name,
        "guard": name.upper() + "_H_",
        "name": name,
        "size": len(model.data),
        "shape": shape,
        "bytes": "".join(lines),
        "include": '#include "runtime/memory/encoder_plan.h"',
        "spotter_header": "",
        "spotter_source": "",
        "embedded_include": "",
        "embedded_header": "",
        "embedded_constant": "",
        "embedded_source": "",
    }
    if parts:
        fields["embedded_include"] = '#include "runtime/embedded_model.h"\n'
        fields["embedded_header"] = _EMBEDDED_HEADER.format(name=name)
        fields["embedded_constant"] = _EMBEDDED_CONSTANT.format(name=name)
        fields["embedded_source"] = _EMBEDDED_SOURCE.format(name=name, parts=parts)
    if model.keys["atto.input"] == "audio":
        fields["include"] = '#include "runtime/audio/keyword_spotter.h"'
        fields["spotter_header"] = _SPOTTER_HEADER.format(name=name)
        fields["spotter_source"] = _SPOTTER_SOURCE.format(name=name)
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / f"{name}.h").write_text(_HEADER.format(**fields))
    (arguments.out / f"{name}.cc").write_text(_SOURCE.format(**fields))
    return 0


if __name__ == "__main__":
    sys.exit(main())
