"""The committed fold table is the one that its generator makes."""

from __future__ import annotations

import sys
import unicodedata
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "text"))

import make_fold_table  # noqa: E402

HEADER = ROOT / "tools" / "text" / "fold_table_data.h"
UNICODE = "14.0.0"


class FoldTableTest(unittest.TestCase):
    """Makes the table again."""

    def test_committed_table(self) -> None:
        """The same bytes, where the same Unicode data is at hand."""
        if unicodedata.unidata_version != UNICODE:
            self.skipTest(f"Python has Unicode {unicodedata.unidata_version}")
        try:
            import confusable_homoglyphs  # noqa: F401
        except ImportError:
            self.skipTest("the package confusable_homoglyphs is not installed")
        table = make_fold_table.build_table(make_fold_table.collect_folds())
        lines = make_fold_table.header_lines(table)
        self.assertEqual(HEADER.read_text("ascii").splitlines(), lines)

    def test_small_table(self) -> None:
        """Each kind of run is found and written as docs/text.md says."""
        fold = make_fold_table.Fold
        folds = {0x300 + i: fold("", False) for i in range(3)}
        folds |= {0x400 + i: fold("a", i % 2 == 0) for i in range(4)}
        folds |= {0x410 + i: fold(chr(0x430 + i), True) for i in range(9)}
        folds |= {0x1F130 + i: fold(chr(97 + i), True) for i in range(26)}
        folds |= {0x1FBF0 + i: fold(str(i), False) for i in range(10)}
        folds |= {0xFB01: fold("fi", False)}
        entries = [
            b"\x00\x03\x00" + bytes([2, 1, 0, 0]),
            b"\x00\x04\x00" + bytes([3, 2 | 1 << 4, 97, 0]),
            b"\x10\x04\x00" + bytes([8, 3 | 3 << 4, 0x20, 0]),
            b"\x01\xfb\x00" + bytes([0, 6 | 2 << 4, 0, 0]),
            b"\x30\xf1\x01" + bytes([25, 4, 0, 0]),
            b"\xf0\xfb\x01" + bytes([9, 5, 0, 0]),
        ]
        want = b"AFT1" + bytes([len(entries), 0, 2, 0]) + b"".join(entries) + b"fi"
        self.assertEqual(make_fold_table.build_table(folds), want)


if __name__ == "__main__":
    unittest.main()
