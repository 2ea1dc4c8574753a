"""Variants of training messages: obfuscated copies and new texts for a teacher."""

from __future__ import annotations

import random
import re
from typing import Callable, Sequence

from tools.train.attack import attack_text

# Kinds of tools/train/attack.py, by how often they are drawn; None leaves a text as
# it is. Homoglyphs, invisible characters and combining marks come within "mixed"
# only: the device folds them away, so they teach little.
ATTACK_CHOICES = ("leet", "leet", "spaced", "spaced", "case", "case", "mixed", None)
WORD_RATES = (0.15, 0.3, 0.5, 0.8)
CHAR_RATES = (0.3, 0.6, 1.0)
DIGITS = re.compile(r"\d{3,}")
# Words shorter than this are not replaced by their neighbours.
LONG_WORD = re.compile(r"[A-Za-z]{3,}")

Neighbours = dict[str, list[str]]


def vary_digits(text: str, rng: random.Random, rate: float) -> str:
    """Replaces the digits of long numbers, except the first, by chance `rate`.

    Phone numbers and short codes identify a sender, not a kind of message.
    """

    def replace(match: re.Match[str]) -> str:
        number = match.group()
        if rng.random() >= rate:
            return number
        return number[0] + "".join(rng.choice("0123456789") for _ in number[1:])

    return DIGITS.sub(replace, text)


def obfuscate(text: str, rng: random.Random) -> str:
    """A copy of a text with other digits and, mostly, one kind of attack."""
    text = vary_digits(text, rng, 0.5)
    kind = rng.choice(ATTACK_CHOICES)
    if kind is None:
        return text
    return attack_text(text, kind, rng, rng.choice(WORD_RATES), rng.choice(CHAR_RATES))


def _replace_words(
    text: str, neighbours: Neighbours, rng: random.Random, rate: float
) -> str:
    def replace(match: re.Match[str]) -> str:
        word = match.group()
        near = neighbours.get(word.lower())
        if not near or rng.random() >= rate:
            return word
        other = rng.choice(near)
        if word.isupper():
            return other.upper()
        return other.capitalize() if word[0].isupper() else other

    return LONG_WORD.sub(replace, text)


def compose(
    by_label: Sequence[Sequence[str]], neighbours: Neighbours, rng: random.Random
) -> str:
    """A new text out of the words of real ones; it has no label of its own.

    by_label holds the texts of each label; labels are drawn evenly. Two texts are
    spliced, or words of one dropped, cut out, or exchanged with another's; then
    numbers are changed and words replaced by near ones.
    """

    def draw() -> list[str]:
        return rng.choice(rng.choice(by_label)).split() or [""]

    way = rng.random()
    words = draw()
    if way < 0.45:
        other = draw()
        head, tail = rng.random(), rng.random()
        words = words[: max(1, int(len(words) * head))]
        words = words + other[int(len(other) * tail) :]
    elif way < 0.70:
        rate = rng.choice((0.15, 0.3, 0.5))
        words = [word for word in words if rng.random() >= rate]
    elif way < 0.85:
        start = rng.randrange(len(words))
        words = words[start : start + rng.randint(3, 14)]
    else:
        other = draw()
        for _ in range(max(1, len(words) // 4)):
            words[rng.randrange(len(words))] = rng.choice(other)
    text = " ".join(words)
    if rng.random() < 0.6:
        text = vary_digits(text, rng, 1.0)
    if rng.random() < 0.6:
        text = _replace_words(text, neighbours, rng, rng.choice((0.2, 0.4, 0.7)))
    return text


def compose_many(
    by_label: Sequence[Sequence[str]],
    count: int,
    neighbours: Neighbours,
    seed: str,
) -> list[str]:
    """`count` composed texts, none of them empty."""
    rng = random.Random(seed)
    make: Callable[[], str] = lambda: compose(by_label, neighbours, rng)
    texts: list[str] = []
    while len(texts) < count:
        text = make().strip()
        if text:
            texts.append(text)
    return texts
