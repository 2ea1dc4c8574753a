#!/usr/bin/env python3
"""Counts the messages of a file that are near duplicates of messages of others.

    build/venv/bin/python tools/train/near_duplicates.py smishing.tsv --of train.tsv test.tsv

Two messages are near duplicates when the Jaccard similarity of their sets of word
3-grams reaches a limit. Words are lower-cased runs of letters and digits; a message of
fewer than three words is one gram.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools.train.tsv import read_tsv  # noqa: E402


def word_grams(text: str) -> frozenset[tuple[str, ...]]:
    """The word 3-grams of a text."""
    words = re.findall(r"\w+", text.lower())
    if len(words) < 3:
        return frozenset([tuple(words)])
    return frozenset(zip(words, words[1:], words[2:]))


def near_duplicates(texts: list[str], others: list[str], limit: float) -> list[bool]:
    """Of every text, whether some other one is a near duplicate."""
    others_with = defaultdict(set)
    other_grams = [word_grams(other) for other in others]
    for i, grams in enumerate(other_grams):
        for gram in grams:
            others_with[gram].add(i)
    result = []
    for text in texts:
        grams = word_grams(text)
        candidates = {i for gram in grams for i in others_with.get(gram, ())}
        result.append(
            any(
                len(grams & other_grams[i]) >= limit * len(grams | other_grams[i])
                for i in candidates
            )
        )
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path, help="`label TAB text` lines to check")
    parser.add_argument("--of", type=Path, nargs="+", required=True, metavar="FILE")
    parser.add_argument("--limit", type=float, default=0.4, help="Jaccard (0.4)")
    parser.add_argument("--rest", type=Path, help="write the other messages here")
    args = parser.parse_args()
    try:
        labels, texts = read_tsv(args.file)
        others = [text for path in args.of for text in read_tsv(path)[1]]
    except (OSError, ValueError) as error:
        print(f"near_duplicates.py: {error}", file=sys.stderr)
        return 1
    duplicate = near_duplicates(texts, others, args.limit)
    print(f"{args.file}: {sum(duplicate)} of {len(texts)} are near duplicates")
    if args.rest:
        lines = [
            f"{label}\t{text}\n"
            for label, text, found in zip(labels, texts, duplicate)
            if not found
        ]
        args.rest.write_text("".join(lines), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
