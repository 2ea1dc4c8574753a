#!/usr/bin/env python3
"""Makes random models of the shapes in bench/shapes, for measuring speed.

Weights are normal numbers with a standard deviation of a third of the int8 range, cut at
its ends, and neighbouring ones are so bounded as training bounds them: about what an
exporter makes of trained weights. It matters for speed, because some kernels treat other
pairs of large weights apart. Logits mean nothing. The same shape gives the same file.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.shapes import Shape, read_shapes  # noqa: E402
from tools.reference.float_model import (  # noqa: E402
    random_float_model,
    write_float_model,
)
from tools.reference.model import EncoderConfig  # noqa: E402
from tools.reference.model_writer import write_model  # noqa: E402
from tools.reference.random_model import random_model  # noqa: E402

SEED = 20240601
# docs/training.md: |w[c][2i]| + |w[c][2i+1]| is at most this.
PAIR_LIMIT = 128


def limit_pairs(weight: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
    """Shrinks pairs of neighbouring inputs beyond the limit, both by one factor."""
    columns = weight.shape[1]
    padded = np.pad(weight.astype(np.int64), ((0, 0), (0, columns % 2)))
    pairs = padded.reshape(len(weight), -1, 2)
    total = np.abs(pairs).sum(2, keepdims=True)
    shrunk = np.trunc(pairs * PAIR_LIMIT / np.maximum(total, 1))
    limited = np.where(total > PAIR_LIMIT, shrunk, pairs).reshape(padded.shape)
    return limited[:, :columns].astype(np.int8)


def config_of(shape: Shape) -> EncoderConfig:
    """The shape in the words of the model format."""
    return EncoderConfig(
        context_length=shape.size("tokens"),
        embedding_length=shape.size("d_model"),
        input_length=shape.size("d_input"),
        block_count=shape.size("blocks"),
        head_count=shape.size("heads"),
        feed_forward_length=shape.size("d_ffn"),
        classes=shape.size("classes"),
        vocabulary=int(shape.values.get("vocabulary", 0)),
        input=shape.values["input"],
        norm=shape.values["norm"],
        activation=shape.values["activation"],
        pooling=shape.values["pooling"],
        positions=bool(shape.size("positions")),
    )


def make_models(shape_list: Path, folder: Path) -> list[Path]:
    """Writes every encoder of the list, and a float model of its shape.

    Returns the files folder/NAME.gguf; the float ones are folder/NAME.f32.gguf.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for shape in read_shapes(shape_list):
        if "blocks" not in shape.values:
            raise ValueError(f"{shape_list}: '{shape.name}' is not an encoder")
        file = folder / f"{shape.name}.gguf"
        config = config_of(shape)
        model = random_model(config, SEED)
        for name, tensor in model.tensors.items():
            if name.endswith(".weight") and not name.endswith("embd.weight"):
                model.tensors[name] = limit_pairs(tensor)
        write_model(file, model)
        write_float_model(
            file.with_suffix(".f32.gguf"), random_float_model(config, SEED)
        )
        files.append(file)
    return files


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "shapes", type=Path, nargs="+", help="a list, such as bench/shapes/spam.txt"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=ROOT / "build" / "bench",
        help="folder of the models (default: build/bench)",
    )
    args = parser.parse_args()
    try:
        for shape_list in args.shapes:
            for file in make_models(shape_list, args.out):
                print(file)
    except (OSError, ValueError, KeyError) as error:
        print(f"make_model.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
