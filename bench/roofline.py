#!/usr/bin/env python3
"""Draws what each op of a model reaches against what the machine could do.

The roofs are measured in the same run: multiply-adds with all operands in registers, and
reading from the caches. An op's bytes are those of its operands, each counted once.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def measure(program: Path, model: Path, backend: str | None) -> dict[str, Any]:
    command: list[str | Path] = [program, model, "--json", "--roofs"]
    if backend is not None:
        command += ["--backend", backend]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(result.stderr.strip())
    figures: dict[str, Any] = json.loads(result.stdout)
    return figures


def points(figures: dict[str, Any], attention: bool) -> tuple[list[float], list[float]]:
    """Multiply-adds a byte, and a nanosecond, of matrix products or attention."""
    ops = [
        op
        for op in figures["ops"]
        if op["multiply_adds"] and (op["op"] == "attention_s8") == attention
    ]
    return (
        [op["multiply_adds"] / op["bytes"] for op in ops],
        [op["multiply_adds"] / op["ns"] for op in ops],
    )


def draw(path: Path, runs: list[dict[str, Any]]) -> None:
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.6))
    peak = max(run["peak_gmacs"] for run in runs)
    low, high = 0.25, 256.0  # multiply-adds a byte
    levels = runs[0]["read_gigabytes_per_second"]
    for level, style in zip(levels, ("-", "--", ":")):
        speed = max(run["read_gigabytes_per_second"][level] for run in runs)
        axes.plot(
            [low, peak / speed, high],
            [speed * low, peak, peak],
            color="0.5",
            linewidth=1,
            linestyle=style,
            label=f"{level}, {speed:.0f} GB/s",
        )
    axes.annotate(f"{peak:.0f} GMAC/s in registers", (20, peak * 1.07), fontsize=8)
    for i, run in enumerate(runs):
        name = Path(run["model"]).stem
        color = f"C{i}"
        axes.scatter(*points(run, False), s=18, color=color, label=f"{name}: matmul")
        axes.scatter(
            *points(run, True),
            s=22,
            color=color,
            marker="x",
            label=f"{name}: attention",
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("multiply-adds a byte of operands and result")
    axes.set_ylabel("GMAC/s, requantisation and softmax included")
    axes.set_title(f"{runs[0]['backend']} on {runs[0]['cpu']}", fontsize=10)
    axes.legend(fontsize=8, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--backend", help="kernels to run (default: the fastest)")
    parser.add_argument(
        "--program", type=Path, default=ROOT / "build" / "host" / "atto_bench"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=ROOT / "build" / "bench" / "roofline.svg",
        help="default: build/bench/roofline.svg",
    )
    args = parser.parse_args()
    try:
        runs = [measure(args.program, model, args.backend) for model in args.models]
        if any(run["peak_gmacs"] is None for run in runs):
            raise RuntimeError(f"{runs[0]['backend']} has no peak to compare with")
        args.out.parent.mkdir(parents=True, exist_ok=True)
        draw(args.out, runs)
    except (OSError, RuntimeError, ImportError) as error:
        print(f"roofline.py: {error}", file=sys.stderr)
        return 1
    print(args.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
