#!/usr/bin/env python3
"""Runs the firmware examples in QEMU, and prints their figures as tables.

Instructions are QEMU's, under -icount shift=0: they repeat exactly, and are not
cycles.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools.firmware_size import sizes, table  # noqa: E402

_MEMORY = re.compile(
    r"flash (\d+) bytes, RAM (\d+) bytes: variables (\d+), deepest stack (\d+)"
)


def examples(build: Path) -> list[tuple[str, list[str]]]:
    """Name and command of every example's test in a build folder."""
    listing = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1", "-R", "^firmware\\."],
        check=True,
        stdout=subprocess.PIPE,
    )
    return [
        (test["name"].removeprefix("firmware."), test["command"])
        for test in json.loads(listing.stdout)["tests"]
    ]


def run(command: list[str]) -> str:
    """What an example prints. Raises RuntimeError if it fails."""
    result = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{result.stdout}")
    return result.stdout


def latency(output: str) -> dict | None:
    """The line of JSON, if the example prints one."""
    lines = [line for line in output.splitlines() if line.startswith("{")]
    return json.loads(lines[0]) if lines else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("builds", nargs="+", type=Path, help="build folders")
    builds = parser.parse_args().builds
    memory_rows = []
    instruction_rows = []
    columns = {}
    try:
        for build in builds:
            for name, command in examples(build):
                output = run(command)
                memory = _MEMORY.search(output)
                if memory:
                    flash, ram, variables, stack = (int(n) for n in memory.groups())
                    memory_rows.append(
                        f"| {build.name} | `{name}` | {flash:,} | {ram:,} "
                        f"| {variables:,} | {stack:,} |"
                    )
                figures = latency(output)
                if figures:
                    ops = sorted(figures["ops"], key=lambda op: -op["ns"])
                    share = ", ".join(
                        f"{op['op']} {100 * op['ns'] / figures['instructions']:.0f} %"
                        for op in ops[:4]
                    )
                    instruction_rows.append(
                        f"| {build.name} | {figures['model']} | {figures['backend']} "
                        f"| {figures['tokens']} | {figures['instructions']:,} "
                        f"| {figures['ns_per_token_min']:,} | {share} |"
                    )
            for name in ("spam_uart", "microbit_spam"):
                map_file = build / "firmware_examples" / name / f"{name}.map"
                if map_file.exists():
                    columns[build.name] = sizes(map_file)
            map_file = build / "tests" / "device" / "device_file_model.map"
            if map_file.exists():
                columns[f"{build.name}, file"] = sizes(map_file)
    except (RuntimeError, OSError, ValueError) as error:
        print(f"firmware_report.py: {error}", file=sys.stderr)
        return 1
    print("| build | example | flash | RAM | variables | deepest stack |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    print("\n".join(memory_rows))
    print("\n| build | model | kernels | tokens | instructions | a token | most in |")
    print("| --- | --- | --- | ---: | ---: | ---: | --- |")
    print("\n".join(instruction_rows))
    print(
        "\nCode and constants of atto, in bytes, as linked into the spam filter; "
        '"file": with the reader of model files\n'
    )
    print(table(columns))
    return 0


if __name__ == "__main__":
    sys.exit(main())
