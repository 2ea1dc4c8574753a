"""ONNX Runtime held to AVX2, to compare with on processors that have more.

It picks its kernels by the CPUID instruction and documents no switch. So a private copy
of its library gets each CPUID replaced by a breakpoint, which hide_avx512.c answers. Only
start-up runs these instructions: the kernels are untouched.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

CPUID = b"\x0f\xa2"
BREAKPOINT_AND_NOTHING = b"\xcc\x90"


def _cpuid_addresses(library: Path) -> list[int]:
    listing = subprocess.run(
        ["objdump", "--disassemble", "--no-show-raw-insn", library],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [int(a, 16) for a in re.findall(r"^ *([0-9a-f]+):\s+cpuid", listing, re.M)]


def _segments(library: Path) -> list[tuple[int, int, int]]:
    """Address, file offset and size of what is loaded."""
    headers = subprocess.run(
        ["readelf", "--program-headers", "--wide", library],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    pattern = r"^ *LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)"
    return [
        (int(address, 16), int(offset, 16), int(size, 16))
        for offset, address, size in re.findall(pattern, headers, re.M)
    ]


def _replace_cpuid(library: Path) -> None:
    code = bytearray(library.read_bytes())
    segments = _segments(library)
    for address in _cpuid_addresses(library):
        for start, offset, size in segments:
            if start <= address < start + size:
                at = address - start + offset
                if code[at : at + 2] != CPUID:
                    raise ValueError(f"{library}: no CPUID at {address:#x}")
                code[at : at + 2] = BREAKPOINT_AND_NOTHING
    library.write_bytes(code)


def held_copy(folder: Path) -> Path:
    """Folder for the Python path whose onnxruntime is held to AVX2.

    Made anew when the installed version changes.
    """
    stamp = folder / "version"
    if stamp.is_file() and stamp.read_text() == version("onnxruntime"):
        return folder
    spec = find_spec("onnxruntime")
    if spec is None or spec.origin is None:
        raise ImportError("onnxruntime is not installed")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(Path(spec.origin).parent, folder / "onnxruntime")
    for library in (folder / "onnxruntime" / "capi").glob("*pybind11_state*.so"):
        _replace_cpuid(library)
    stamp.write_text(version("onnxruntime"))
    return folder
