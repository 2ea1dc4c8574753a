"""Is the time of Classify a function of the text's length and tokens alone?

    python -m tools.safety.timing [MODEL]

Counts instructions (Valgrind's callgrind, which repeats exactly) of Encoder::Run over
many random messages of equal token counts, on the scalar kernels and on the fastest
that Valgrind runs; then of Classify, per byte, over texts made to be slow. Prints the
least and the most of each.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ATTO = ROOT / "build" / "host" / "atto"
BACKENDS = ("ref", "avx2")
TOKENS = (1, 2, 16, 33, 64)
MESSAGES = 20
SEED = 1
RUN = "atto::Encoder::Run(atto::Span<short const>*)"
CLASSIFY = (
    "atto::TextClassifier::Classify(atto::Span<char const>, atto::Classification*)"
)
TEXT_BYTES = 4096

# Kinds of text that make the tokenizer look far ahead, go back, or give the most.
SLOW_TEXTS: dict[str, bytes] = {
    "one word": b"a",
    "words of a letter": b"a ",
    "words of two letters": b"ab ",
    "spaces": b" ",
    "digits": b"9",
    "numbers": b"1 ",
    "almost a phone number": b"123 45 67 x ",
    "almost a URL": b"www.a.b.c.d.e.f.g.",
    "almost an address": b"a@b@c.d@",
    "almost a domain name, with a hyphen": b"a.b-",
    "almost a domain name, of two letters": b"c-c.",
    "almost an address, with percent signs": b"a%",
    "dots": b"a.",
    "marks": b"!?",
    "one mark": b"!",
    "hidden characters": "\u200b".encode(),
    "letters with marks": "a\u0301".encode(),
    "ligatures of many letters": "\ufdfa".encode(),
    "look-alikes": "\u0430\u0435".encode(),
    "emoji": "\U0001f600\U0001f601".encode(),
    "broken bytes": b"\xff",
    "cut sequences": b"\xf0\x9f\x98",
    "money": "\u00a31.5p/min ".encode(),
    "entities": b"&lt;&amp;",
    "leetspeak": b"fr33c@$h ",
}


def count(
    function: str, backend: str, arguments: list[str], stdin: bytes
) -> tuple[list[int], list[dict[str, int]]]:
    """Instructions of each call of `function`, and what atto printed."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        result = subprocess.run(
            [
                *("valgrind", "--tool=callgrind", "--quiet"),
                *(f"--toggle-collect={function}", f"--dump-after={function}"),
                *(f"--callgrind-out-file={out}", str(ATTO), "classify", "--json"),
                *arguments,
            ],
            input=stdin,
            capture_output=True,
            env={**os.environ, "ATTO_FORCE_BACKEND": backend},
            check=False,
        )
        if result.returncode != 0:
            raise SystemExit(result.stderr.decode(errors="replace"))
        dumps = sorted(
            (p for p in Path(folder).glob("out.*")), key=lambda p: int(p.suffix[1:])
        )
        counts = []
        for dump in dumps:
            found = re.search(r"^(?:totals|summary): (\d+)", dump.read_text(), re.M)
            counts.append(int(found[1]) if found else 0)
    lines = result.stdout.decode(errors="replace").splitlines()
    return [c for c in counts if c], [json.loads(line) for line in lines]


def message(rng: random.Random, tokens: int) -> str:
    """Words at random, a token each."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return " ".join(
        "".join(rng.choice(letters) for _ in range(rng.randrange(2, 12)))
        for _ in range(tokens)
    )


def spread(counts: list[int]) -> str:
    """Least, most and their distance."""
    low, high = min(counts), max(counts)
    return f"{low:,} | {high:,} | {100 * (high - low) / low:.3f} %"


def encoder_rows(model: str, backend: str) -> list[str]:
    """Rows of the table: Encoder::Run by token count."""
    rng = random.Random(SEED)
    lengths = [n for n in TOKENS for _ in range(MESSAGES)]
    texts = [message(rng, n) for n in lengths]
    counts, results = count(RUN, backend, [model, "-"], "\n".join(texts).encode())
    found = [result["tokens"] for result in results]
    if found != lengths or len(counts) != len(lengths):
        raise SystemExit(
            f"{len(counts)} calls, tokens {sorted(set(found))}: not as asked for"
        )
    return [
        f"| {backend} | {n} | {MESSAGES} | "
        + spread([c for c, length in zip(counts, lengths) if length == n])
        + " |"
        for n in TOKENS
    ]


def text_rows(model: str, backend: str) -> list[str]:
    """Rows of the table: instructions a byte of slow texts, the encoder's off."""
    texts = [
        (piece * TEXT_BYTES)[: TEXT_BYTES // len(piece) * len(piece)]
        for piece in SLOW_TEXTS.values()
    ]
    stdin = b"\n".join(texts)
    whole, _ = count(CLASSIFY, backend, [model, "-"], stdin)
    encoder, _ = count(RUN, backend, [model, "-"], stdin)
    if len(whole) != len(texts) or len(encoder) != len(texts):
        raise SystemExit(f"{len(whole)}, {len(encoder)} calls, {len(texts)} texts")
    rows = [
        ((all_of_it - run) / len(text), kind)
        for kind, text, all_of_it, run in zip(SLOW_TEXTS, texts, whole, encoder)
    ]
    return [f"| {kind} | {value:,.0f} |" for value, kind in sorted(rows, reverse=True)]


def main() -> int:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument(
        "model", nargs="?", default=str(ROOT / "models" / "spam.gguf"), metavar="MODEL"
    )
    model = parser.parse_args().model
    print("Instructions of Encoder::Run\n")
    print("| kernels | tokens | messages | least | most | spread |")
    print("| --- | --- | --- | --- | --- | --- |")
    for backend in BACKENDS:
        print("\n".join(encoder_rows(model, backend)), flush=True)
    print(f"\nInstructions a byte of {TEXT_BYTES} bytes of text, without the encoder\n")
    print("| text | instructions a byte |\n| --- | --- |")
    print("\n".join(text_rows(model, BACKENDS[-1])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
