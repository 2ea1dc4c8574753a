"""Messages as the device sees them: lists of tokens, batches for the encoder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Iterator, Sequence

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "text"))

from device_text import DeviceTokenizer, TextParams  # noqa: E402
from tools.train.qat import Batch  # noqa: E402

__all__ = ["Inputs", "TextParams", "Tokens", "batches"]

# A message: the numbers of its tokens in the store of distinct tokens.
Tokens = np.ndarray


class Inputs:
    """Turns texts into numbers of distinct tokens, and those into batches."""

    def __init__(self, params: TextParams, context_length: int) -> None:
        """Raises FileNotFoundError if the device's tokenizer has not been built,
        ValueError for illegal parameters."""
        self.tokenizer = DeviceTokenizer(params)
        self._context_length = context_length
        self._numbers: dict[bytes, int] = {}
        self._rows: list[np.ndarray] = []

    def tokens(self, text: str) -> Tokens:
        """A text as numbers of tokens, cut at the context length; may be empty."""
        found = self.tokenizer.tokenize(text, self._context_length)
        if not len(found):
            return np.zeros(0, np.int64)
        numbers = []
        for rows in found.split_rows():
            number = self._numbers.setdefault(rows.tobytes(), len(self._rows))
            if number == len(self._rows):
                self._rows.append(rows.astype(np.int64))
            numbers.append(number)
        return np.array(numbers, np.int64)

    def rows(self, tokens: Tokens) -> list[list[int]]:
        """The feature rows of each token."""
        return [self._rows[number].tolist() for number in tokens]

    def batch(
        self,
        messages: Sequence[Tokens],
        rng: np.random.Generator | None = None,
        token_dropout: float = 0.0,
        feature_dropout: float = 0.0,
    ) -> Batch:
        """One batch of messages that have tokens.

        With rng, tokens and feature rows are left out at random; every message keeps
        at least one token, every token at least one row.
        """
        if rng is not None and token_dropout > 0:
            messages = [_thin(message, rng, token_dropout) for message in messages]
        distinct, index = np.unique(np.concatenate(messages), return_inverse=True)
        rows = [self._rows[number] for number in distinct]
        if rng is not None and feature_dropout > 0:
            rows = [_thin(one, rng, feature_dropout) for one in rows]
        sizes = np.array([len(one) for one in rows])
        return Batch(
            lengths=torch.tensor([len(message) for message in messages]),
            rows=torch.from_numpy(np.concatenate(rows)),
            offsets=torch.from_numpy(np.cumsum(sizes) - sizes),
            token_index=torch.from_numpy(index.astype(np.int64)),
        )


def _thin(items: np.ndarray, rng: np.random.Generator, rate: float) -> np.ndarray:
    kept = items[rng.random(len(items)) >= rate]
    return kept if len(kept) else items[:1]


def batches(
    inputs: Inputs, messages: Sequence[Tokens], size: int
) -> Iterator[tuple[np.ndarray, Batch]]:
    """Places and batches of all messages that have tokens, by length."""
    lengths = np.array([len(message) for message in messages])
    order = np.argsort(lengths, kind="stable")
    order = order[lengths[order] > 0]
    for start in range(0, len(order), size):
        chosen = order[start : start + size]
        yield chosen, inputs.batch([messages[i] for i in chosen])
