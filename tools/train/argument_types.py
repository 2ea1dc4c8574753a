"""Kinds of command line arguments: shares, counts, bounded integers."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def share(value: str) -> float:
    """Parses a number from 0 to 1."""
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= 1.0:
        raise argparse.ArgumentTypeError(f"'{value}' is not a number from 0 to 1")
    return number


def count(value: str) -> int:
    """Parses an integer from 0 on."""
    if not value.isdecimal():
        raise argparse.ArgumentTypeError(f"'{value}' is not a whole number")
    return int(value)


def positive_count(value: str) -> int:
    """Parses an integer from 1 on."""
    number = count(value)
    if number < 1:
        raise argparse.ArgumentTypeError(f"'{value}' is not a number from 1 on")
    return number


def bounded(low: int, high: int) -> Callable[[str], int]:
    """A parser of integers in [low, high]: what the device accepts."""

    def parse(value: str) -> int:
        if not value.isdecimal() or not low <= int(value) <= high:
            raise argparse.ArgumentTypeError(f"'{value}' is not in {low}..{high}")
        return int(value)

    return parse
