#!/usr/bin/env python3
"""Runs a firmware image in QEMU, and checks what it prints.

Exit status: that of the firmware; 1 if the output is not as expected; 77 if
QEMU is not installed. One instruction takes one nanosecond of the emulated
clock, so that every run is the same; with --fast, whatever it takes.
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path


def qemu_command(machine: str, elf: str, fast: bool) -> list[str]:
    """The command that runs `elf` with its UART on standard input and output."""
    return [
        *("qemu-system-arm", "-M", machine, "-kernel", elf),
        *("-nographic", "-monitor", "none", "-serial", "stdio"),
        *(() if fast else ("-icount", "shift=0")),
        *("-semihosting-config", "enable=on,target=native"),
    ]


def first_missing(patterns: list[str], output: str) -> str | None:
    """The first pattern that no line after its predecessor's has."""
    lines = iter(output.splitlines())
    for pattern in patterns:
        if not any(re.search(pattern, line) for line in lines):
            return pattern
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("elf", help="the image")
    parser.add_argument("--machine", required=True, help="QEMU's name")
    parser.add_argument("--input", type=Path, help="typed on the UART")
    parser.add_argument(
        "--expect", type=Path, help="regular expressions, one a line, in order"
    )
    parser.add_argument(
        "--fast", action="store_true", help="the clock counts no instructions"
    )
    parser.add_argument("--timeout", type=float, default=250, help="seconds")
    arguments = parser.parse_args()
    if shutil.which("qemu-system-arm") is None:
        print("skipped: qemu-system-arm is not installed")
        return 77
    typed = arguments.input.read_bytes() if arguments.input else b""
    try:
        result = subprocess.run(
            qemu_command(arguments.machine, arguments.elf, arguments.fast),
            input=typed,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=arguments.timeout,
        )
    except subprocess.TimeoutExpired as expired:
        sys.stdout.write((expired.output or b"").decode(errors="replace"))
        print(f"no end within {arguments.timeout:g} seconds")
        return 1
    output = result.stdout.decode(errors="replace").replace("\r\n", "\n")
    sys.stdout.write(output)
    if result.returncode != 0:
        print(f"exit status {result.returncode}")
        return 1
    if arguments.expect:
        patterns = arguments.expect.read_text().splitlines()
        missing = first_missing([p for p in patterns if p], output)
        if missing is not None:
            print(f"not in the output, or not in this place: {missing}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
