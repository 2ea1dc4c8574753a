"""The C++ text front end gives what the plain Python definition gives."""

from __future__ import annotations

import os
import random
import sys
import unittest
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "text"))

if "ATTO_BUILD_DIR" in os.environ:
    os.environ.setdefault(
        "ATTO_TEXT_LIB", os.environ["ATTO_BUILD_DIR"] + "/libatto_text.so"
    )

from device_text import DeviceTokenizer, TextParams  # noqa: E402
from reference import FoldTable, ReferenceTokenizer, normalize  # noqa: E402

SEED = 20240601
ROUNDS = int(os.environ.get("ATTO_PARITY_ROUNDS", "1000"))

PARAMS = (
    TextParams(),
    TextParams(features=255, ngram_min=1, ngram_max=6, max_features=64),
    TextParams(
        features=255,
        buckets=65535,
        ngram_min=2,
        ngram_max=5,
        max_word_chars=8,
        max_features=8,
        phone_min_digits=7,
        join_spaced_min=3,
        join_dotted_min=0,
    ),
    TextParams(
        features=62,
        buckets=16,
        max_word_chars=32,
        phone_min_digits=15,
        join_spaced_min=0,
        join_dotted_min=5,
    ),
)

# Pieces that meet the rules' edges when they are put side by side.
PIECES = (
    *"aAbeiIlo 0159$@!|'.,-_*+()/:;&%#?\"~",
    *" \t\n\0\x7f\x85\x92\xa0\xad",
    *"£€¢₹éÉßİŉ½…™’“–аеоАІѕһԁոᎡⅾⅯⅷ①⒈⑳Ａｆ１𝐚𝓕𝟗🅰🇫",
    *"\u0300\u0336\u200b\u200d\u2060\ufeff\ufe0f\u20e3\u0903\u3042漢ท",
    *"😀🎉❤☎\ufffd\uffff\U0010ffff",
    *("http://", "https://", "www.", "WWW.", ".com", ".co.uk", ".co.in", ".ly/x"),
    *("free", "FREE", "fReE", "fr33", "c4$h", "c@ll", "pa$$", "w!n", "w!N", "l|fe"),
    *(
        "f r e e",
        "w.i.n",
        "a-b-c",
        "c  a  l  l",
        "w   i   n   s",
        "x x x",
        "u r ",
        "don't",
        "i''m",
    ),
    *(
        "0906",
        "0800 123 456",
        "+44 ",
        "(0800) ",
        "+44 (0)",
        " (0) ",
        "87121",
        "1 800 ",
        "123456789012345",
    ),
    *("£1.50", "150p", "/min", "/msg2", "rs.", "Rs ", "GBP", "50€", "4pm", "2nd", "3x"),
    *("10:30", "1,000", "24/7", "100%", "ppm", "p", "2nite", "&lt;", "&amp;", "&quot;"),
    *("+4 ", "(2 ", "234 56789 ", "#%~?=*^[]{}"),
    *("sooooo", "!!!!", "....", "$5", "$$", "££5", "me@", "@home", "a@b.c"),
    *("x" * 23, "ab" * 13, "9" * 31, "-" * 63, " " * 5, "a." * 30),
)
BYTES = (b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf0\x9f\x98", b"\xe2\x82", b"\xa3")


def random_text(rng: random.Random) -> bytes:
    """A text of pieces, single code points and broken bytes."""
    data = b""
    for _ in range(rng.randrange(1, 40)):
        choice = rng.random()
        if choice < 0.85:
            piece = rng.choice(PIECES)
            repeat = 1 if rng.random() < 0.95 else rng.randrange(2, 70)
            data += (piece * repeat).encode("utf-8", "surrogatepass")
        elif choice < 0.9:
            data += rng.choice(BYTES)
        elif choice < 0.95:
            data += chr(rng.randrange(0x80, 0x3100)).encode("utf-8", "surrogatepass")
        else:
            code = rng.choice((0x1D400, 0x1F100, 0xFF00, 0xE0100, 0x10000))
            data += chr(code + rng.randrange(0x400)).encode("utf-8", "surrogatepass")
    return data


def damaged(data: bytes, rng: random.Random) -> bytes:
    """A text after a few accidents: bytes flipped, lost, repeated, moved."""
    for _ in range(rng.randrange(1, 6)):
        begin = rng.randrange(len(data) + 1)
        end = min(len(data), begin + rng.randrange(1, 20))
        piece = data[begin:end]
        accident = rng.randrange(5)
        if accident == 0 and piece:
            flipped = piece[0] ^ (1 << rng.randrange(8))
            data = data[:begin] + bytes([flipped]) + data[begin + 1 :]
        elif accident == 1:
            data = data[:begin] + data[end:]
        elif accident == 2:
            data = data[:end] + piece * rng.randrange(1, 8) + data[end:]
        elif accident == 3:
            data = data[end:] + data[:begin] + piece
        else:
            strange = bytes([rng.randrange(256)]) * rng.randrange(1, 70)
            data = data[:begin] + strange + data[begin:]
    return data


class ParityTest(unittest.TestCase):
    """Holds the shared library against tools/text/reference.py."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.devices = [DeviceTokenizer(params) for params in PARAMS]
        cls.table = FoldTable(cls.devices[0].fold_table)
        cls.references = []
        for params in PARAMS:
            values = asdict(params)
            del values["version"]
            cls.references.append(ReferenceTokenizer(cls.table, **values))

    def check(self, data: bytes) -> None:
        """Compares tokens, rows and counts under every set of parameters."""
        for device, reference in zip(self.devices, self.references):
            found = device.tokenize(data)
            expected = reference.tokenize(data)
            got = list(
                zip(
                    found.offsets.tolist(),
                    found.lengths.tolist(),
                    found.classes.tolist(),
                    [rows.tolist() for rows in found.split_rows()],
                )
            )
            want = [(t.offset, t.length, t.token_class, t.rows) for t in expected]
            self.assertEqual(got, want, f"{data!r} with {device.params}")
            self.assertEqual(
                (found.invalid_utf8, found.cut_features, found.cut_chars),
                (reference.invalid_utf8, reference.cut_features, reference.cut_chars),
                f"{data!r} with {device.params}",
            )

    def test_normalizer_on_every_code_point(self) -> None:
        """All code points, surrogates included, between two letters."""
        device = self.devices[0]
        for first in range(0, 0x110000, 0x1000):
            codes = range(first, first + 0x1000)
            data = "".join(f"x{chr(c)}" for c in codes).encode("utf-8", "surrogatepass")
            chars, invalid = normalize(data, self.table)
            want = [
                (
                    ord(c.text),
                    c.offset,
                    c.size,
                    c.capital + 2 * c.imitation + 4 * c.after_hidden,
                )
                for c in chars
            ]
            self.assertEqual(device.normalize_chars(data), (want, invalid))

    def test_normalizing_again_changes_nothing(self) -> None:
        """The table's results are fixed points."""
        device = self.devices[0]
        for code in self.table.folds:
            once = device.normalize(chr(code))
            self.assertEqual(device.normalize(once), once, f"U+{code:04X}")

    def test_random_texts(self) -> None:
        """Texts of difficult pieces, seed fixed."""
        rng = random.Random(SEED)
        for _ in range(ROUNDS):
            self.check(random_text(rng))

    def test_damaged_texts(self) -> None:
        """The same after accidents that break code points and patterns."""
        rng = random.Random(SEED)
        for _ in range(ROUNDS // 2):
            self.check(damaged(random_text(rng), rng))

    def test_random_bytes(self) -> None:
        """Bytes with no sense at all, seed fixed."""
        rng = random.Random(SEED)
        for _ in range(ROUNDS // 5):
            self.check(rng.randbytes(rng.randrange(0, 120)))

    def test_every_text_of_four_signs(self) -> None:
        """All texts of up to four characters over a small alphabet."""
        alphabet = "ai1$@!.' "
        texts = [""]
        for _ in range(4):
            texts = [text + char for text in texts for char in alphabet]
            device, reference = self.devices[1], self.references[1]
            for text in texts:
                data = text.encode()
                found = device.tokenize(data).rows.tolist()
                want = [row for t in reference.tokenize(data) for row in t.rows]
                self.assertEqual(found, want, repr(text))

    def test_long_hostile_texts(self) -> None:
        """One endless word, number, run or address."""
        for piece in ("a", "ab", "9", "0 ", "a.", "a ", "!", "\u0301", "\U0001f600"):
            self.check((piece * 700).encode())
        for text in ("www." + "a." * 300, "http://x/" + "y" * 300 + " z", "a@" * 300):
            self.check(text.encode())
        self.check(b"\xff" * 700)
        self.check(b"")


if __name__ == "__main__":
    unittest.main()
