"""How long a large file that is no model takes to be refused.

    python -m tools.safety.reject [--megabytes N]

Writes such files to build/safety and lets `atto inspect` refuse each: the least of
several runs, start of the process included. The system counts pages of the file that
are looked at as memory of the process; no other memory grows with the file, unless it
is whole and gives the shape of a model: then it has been read into memory.
"""

from __future__ import annotations

import argparse
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tools.reference.model import EncoderConfig
from tools.reference.model_writer import write_model
from tools.reference.random_model import random_model
from tools.text.device_text import DeviceTokenizer, TextParams

ROOT = Path(__file__).resolve().parents[2]
ATTO = ROOT / "build" / "host" / "atto"
FOLDER = ROOT / "build" / "safety"
RUNS = 9
LIMIT = 50  # milliseconds
STRING, ARRAY = 8, 9


def header(tensors: int, keys: int) -> bytes:
    """The first bytes of a GGUF file."""
    return b"GGUF" + struct.pack("<IQQ", 3, tensors, keys)


def string(text: bytes) -> bytes:
    """A string as it stands in the file."""
    return struct.pack("<Q", len(text)) + text


def fill(start: bytes, piece: bytes, size: int) -> bytes:
    """`start`, then `piece` again and again, cut to `size` bytes."""
    return (start + piece * ((size - len(start)) // len(piece) + 1))[:size]


def noise(size: int) -> bytes:
    """Random bytes."""
    block = os.urandom(1 << 20)
    return fill(b"", block, size)


def many_strings(size: int) -> bytes:
    """As many strings as are allowed, spread over the file."""
    count = 1 << 20
    start = header(0, 1) + string(b"many") + struct.pack("<IIQ", ARRAY, STRING, count)
    room = (size - len(start)) // count - 8
    return fill(start, string(b"x" * room), size)


def long_names(size: int) -> bytes:
    """As many keys as are allowed, with the longest names."""
    key = string(b"k" * 255) + struct.pack("<IB", 0, 0)
    return fill(header(0, 4096) + key * 4096, b"\0", size)


def wrong_checksum(size: int) -> bytes:
    """A model that is whole and in order, but for one byte; about as large."""
    block = 4 * 512 * 512 + 2 * 512 * 4096
    config = EncoderConfig(
        embedding_length=512,
        feed_forward_length=4096,
        head_count=8,
        input_length=512,
        vocabulary=65535,
        block_count=max(1, (size - 65535 * 512) // block),
    )
    model = random_model(config, seed=1)
    params = TextParams(buckets=config.vocabulary)
    for key, value in params.metadata().items():
        model.keys[key] = np.uint32(value)
    table = DeviceTokenizer(params).fold_table
    model.tensors["text.fold_table"] = np.frombuffer(table, np.uint8)
    path = FOLDER / "whole.gguf"
    write_model(path, model)
    data = path.read_bytes()
    path.unlink()
    return data[:-1] + bytes([data[-1] ^ 1])


# Garbage in one byte alone: nothing but the checksum tells.
READ_TO_ITS_END = "a model with the wrong checksum"

FILES: dict[str, Callable[[int], bytes]] = {
    "noise": noise,
    "zeros": bytes,
    "GGUF, then noise": lambda size: b"GGUF" + noise(size - 4),
    "a header, then noise": lambda size: header(80, 40) + noise(size - 24),
    "a model, then zeros": lambda size: fill(
        (ROOT / "models" / "spam.gguf").read_bytes(), b"\0", size
    ),
    "a million strings all over the file": many_strings,
    "4,096 keys with names of 255 bytes": long_names,
    READ_TO_ITS_END: wrong_checksum,
}


# Runs a command, and prints milliseconds, those of the processor, kB, its status and
# what it complains of.
# A child's peak memory begins with its parent's: hence a small parent.
MEASURE = """
import os, subprocess, sys, time
start = time.perf_counter()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
sentence = child.stderr.read().decode()
_, status, usage = os.wait4(child.pid, 0)
child.returncode = os.waitstatus_to_exitcode(status)
milliseconds = 1000 * (time.perf_counter() - start)
cpu = 1000 * (usage.ru_utime + usage.ru_stime)
print(milliseconds, cpu, usage.ru_maxrss, child.returncode, sentence)
"""


def refuse(path: Path) -> tuple[float, float, int, str]:
    """Milliseconds, those of the processor, kB, and the sentence of one refusal."""
    output = subprocess.run(
        [sys.executable, "-I", "-S", "-c", MEASURE, ATTO, "inspect", path],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    took, cpu, memory, status, sentence = output.strip().split(" ", 4)
    if status != "1":
        raise SystemExit(f"{path}: status {status}: {sentence}")
    sentence = sentence.replace(f"atto: {path}: ", "")
    return float(took), float(cpu), int(memory), sentence


def main() -> int:
    """Prints the table; 1 if a file of garbage took too long."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--megabytes", type=int, default=100, metavar="N")
    size = parser.parse_args().megabytes << 20
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / "garbage.gguf"
    print("| file | ms | ms of processor | kB | refused with |")
    print("| --- | --- | --- | --- | --- |")
    slow: list[str] = []
    for name, make in {"noise of 1 kB": lambda _: noise(1 << 10), **FILES}.items():
        path.write_bytes(make(size))
        runs = [refuse(path) for _ in range(RUNS)]
        took, cpu, memory = (min(run[i] for run in runs) for i in range(3))
        print(f"| {name} | {took:.1f} | {cpu:.1f} | {memory:,} | {runs[0][3]} |")
        sys.stdout.flush()
        # On a busy machine the clock tells of the others.
        if name != READ_TO_ITS_END and cpu >= LIMIT:
            slow.append(name)
    path.unlink()
    for name in slow:
        print(f"{name}: {LIMIT} ms and more", file=sys.stderr)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
