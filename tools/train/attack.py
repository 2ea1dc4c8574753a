#!/usr/bin/env python3
"""Obfuscates messages as spammers do, reproducibly.

Every attack keeps a message readable for people: look-alike letters, invisible
characters, combining marks, leetspeak, spaced-out words, random case. The same
text, seed and line number always give the same result.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from pathlib import Path
from typing import Callable

sys.path.insert(0, str(Path(__file__).resolve().parent))

from tsv import read_tsv  # noqa: E402

# Look-alikes from the Latin, Greek, Cyrillic, Cherokee, Armenian, fullwidth and
# mathematical blocks.
HOMOGLYPHS: dict[str, str] = {
    "a": "аɑαａ𝐚",
    "b": "Ьｂ𝐛",
    "c": "сϲｃ𝐜",
    "d": "ԁⅾｄ𝐝",
    "e": "еҽｅ𝐞",
    "f": "ｆ𝐟",
    "g": "ɡցｇ𝐠",
    "h": "һհｈ𝐡",
    "i": "іιｉ𝐢",
    "j": "јｊ𝐣",
    "k": "κｋ𝐤",
    "l": "ⅼӏｌ𝐥",
    "m": "ⅿｍ𝐦",
    "n": "ոｎ𝐧",
    "o": "оοօｏ𝐨",
    "p": "рρｐ𝐩",
    "q": "ԛｑ𝐪",
    "r": "гｒ𝐫",
    "s": "ѕｓ𝐬",
    "t": "ｔ𝐭",
    "u": "υսｕ𝐮",
    "v": "νѵｖ𝐯",
    "w": "ԝｗ𝐰",
    "x": "хⅹｘ𝐱",
    "y": "уүｙ𝐲",
    "z": "ᴢｚ𝐳",
    "A": "АΑＡ𝐀",
    "B": "ВΒＢ𝐁",
    "C": "СϹＣ𝐂",
    "D": "ⅮＤ𝐃",
    "E": "ЕΕＥ𝐄",
    "F": "ϜＦ𝐅",
    "G": "ԌＧ𝐆",
    "H": "НΗＨ𝐇",
    "I": "ІΙＩ𝐈",
    "J": "ЈＪ𝐉",
    "K": "КΚＫ𝐊",
    "L": "ⅬＬ𝐋",
    "M": "МΜＭ𝐌",
    "N": "ΝＮ𝐍",
    "O": "ОΟＯ𝐎",
    "P": "РΡＰ𝐏",
    "Q": "ԚＱ𝐐",
    "R": "ᎡＲ𝐑",
    "S": "ЅＳ𝐒",
    "T": "ТΤＴ𝐓",
    "U": "ՍＵ𝐔",
    "V": "ⅤＶ𝐕",
    "W": "ԜＷ𝐖",
    "X": "ХΧＸ𝐗",
    "Y": "ΥҮＹ𝐘",
    "Z": "ΖＺ𝐙",
}
ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
COMBINING = "\u0300\u0301\u0302\u0303\u0307\u0308\u030a\u0323\u0327\u0331\u0336"
LEET: dict[str, str] = {
    "a": "4@",
    "b": "8",
    "e": "3",
    "g": "9",
    "i": "1",
    "l": "1",
    "o": "0",
    "s": "5$",
    "t": "7",
}
SPACERS = " .-"
WORD = re.compile(r"[A-Za-z]{3,}")

Attack = Callable[[str, random.Random, float], str]


def homoglyph_word(word: str, rng: random.Random, rate: float) -> str:
    """Replaces each letter by a look-alike with probability `rate`."""
    return "".join(
        rng.choice(HOMOGLYPHS[c]) if rng.random() < rate else c for c in word
    )


def zero_width_word(word: str, rng: random.Random, rate: float) -> str:
    """Puts an invisible character after each letter with probability `rate`."""
    return "".join(
        c + rng.choice(ZERO_WIDTH) if rng.random() < rate else c for c in word
    )


def combining_word(word: str, rng: random.Random, rate: float) -> str:
    """Puts a combining mark on each letter with probability `rate`."""
    return "".join(
        c + rng.choice(COMBINING) if rng.random() < rate else c for c in word
    )


def leet_word(word: str, rng: random.Random, rate: float) -> str:
    """Replaces each letter that has one by a digit or sign, by chance `rate`."""
    return "".join(
        rng.choice(LEET[c.lower()]) if c.lower() in LEET and rng.random() < rate else c
        for c in word
    )


def spaced_word(word: str, rng: random.Random, _rate: float) -> str:
    """Spreads the whole word with one separator; a part of it makes no sense."""
    return rng.choice(SPACERS).join(word)


def case_word(word: str, rng: random.Random, rate: float) -> str:
    """Swaps the case of each letter with probability `rate`."""
    return "".join(c.swapcase() if rng.random() < rate else c for c in word)


ATTACKS: dict[str, Attack] = {
    "homoglyph": homoglyph_word,
    "zero_width": zero_width_word,
    "combining": combining_word,
    "leet": leet_word,
    "spaced": spaced_word,
    "case": case_word,
}


def attack_text(
    text: str, kind: str, rng: random.Random, word_rate: float, char_rate: float
) -> str:
    """Attacks each word of at least 3 Latin letters by chance `word_rate`.

    `kind` is a key of ATTACKS, or "mixed": another attack for every word.
    """

    def replace(match: re.Match[str]) -> str:
        if rng.random() >= word_rate:
            return match.group()
        chosen = rng.choice(list(ATTACKS)) if kind == "mixed" else kind
        return ATTACKS[chosen](match.group(), rng, char_rate)

    return WORD.sub(replace, text)


def rate_argument(value: str) -> float:
    """Parses a probability."""
    try:
        rate = float(value)
    except ValueError:
        rate = -1.0
    if not 0.0 <= rate <= 1.0:
        raise argparse.ArgumentTypeError(f"'{value}' is not a number from 0 to 1")
    return rate


def main() -> int:
    """Reads a TSV, attacks the messages of one label, writes a TSV."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input", type=Path, help="label TAB text file")
    parser.add_argument("output", type=Path, help="file to write")
    parser.add_argument("--kind", choices=[*ATTACKS, "mixed"], required=True)
    parser.add_argument("--label", default="spam", help="the label to attack")
    parser.add_argument("--seed", type=int, default=20240601)
    parser.add_argument(
        "--word-rate", type=rate_argument, default=0.5, help="share of words attacked"
    )
    parser.add_argument(
        "--char-rate",
        type=rate_argument,
        default=0.5,
        help="share of letters changed within an attacked word",
    )
    args = parser.parse_args()
    try:
        labels, texts = read_tsv(args.input)
        if args.label not in labels:
            raise ValueError(f"{args.input}: no message is labelled '{args.label}'")
        with args.output.open("w", encoding="utf-8", newline="\n") as output:
            for number, (label, text) in enumerate(zip(labels, texts)):
                if label == args.label:
                    rng = random.Random(f"{args.seed}/{args.kind}/{number}")
                    text = attack_text(
                        text, args.kind, rng, args.word_rate, args.char_rate
                    )
                output.write(f"{label}\t{text}\n")
    except (OSError, ValueError) as error:
        print(f"attack: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
