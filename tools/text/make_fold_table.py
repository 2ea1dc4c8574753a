#!/usr/bin/env python3
"""Generates the fold table of the text normaliser from Unicode data.

The table maps code points to their lower-case ASCII skeleton (compatibility and
case folding, marks stripped, look-alikes replaced), or removes them. Its format
is defined in docs/text.md. Sources: Python's `unicodedata` and the Unicode
confusables in the PyPI package `confusable_homoglyphs`.
"""

from __future__ import annotations

import argparse
import json
import re
import struct
import sys
import unicodedata
from dataclasses import dataclass
from pathlib import Path

MAGIC = b"AFT1"
MAX_TABLE_BYTES = 4096
MAX_OUTPUT = 8
ENTRY_BYTES = 7
MAX_RUN = 256

REMOVE, CONSTANT, OFFSET, LETTERS, DIGITS, CELLS = 1, 2, 3, 4, 5, 6

# Code points that show nothing or only decorate their neighbour. Marks of scripts
# that need them to be read (Devanagari, Thai, ...) stay.
REMOVED = [
    (0xAD, 0xAD),
    (0x300, 0x36F),
    (0x483, 0x489),
    (0x591, 0x5BD),
    (0x610, 0x61A),
    (0x61C, 0x61C),
    (0x640, 0x640),
    (0x64B, 0x65F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x20D0, 0x20FF),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFE20, 0xFE2F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF9, 0xFFFC),
    (0x1D173, 0x1D17A),
    (0x1F3FB, 0x1F3FF),
    (0xE0001, 0xE007F),
    (0xE0100, 0xE01EF),
]

# Spaces beside general category Zs.
SPACES = [0x2028, 0x2029, 0x2800]

# Where Unicode data has no answer, or one that reads wrongly in a message.
OVERRIDES: dict[str, str] = {
    "ß": "ss",
    "ẞ": "ss",
    "Æ": "ae",
    "æ": "ae",
    "Œ": "oe",
    "œ": "oe",
    "Þ": "th",
    "þ": "th",
    "ð": "d",
    "Ð": "d",
    "ı": "i",
    "ĸ": "k",
    "Ŋ": "n",
    "ŋ": "n",
    "ſ": "s",
    "ª": "a",
    "º": "o",
    "¡": "!",
    "¿": "?",
    "´": "'",
    "¨": '"',
    "¸": ",",
    "¯": "-",
    "«": '"',
    "»": '"',
    "·": ".",
    "•": ".",
    "‣": ".",
    "∙": ".",
    "⋅": ".",
    "●": ".",
    "×": "x",
    "÷": "/",
    "¦": "|",
    "‘": "'",
    "’": "'",
    "‚": "'",
    "‛": "'",
    "′": "'",
    "“": '"',
    "”": '"',
    "„": '"',
    "‟": '"',
    "″": '"',
    "‹": "'",
    "›": "'",
    "⁄": "/",
    "∕": "/",
    "№": "no",
    "。": ".",
    "、": ",",
    "「": '"',
    "」": '"',
    "〈": "<",
    "〉": ">",
    "《": '"',
    "》": '"',
    "〜": "~",
    "ー": "-",
    "￠": "¢",
    "￡": "£",
    "￥": "¥",
    "￦": "₩",
    "₤": "£",
    # Greek and Cyrillic capitals and small letters by the look of a message.
    "Ι": "i",
    "ι": "i",
    "І": "i",
    "Ӏ": "i",
    "ӏ": "l",
    "Ⅰ": "i",
    "α": "a",
    "β": "b",
    "γ": "y",
    "ε": "e",
    "η": "n",
    "κ": "k",
    "μ": "u",
    "µ": "u",
    "ν": "v",
    "π": "n",
    "σ": "o",
    "ς": "c",
    "τ": "t",
    "υ": "u",
    "χ": "x",
    "ω": "w",
    "Λ": "a",
    "Δ": "a",
    "Σ": "e",
    "ϲ": "c",
    "Ϲ": "c",
    "Ϝ": "f",
    "ϝ": "f",
    "в": "b",
    "г": "r",
    "з": "3",
    "З": "3",
    "и": "n",
    "И": "n",
    "й": "n",
    "Й": "n",
    "к": "k",
    "м": "m",
    "н": "h",
    "п": "n",
    "т": "t",
    "у": "y",
    "ш": "w",
    "Ш": "w",
    "щ": "w",
    "Щ": "w",
    "ь": "b",
    "Ь": "b",
    "ъ": "b",
    "Ъ": "b",
    "я": "r",
    "Я": "r",
    "һ": "h",
    "Һ": "h",
    "ү": "y",
    "Ү": "y",
    "ҽ": "e",
    "Ҽ": "e",
    "ԁ": "d",
    "ԛ": "q",
    "Ԛ": "q",
    "ԝ": "w",
    "Ԝ": "w",
    "Ԍ": "g",
    "ѵ": "v",
    "Ѵ": "v",
    "ո": "n",
    "ռ": "n",
    "ս": "u",
    "Ս": "u",
    "ց": "g",
    "օ": "o",
    "Օ": "o",
    "հ": "h",
    "ք": "p",
}

# Scripts (first words of the character names) whose look-alikes are folded, and
# blocks of symbols that imitate letters.
CONFUSABLE_NAMES = re.compile(
    r"^(LATIN|GREEK|CYRILLIC|CHEROKEE|COPTIC|LISU|MODIFIER LETTER|"
    r"SCRIPT|DOUBLE-STRUCK|BLACK-LETTER|MATHEMATICAL|FULLWIDTH|HALFWIDTH|"
    r"ESTIMATED|APL|ROMAN NUMERAL|SMALL|INFORMATION|PLANCK|KELVIN|ANGSTROM)"
)
LETTER_WITH = re.compile(
    r"^LATIN (?:SMALL|CAPITAL) LETTER (?:DOTLESS )?([A-Z])(?: WITH .*)?$"
)
SMALL_CAPITAL = re.compile(r"^LATIN LETTER SMALL CAPITAL (?:BARRED )?([A-Z])$")
MODIFIER = re.compile(
    r"^(?:MODIFIER LETTER (?:SMALL|CAPITAL)|LATIN SUBSCRIPT SMALL LETTER) ([A-Z])$"
)

# Ranges of code points that the table looks at. The compatibility forms of East
# Asian and Arabic letters, for example, fold to no ASCII text and are left alone.
SCOPE = [
    (0x80, 0x36F),
    (0x370, 0x3D7),
    (0x3DC, 0x3DD),
    (0x3F0, 0x3FA),
    (0x400, 0x45F),
    (0x474, 0x477),
    (0x483, 0x52F),
    (0x531, 0x58F),
    (0x590, 0x6FF),
    (0x966, 0x96F),
    (0x9E6, 0x9EF),
    (0xE50, 0xE59),
    (0x1040, 0x1049),
    (0x115F, 0x1160),
    (0x13A0, 0x13F5),
    (0x17B4, 0x17E9),
    (0x1680, 0x1680),
    (0x180B, 0x180F),
    (0x1AB0, 0x1AFF),
    (0x1D00, 0x20FF),
    (0x2100, 0x218F),
    (0x2212, 0x2212),
    (0x2215, 0x2223),
    (0x22C5, 0x22C5),
    (0x2460, 0x247C),
    (0x2488, 0x2490),
    (0x249C, 0x24FF),
    (0x25CF, 0x25CF),
    (0x2776, 0x2793),
    (0x2800, 0x2800),
    (0x2C60, 0x2C7F),
    (0x3000, 0x301D),
    (0x3164, 0x3164),
    (0xA4D0, 0xA4F7),
    (0xA730, 0xA731),
    (0xFB00, 0xFB06),
    (0xFE00, 0xFE0F),
    (0xFE20, 0xFE2F),
    (0xFE50, 0xFE6B),
    (0xFEFF, 0xFEFF),
    (0xFF00, 0xFFFC),
    (0x1D173, 0x1D17A),
    (0x1D400, 0x1D7FF),
    (0x1F100, 0x1F1FF),
    (0x1F3FB, 0x1F3FF),
    (0x1FBF0, 0x1FBF9),
    (0xE0001, 0xE01EF),
]


@dataclass(frozen=True)
class Fold:
    """What a code point becomes: text (empty: removed) and its case."""

    text: str
    upper: bool


@dataclass(frozen=True)
class Entry:
    """One entry of the table over `count` code points from `first`."""

    first: int
    count: int
    kind: int
    flags: int
    argument: int
    cells: bytes = b""

    def cost(self) -> int:
        """Bytes that the entry and its cells take."""
        return ENTRY_BYTES + len(self.cells)


def load_confusables() -> dict[str, list[str]]:
    """Reads the look-alikes of every ASCII letter and digit."""
    try:
        import confusable_homoglyphs
    except ImportError:
        raise SystemExit(
            "make_fold_table: the Python package 'confusable_homoglyphs' is missing; "
            "install it with: pip install confusable_homoglyphs"
        ) from None
    path = Path(confusable_homoglyphs.__file__).with_name("confusables.json")
    with path.open(encoding="utf-8") as source:
        data = json.load(source)
    result: dict[str, list[str]] = {}
    for target, sources in data.items():
        if len(target) == 1 and target.isascii() and target.isalnum():
            for item in sources:
                if len(item["c"]) == 1 and not item["c"].isascii():
                    result.setdefault(item["c"], []).append(target)
    return result


def in_ranges(code: int, ranges: list[tuple[int, int]]) -> bool:
    """Whether a code point lies in one of the closed ranges."""
    return any(low <= code <= high for low, high in ranges)


def cp1252(code: int) -> str:
    """What a C1 control stands for in text that was never Windows-1252."""
    try:
        return bytes([code]).decode("cp1252")
    except UnicodeDecodeError:
        return ""


class Folder:
    """Folds single code points by Unicode data, overrides and look-alikes."""

    def __init__(self, confusables: dict[str, list[str]]) -> None:
        self.confusables = confusables

    def is_upper(self, char: str) -> bool:
        """Whether a character shows as a capital letter."""
        category = unicodedata.category(char)
        if category in ("Lu", "Lt"):
            return True
        if category in ("So", "Nl"):
            name = unicodedata.name(char, "")
            return "SMALL" not in name and (
                "LETTER" in name or "ROMAN" in name or "CAPITAL" in name
            )
        return False

    def lookalike(self, char: str) -> str | None:
        """The ASCII letter or digit that a character imitates, if any."""
        targets = self.confusables.get(char)
        if not targets or not CONFUSABLE_NAMES.match(unicodedata.name(char, "")):
            return None
        upper = self.is_upper(char)

        def rank(target: str) -> tuple[bool, bool, str]:
            return (not target.isalpha(), target.isupper() != upper, target)

        return min(targets, key=rank).lower()

    def step(self, char: str) -> str:
        """Folds one character once."""
        if char.isascii():
            return char.lower()
        code = ord(char)
        if in_ranges(code, REMOVED):
            return ""
        if code in SPACES or unicodedata.category(char) == "Zs":
            return " "
        if code == 0x85:
            return " "
        if 0x80 <= code <= 0x9F:
            return cp1252(code)
        if char in OVERRIDES:
            return OVERRIDES[char]
        name = unicodedata.name(char, "")
        for pattern in (LETTER_WITH, SMALL_CAPITAL, MODIFIER):
            match = pattern.match(name)
            if match:
                return match[1].lower()
        if 0x1F100 <= code <= 0x1F1FF:
            # Letters in circles, squares and flags: the letter alone.
            match = re.search(r"(?:LETTER|SYMBOL LETTER) ([A-Z])$", name)
            if match:
                return match[1].lower()
        if 0x249C <= code <= 0x24B5:
            return chr(ord("a") + code - 0x249C)
        if unicodedata.category(char) == "Pd":
            return "-"
        digit = unicodedata.digit(char, None)
        if digit is not None:
            return str(digit)
        folded = unicodedata.normalize("NFKD", char)
        folded = "".join(c for c in folded if unicodedata.category(c) != "Mn")
        if folded.startswith(" "):
            # A mark shown on its own, such as U+02D8.
            return char
        if folded and folded.isascii():
            return folded.lower()
        look = self.lookalike(char)
        if look is not None:
            return look
        if not folded:
            return char
        return unicodedata.normalize("NFC", folded.casefold())

    def fold(self, code: int) -> Fold | None:
        """Folds to the fixed point; None when the code point stays as it is."""
        char = chr(code)
        text = char
        for _ in range(8):
            following = "".join(self.step(c) for c in text)
            if following == text:
                break
            text = following
        else:
            raise ValueError(f"U+{code:04X} has no fixed point")
        if text == char:
            return None
        text = " ".join(text.split()) or (" " if text else "")
        return Fold(text, self.is_upper(char))


def storable(code: int, fold: Fold) -> bool:
    """Whether the result is of use: ASCII, or a small letter for a capital."""
    if fold.text.isascii():
        return len(fold.text) <= MAX_OUTPUT
    letter = unicodedata.category(chr(code)).startswith("L")
    alphabet = letter and (0x370 <= code < 0x500 or 0x531 <= code < 0x557)
    wanted = alphabet or code == 0x80 or chr(code) in OVERRIDES
    return len(fold.text) == 1 and wanted


def mark(char: str, upper: bool) -> int:
    """A cell byte: an ASCII character, bit 7 set for a former capital letter."""
    return ord(char) | (0x80 if upper and char.isalpha() else 0)


def cell(fold: Fold | None, stride: int) -> bytes | None:
    """One cell of `stride` bytes, or None when the fold does not fit in it."""
    if fold is None:
        return bytes(stride)
    if not fold.text:
        return b"\x01" + bytes(stride - 1)
    if not fold.text.isascii() or len(fold.text) > stride:
        return None
    data = bytes(mark(c, fold.upper) for c in fold.text)
    return data + bytes(stride - len(data))


def upper_flag(fold: Fold, index: int) -> int:
    """Flag bit for a former capital at an even (1) or odd (2) index."""
    if not (fold.upper and fold.text.isalpha()):
        return 0
    return 1 << (index & 1)


def runs_from(
    codes: list[int], folds: dict[int, Fold], start: int
) -> list[tuple[int, Entry]]:
    """Every useful entry that begins at codes[start], with the index after it."""
    first = codes[start]
    head = folds[first]
    found: list[tuple[int, Entry]] = []

    def contiguous(end: int) -> bool:
        place = end - start
        return end < len(codes) and place < MAX_RUN and codes[end] == first + place

    if not head.text:
        end = start
        while contiguous(end) and not folds[codes[end]].text:
            end += 1
        found.append((end, Entry(first, end - start, REMOVE, 0, 0)))
    if len(head.text) == 1:
        target = ord(head.text)
        # All to one character; parity flags say which were capitals.
        flags: dict[int, bool] = {}
        end = start
        while contiguous(end) and folds[codes[end]].text == head.text:
            index = end - start
            upper = bool(upper_flag(folds[codes[end]], index))
            if flags.setdefault(index & 1, upper) != upper:
                break
            end += 1
        bits = sum(1 << parity for parity, upper in flags.items() if upper)
        found.append((end, Entry(first, end - start, CONSTANT, bits, target)))
        # The same offset for each, or for every second one (flag bits 0 and 1:
        # even and odd places take part; bit 2: they were not capitals).
        offset = (target - first) % 65536
        if first < 0x10000:
            for step in (1, 2):
                end, index = start, 0
                capital = head.upper and head.text.isalpha()
                while (
                    end < len(codes) and index < MAX_RUN and codes[end] == first + index
                ):
                    fold = folds[codes[end]]
                    if (
                        len(fold.text) != 1
                        or (ord(fold.text) - codes[end]) % 65536 != offset
                        or (fold.upper and fold.text.isalpha()) != capital
                    ):
                        break
                    end += 1
                    index += step
                count = codes[end - 1] - first + 1
                bits = (3 if step == 1 else 1) | (0 if capital else 4)
                found.append((end, Entry(first, count, OFFSET, bits, offset)))
        # A..Za..z over and over.
        if head.text.isascii() and head.text.isalpha():
            phase = ord(head.text) - ord("a") + (0 if head.upper else 26)
            end = start
            while contiguous(end):
                place = (phase + end - start) % 52
                letter = chr(ord("a") + place % 26)
                if folds[codes[end]] != Fold(letter, place < 26):
                    break
                end += 1
            found.append((end, Entry(first, end - start, LETTERS, 0, phase)))
        if head.text.isascii() and head.text.isdigit():
            phase = int(head.text)
            end = start
            while contiguous(end):
                if folds[codes[end]].text != str((phase + end - start) % 10):
                    break
                end += 1
            found.append((end, Entry(first, end - start, DIGITS, 0, phase)))
    # A table of cells, which may run over code points that stay as they are.
    for stride in range(1, MAX_OUTPUT + 1):
        if cell(head, stride) is None:
            continue
        cells = b""
        end = start
        while end < len(codes):
            gap = codes[end] - (first + len(cells) // stride)
            piece = cell(folds[codes[end]], stride)
            if gap * stride > ENTRY_BYTES or piece is None:
                break
            if codes[end] - first >= MAX_RUN:
                break
            cells += bytes(gap * stride) + piece
            end += 1
            found.append(
                (end, Entry(first, len(cells) // stride, CELLS, stride, 0, cells))
            )
        break
    return found


def build_entries(folds: dict[int, Fold]) -> list[Entry]:
    """Splits the folds into the entries that take the fewest bytes."""
    codes = sorted(folds)
    best = [0] * (len(codes) + 1)
    choice: list[tuple[int, Entry] | None] = [None] * (len(codes) + 1)
    for start in range(len(codes) - 1, -1, -1):
        best[start] = sys.maxsize
        for end, entry in runs_from(codes, folds, start):
            cost = entry.cost() + best[end]
            if cost < best[start]:
                best[start], choice[start] = cost, (end, entry)
    entries: list[Entry] = []
    start = 0
    while start < len(codes):
        picked = choice[start]
        assert picked is not None
        start = picked[0]
        entries.append(picked[1])
    return entries


def build_table(folds: dict[int, Fold]) -> bytes:
    """Serialises the folds: header, entries, cells."""
    entries = build_entries(folds)
    cells = bytearray()
    records = bytearray()
    for entry in entries:
        argument = entry.argument
        if entry.kind == CELLS:
            argument = len(cells)
            cells += entry.cells
        records += entry.first.to_bytes(3, "little")
        records += bytes([entry.count - 1, entry.kind | entry.flags << 4])
        records += argument.to_bytes(2, "little")
    return MAGIC + struct.pack("<HH", len(entries), len(cells)) + records + cells


def collect_folds() -> dict[int, Fold]:
    """Folds of every code point in scope that changes and can be stored."""
    folder = Folder(load_confusables())
    folds: dict[int, Fold] = {}
    for low, high in SCOPE:
        for code in range(low, high + 1):
            assigned = unicodedata.category(chr(code)) != "Cn"
            if not assigned and not in_ranges(code, REMOVED):
                continue
            fold = folder.fold(code)
            if fold is not None and storable(code, fold):
                folds[code] = fold
    # The holes in the mathematical letters are taken by the letterlike symbols;
    # filling them makes one run of the block.
    for code in range(0x1D400, 0x1D6A4):
        place = (code - 0x1D400) % 52
        folds[code] = Fold(chr(ord("a") + place % 26), place < 26)
    return folds


def header_lines(table: bytes) -> list[str]:
    """The table as the lines of a C++ header."""
    lines = [
        "// Made by tools/text/make_fold_table.py from Unicode "
        f"{unicodedata.unidata_version}. Do not edit.",
        "#ifndef ATTO_TOOLS_TEXT_FOLD_TABLE_DATA_H_",
        "#define ATTO_TOOLS_TEXT_FOLD_TABLE_DATA_H_",
        "",
        "#include <cstdint>",
        "",
        "namespace atto {",
        "",
        "// clang-format off",
        f"inline constexpr std::uint8_t kFoldTableData[{len(table)}] = {{",
    ]
    for i in range(0, len(table), 16):
        row = ", ".join(str(b) for b in table[i : i + 16])
        lines.append(f"    {row},")
    return lines + [
        "};",
        "// clang-format on",
        "",
        "}  // namespace atto",
        "",
        "#endif  // ATTO_TOOLS_TEXT_FOLD_TABLE_DATA_H_",
    ]


def main() -> int:
    """Builds the table and writes it as bytes or as a C++ header."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="file to write: .h or .bin")
    args = parser.parse_args()
    if args.output.suffix not in (".h", ".bin"):
        print("make_fold_table: the output must end in .h or .bin", file=sys.stderr)
        return 1
    folds = collect_folds()
    table = build_table(folds)
    if len(table) > MAX_TABLE_BYTES:
        print(
            f"make_fold_table: the table takes {len(table)} bytes, "
            f"at most {MAX_TABLE_BYTES} are allowed",
            file=sys.stderr,
        )
        return 1
    try:
        if args.output.suffix == ".h":
            lines = header_lines(table)
            args.output.write_text("\n".join(lines) + "\n", encoding="ascii")
        else:
            args.output.write_bytes(table)
    except OSError as error:
        print(f"make_fold_table: {error}", file=sys.stderr)
        return 1
    entries = struct.unpack_from("<H", table, 4)[0]
    print(
        f"{args.output}: {len(folds)} code points, {entries} entries, {len(table)} bytes"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
