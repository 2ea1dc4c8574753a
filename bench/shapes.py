"""Reads the shape lists of bench/shapes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SHAPES = Path(__file__).resolve().parent / "shapes"


@dataclass(frozen=True)
class Shape:
    """A line of a list: a name and its key=value words."""

    name: str
    values: dict[str, str]

    def size(self, key: str) -> int:
        return int(self.values[key])

    @property
    def measure(self) -> list[int]:
        """Numbers of tokens to measure an encoder with."""
        return [
            int(n) for n in self.values.get("measure", self.values["tokens"]).split(",")
        ]


def read_shapes(path: Path) -> list[Shape]:
    """The shapes of a list; ValueError names a line that is none."""
    shapes = []
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        name, *words = line.split()
        pairs = [word.split("=", 1) for word in words]
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError(f"{path}:{number}: not a name and key=value words")
        shapes.append(Shape(name, dict(pairs)))
    return shapes
