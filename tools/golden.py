#!/usr/bin/env python3
"""The golden table: CRC-32 of the logits, the same on every backend and board.

Runs programs built from tests/golden/logits.cc, each by an optional command (an
emulator), and compares what they print with tests/golden/logits.txt.

  golden.py --check PROGRAM [-- COMMAND...]   one program; exit status 1 if a
                                              value differs
  golden.py --table BUILD...                  every build folder that has the
                                              program, as a table
  golden.py --write PROGRAM                   keeps what this program prints
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "tests" / "golden" / "logits.txt"
_ROW = re.compile(r"^(\w+ \d+) (\S+) ([0-9a-f]{8})$")

# "MODEL INPUT" -> CRC
Values = dict[str, str]


def read_table() -> Values:
    """The kept values."""
    values = {}
    for line in TABLE.read_text().splitlines():
        if not line.startswith("#"):
            key, _, crc = line.rpartition(" ")
            values[key] = crc
    return values


def run(
    command: list[str], environment: dict[str, str] | None = None
) -> dict[str, Values]:
    """What a program prints, by backend. Raises RuntimeError."""
    result = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=280,
        env={**os.environ, **(environment or {})},
    )
    backends: dict[str, Values] = {}
    for line in result.stdout.splitlines():
        match = _ROW.match(line)
        if match:
            key, backend, crc = match.groups()
            backends.setdefault(backend, {})[key] = crc
    if result.returncode != 0 or not backends:
        raise RuntimeError(
            f"{' '.join(command)}: exit status {result.returncode}\n{result.stdout}"
        )
    return backends


def differences(wanted: Values, found: Values) -> list[str]:
    """What is wrong with the values of one backend; fewer rows are not."""
    return [
        f"{key}: {crc}, not {wanted.get(key, 'in the table')}"
        for key, crc in found.items()
        if wanted.get(key) != crc
    ]


def check(command: list[str], required: str | None) -> int:
    """Compares what one program prints with the table."""
    wanted = read_table()
    status = 0
    backends = run(command)
    if required is not None and required not in backends:
        print(f"{required} did not run, only {', '.join(backends)}")
        status = 1
    for backend, values in backends.items():
        wrong = differences(wanted, values)
        print(f"{backend}: {len(values)} values, {len(wrong)} wrong")
        for line in wrong:
            print(f"  {line}")
            status = 1
    return status


def write(command: list[str]) -> int:
    """Keeps what the scalar kernels print."""
    lines = ["# CRC-32 of the logits: model, input of tests/golden/logits.cc, value."]
    lines += [f"{key} {crc}" for key, crc in run(command)["ref"].items()]
    TABLE.write_text("\n".join(lines) + "\n")
    return 0


def golden_tests(build: Path) -> list[tuple[str, list[str], dict[str, str]]]:
    """Name, command and environment of the golden tests of a build folder."""
    listing = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1", "-R", "^golden\\."],
        check=True,
        stdout=subprocess.PIPE,
    )
    tests = []
    for test in json.loads(listing.stdout)["tests"]:
        command = test["command"]
        split = command.index("--")
        program = command[split - 1]
        name = test["name"].removeprefix("golden.").removeprefix("logits")
        environment = dict(
            variable.split("=", 1)
            for prop in test["properties"]
            if prop["name"] == "ENVIRONMENT"
            for variable in prop["value"]
        )
        tests.append(
            (
                f"{build.name} {name}".strip(),
                [*command[split + 1 :], program],
                environment,
            )
        )
    return tests


def table(folders: list[Path]) -> int:
    """Prints one value a row, and how many backends and boards had it."""
    wanted = read_table()
    columns: dict[str, Values] = {}
    for folder in folders:
        for name, command, environment in golden_tests(folder):
            for backend, values in run(command, environment).items():
                columns[f"{name}: {backend}"] = values
    status = 0
    print(f"{'model':8} {'input':>5}  {'CRC-32':8}  the same on")
    for key, crc in wanted.items():
        having = [name for name, values in columns.items() if key in values]
        wrong = [name for name in having if columns[name][key] != crc]
        model, number = key.split()
        same = f"{len(having) - len(wrong)} of {len(having)}"
        print(f"{model:8} {number:>5}  {crc}  {same}")
        for name in wrong:
            print(f"  {name}: {columns[name][key]}")
            status = 1
    print("\nbackends and boards:")
    for name, values in columns.items():
        print(f"  {name} ({len(values)} values)")
    return status


def main() -> int:
    arguments = sys.argv[1:]
    command: list[str] = []
    if "--" in arguments:
        command = arguments[arguments.index("--") + 1 :]
        arguments = arguments[: arguments.index("--")]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--check", metavar="PROGRAM")
    group.add_argument("--write", metavar="PROGRAM")
    group.add_argument("--table", metavar="BUILD", type=Path, nargs="+")
    parser.add_argument("--require", metavar="BACKEND", help="one that must run")
    parsed = parser.parse_args(arguments)
    try:
        if parsed.check:
            return check([*command, parsed.check], parsed.require)
        if parsed.write:
            return write([*command, parsed.write])
        return table(parsed.table)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        print(f"golden.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
