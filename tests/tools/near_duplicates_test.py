"""Near duplicates by word 3-grams."""

from __future__ import annotations

import os
import sys
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("ATTO_SOURCE_DIR", Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(ROOT))

from tools.train.near_duplicates import near_duplicates  # noqa: E402


class NearDuplicatesTest(unittest.TestCase):
    def test_finds_copies_and_only_those(self) -> None:
        others = ["call me at nine when you are home", "hello"]
        texts = [
            "Call me at NINE, when you are home!",  # the same words
            "call me at nine when you are back there",  # 5 of 7 grams
            "nine home call are you me at when",  # the words in another order
            "hello",
            "hello you",
        ]
        self.assertEqual(
            near_duplicates(texts, others, 0.4), [True, True, False, True, False]
        )


if __name__ == "__main__":
    unittest.main()
