"""The text front end in plain Python, written from docs/text.md.

It is slow and simple: the tests hold the runtime's C++ against it, and readers
can see the definition run. The window is a plain string and the patterns are
regular expressions on it, so that it shares no method with the C++.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

WINDOW = 64
WORD, NUMBER, AMOUNT, PHONE, SHORT_CODE, URL, EMAIL, PUNCTUATION, SYMBOL = range(1, 10)
BIT_CLASS, BIT_SHAPE, BIT_WORD, BIT_SKELETON, BIT_GRAMS = 1, 2, 4, 8, 16
BIT_TRACES, BIT_PAIRS, BIT_PLAIN = 32, 64, 128

CURRENCY = "$\u00a2-\u00a5\u0e3f\u20a0-\u20cf"
# Symbols beyond ASCII, as ranges of a character class.
SYMBOLS = (
    "\u0080-\u00bf\u00d7\u00f7\u0e3f\u2000-\u2bff\u2e00-\u2e7f\u3000-\u3004"
    "\u3007-\u303f\ue000-\uf8ff\ufe10-\ufe6f\uff00-\uff65\uffe0-\uffff"
    "\U0001f000-\U0001fbff\U000f0000-\U0010ffff"
)
LETTER = f"(?:[a-z]|(?![{SYMBOLS}])[\u0080-\U0010ffff])"
CHAR = f"(?:[0-9]|{LETTER})"
LABEL = f"(?:{CHAR}|-)+"
TOP_DOMAINS = "com net org info biz uk co tv mobi eu edu gov ac xyz io cn".split()
SECOND_DOMAINS = "co com org net gov ac edu".split()
CODES = "rs|gbp|usd|eur|inr"
UNITS = "am pm st nd rd th k m x s hr hrs min mins yr yrs wk wks mb gb kg km".split()
PLAIN = ".,'\"-_:;()/"
LEET = str.maketrans("01!|3\u20ac4@5$6978", "ollleeaassggtb")
ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"'}


@dataclass(frozen=True)
class Char:
    """One character of the normalised text."""

    text: str
    offset: int
    size: int
    capital: bool
    imitation: bool
    after_hidden: bool


@dataclass(frozen=True)
class ReferenceToken:
    """One token: source bytes, class, rows of the embedding table."""

    offset: int
    length: int
    token_class: int
    rows: list[int]


def decode_utf8(data: bytes) -> list[tuple[int, int, int]]:
    """Code points with offset and size; ill-formed parts are -1.

    Python's decoder replaces maximal ill-formed parts as Unicode recommends.
    """
    result: list[tuple[int, int, int]] = []
    position = 0
    while position < len(data):
        for size in range(1, 5):
            piece = data[position : position + size]
            try:
                result.append((ord(piece.decode("utf-8")), position, size))
                break
            except UnicodeDecodeError as error:
                if error.reason != "unexpected end of data" or len(piece) < size:
                    # What was read without the byte that does not fit.
                    size = max(1, error.end - error.start)
                    result.append((-1, position, size))
                    break
        position += size
    return result


class FoldTable:
    """The fold table, spread out into a dictionary.

    Values: None (removed) or a list of (character, capital).
    """

    def __init__(self, data: bytes) -> None:
        if data[:4] != b"AFT1":
            raise ValueError("not a fold table")
        entries = int.from_bytes(data[4:6], "little")
        cells = data[8 + 7 * entries :]
        self.folds: dict[int, list[tuple[str, bool]]] = {}
        for number in range(entries):
            record = data[8 + 7 * number :][:7]
            first = int.from_bytes(record[:3], "little")
            kind, flags = record[4] & 15, record[4] >> 4
            argument = int.from_bytes(record[5:7], "little")
            for index in range(record[3] + 1):
                fold = self._fold(first + index, index, kind, flags, argument, cells)
                if fold is not None:
                    self.folds[first + index] = fold

    @staticmethod
    def _fold(
        code: int, index: int, kind: int, flags: int, argument: int, cells: bytes
    ) -> list[tuple[str, bool]] | None:
        """What one code point becomes; None: it stays."""
        parity = bool(flags >> (index % 2) & 1)
        if kind == 1:
            return []
        if kind == 2:
            return [(chr(argument), parity)]
        if kind == 3:
            if not parity:
                return None
            return [(chr((code + argument) % 65536), not flags & 4)]
        if kind == 4:
            place = (index + argument) % 52
            return [(chr(ord("a") + place % 26), place < 26)]
        if kind == 5:
            return [(str((index + argument) % 10), False)]
        cell = cells[argument + index * flags :][:flags].rstrip(b"\0")
        if not cell:
            return None
        if cell == b"\x01":
            return []
        return [(chr(c & 127), c > 127) for c in cell]


def normalize(data: bytes, table: FoldTable) -> tuple[list[Char], int]:
    """The normalised characters and the number of ill-formed parts."""
    chars: list[Char] = []
    invalid = 0
    hidden = False
    for code, offset, size in decode_utf8(data):
        if code < 0:
            invalid += 1
            code = 0xFFFD
        if code < 0x80:
            char = chr(code)
            if code in range(9, 14):
                fold = [(" ", False)]
            elif code < 32 or code == 127:
                fold = []
            else:
                fold = [(char.lower(), char.isupper())]
        else:
            fold = table.folds.get(code, [(chr(code), False)])
        foreign = code >= 0x250 and not 0x1E00 <= code <= 0x1EFF
        for text, capital in fold:
            imitation = foreign and text.isascii()
            chars.append(Char(text, offset, size, capital, imitation, hidden))
            hidden = False
        if not fold:
            hidden = True
    return chars, invalid


def fnv(kind: int, data: bytes) -> int:
    """FNV-1a, 32 bits, of a kind and bytes."""
    value = 2166136261
    for byte in bytes([kind]) + data:
        value = (value ^ byte) * 16777619 % 2**32
    return value


def mix(value: int) -> int:
    """The end of MurmurHash3."""
    value ^= value >> 16
    value = value * 0x85EBCA6B % 2**32
    value ^= value >> 13
    value = value * 0xC2B2AE35 % 2**32
    return value ^ value >> 16


def is_letter(char: str) -> bool:
    """Whether a character is a letter; of the empty string: no."""
    return re.fullmatch(LETTER, char) is not None


def is_digit(char: str) -> bool:
    """Whether a character is a digit; of the empty string: no."""
    return char != "" and char in "0123456789"


def zero_digits(text: str) -> str:
    """Every digit as 0."""
    return re.sub("[0-9]", "0", text)


def soften(text: str, leet: bool = False) -> str:
    """The skeleton of a text."""
    if leet:
        text = text.translate(LEET)
    return text.replace("i", "l")


@dataclass
class Word:
    """A word while it is read."""

    kept: str = ""
    letters: int = 0
    capitals: int = 0
    digits: int = 0
    signs: int = 0
    imitations: int = 0
    first_capital: bool = False
    hidden: bool = False
    joined: bool = False

    def add(self, char: Char, first: bool) -> None:
        """Takes a character; `first`: no other stood before it."""
        if is_letter(char.text):
            self.letters += 1
            self.capitals += char.capital
            if self.letters == 1:
                self.first_capital = char.capital
            self.imitations += char.imitation
        elif is_digit(char.text):
            self.digits += 1
        else:
            self.signs += 1
        if char.after_hidden and not first:
            self.hidden = True
        if not (is_letter(char.text) and self.kept.endswith(2 * char.text)):
            self.kept += char.text

    def shape(self) -> int:
        """Case, digits, signs."""
        if self.letters == 0:
            case = 0
        elif self.capitals == 0:
            case = 1
        elif self.letters == 1:
            case = 4
        elif self.capitals == self.letters:
            case = 3
        elif self.capitals == 1 and self.first_capital:
            case = 2
        else:
            case = 5
        return case + 8 * (self.digits > 0) + 16 * (self.signs > 0)


@dataclass
class ReferenceTokenizer:
    """Tokenizes one text at a time; parameters as in device_text.TextParams."""

    table: FoldTable
    buckets: int
    features: int
    ngram_min: int
    ngram_max: int
    max_word_chars: int
    max_features: int
    phone_min_digits: int
    join_spaced_min: int
    join_dotted_min: int
    invalid_utf8: int = 0
    cut_features: int = 0
    cut_chars: int = 0
    _rows: list[int] = field(default_factory=list)

    def tokenize(self, data: bytes) -> list[ReferenceToken]:
        """All tokens of a text."""
        self._chars, self.invalid_utf8 = normalize(data, self.table)
        self.cut_features = self.cut_chars = 0
        self._previous = 0
        self._at = 0
        self._in_word = False
        tokens: list[ReferenceToken] = []
        text = "".join(c.text for c in self._chars)
        while self._at < len(text):
            if text[self._at] == " ":
                self._at += 1
                continue
            begin = self._at
            self._window = text[begin : begin + WINDOW]
            self._tail = text[begin + WINDOW :]
            self._rows = []
            token_class = self._token()
            if token_class:
                last = self._chars[self._at - 1]
                offset = self._chars[begin].offset
                length = last.offset + last.size - offset
                tokens.append(ReferenceToken(offset, length, token_class, self._rows))
        return tokens

    # Features.

    def _add(self, value: int) -> None:
        if len(self._rows) == self.max_features:
            self.cut_features += 1
        else:
            self._rows.append((mix(value) >> 16) * self.buckets >> 16)

    def _begin(self, token_class: int, shape: int) -> None:
        if self.features & BIT_CLASS:
            self._add(fnv(1, bytes([token_class])))
        if self.features & BIT_SHAPE:
            self._add(fnv(2, bytes([token_class, shape])))

    def _text(self, kind: int, text: str) -> int:
        value = fnv(kind, text.encode("utf-8", "surrogatepass"))
        if self.features & BIT_WORD:
            self._add(value)
        return value

    def _skeleton(self, marked: str) -> int:
        value = fnv(4, marked.encode())
        if self.features & BIT_SKELETON:
            self._add(value)
        return value

    def _grams(self, marked: str) -> None:
        if not self.features & BIT_GRAMS:
            return
        for begin in range(len(marked)):
            for n in range(self.ngram_min, self.ngram_max + 1):
                if begin + n <= len(marked) and n < len(marked):
                    self._add(fnv(4, marked[begin : begin + n].encode()))

    def _pair(self, key: int) -> None:
        if self.features & BIT_PAIRS:
            data = self._previous.to_bytes(4, "little") + key.to_bytes(4, "little")
            self._add(fnv(9, data))
        self._previous = key

    def _cut(self, text: str, count: bool = False) -> str:
        if count:
            self.cut_chars += max(0, len(text) - self.max_word_chars)
        return text[: self.max_word_chars]

    # Patterns on the window.

    def _domain(self, begin: int, any_labels: int) -> int:
        match = re.compile(rf"{LABEL}(?:\.{LABEL}){{0,7}}").match(self._window, begin)
        if not match:
            return 0
        labels = match[0].split(".")
        known = 0
        end = begin + len(labels[0])
        for previous, label in zip(labels, labels[1:]):
            end += 1 + len(label)
            country = re.fullmatch(f"{LETTER}{{2}}", label) is not None
            path = (
                re.fullmatch(f"{LETTER}{{2,6}}", label)
                and len(previous) >= 2
                and re.compile(f"/{CHAR}").match(self._window, end)
            )
            if label in TOP_DOMAINS or (country and previous in SECOND_DOMAINS) or path:
                known = end
        if known:
            return known
        return match.end() if any_labels and len(labels) >= any_labels else 0

    def _url(self) -> tuple[int, int, int, int] | None:
        """Host, its end, end, shape."""
        scheme = re.match("https?://", self._window)
        shape = len(scheme[0]) - 5 if scheme else int(self._window.startswith("www."))
        host = scheme.end() if scheme else 0
        if self._window.startswith("www.", host):
            host += 4
        host_end = self._domain(host, 1 if shape else 0)
        if not host_end:
            return None
        end = host_end
        path = re.compile("(?:[/?#]|:[0-9])[^ ]*").match(self._window, host_end)
        if path:
            end = path.end()
            if end < WINDOW:
                kept = self._window[host_end:end].rstrip(".,!?;:)'\"")
                end = host_end + len(kept)
            if end > host_end:
                shape += 4
        return host, host_end, end, shape

    def _joined(self) -> tuple[int, int]:
        """Letters and the step between them; 0 letters: no match."""
        match = re.match(rf"{LETTER}([._*-]| {{1,3}})", self._window)
        if not match:
            return 0, 0
        joiner = match[1]
        least = self.join_spaced_min if joiner[0] == " " else self.join_dotted_min
        step = 1 + len(joiner)
        others = "'._*-".replace(joiner[0], "")
        run = re.compile(f"{LETTER}(?={re.escape(joiner)}{LETTER})(?!{CHAR})")
        last = re.compile(f"{LETTER}(?!{CHAR})(?![{re.escape(others)}]{LETTER})")
        letters = 0
        while letters < self.max_word_chars:
            if run.match(self._window, letters * step):
                letters += 1
                continue
            if last.match(self._window, letters * step):
                letters += 1
            break
        return (letters, step) if least and letters >= least else (0, 0)

    def _phone(self) -> int:
        match = re.match(r"(\(?\+?)([0-9]+)", self._window)
        if not match or len(match[2]) > 15:
            return 0
        group = len(match[2])
        if group == 1 and not match[1] and match[2] != "1":
            return 0
        total, end = group, match.end()
        further = re.compile(
            r"[ .()-]{1,3}(?<=\()([0-9])(?=\))|[ .()-]{1,3}([0-9]{2,})"
        )
        while group < self.phone_min_digits:
            more = further.match(self._window, end)
            if not more or total + len(more[1] or more[2]) > 15:
                break
            group = len(more[1] or more[2])
            total, end = total + group, more.end()
        return end if total >= self.phone_min_digits else 0

    # Tokens: each returns its class, or 0 for none, and moves self._at.

    def _token(self) -> int:
        window = self._window
        if self._in_word:
            return self._word()
        if re.match(CHAR, window):
            url = self._url()
            if url:
                return self._address(URL, url[0], *url)
            email = re.match(f"(?:{CHAR}|[._%+-])+@", window)
            if email:
                end = self._domain(email.end(), 2)
                if end:
                    return self._address(EMAIL, 0, email.end(), end, end, 0)
            letters, step = self._joined()
            if letters:
                word = Word(joined=True)
                for i in range(letters):
                    word.add(self._chars[self._at + i * step], i == 0)
                self._at += (letters - 1) * step + 1
                return self._emit_word(word, "<", ">")
        phone = self._phone()
        if phone:
            return self._emit_phone(phone)
        number = self._number()
        if number:
            return number
        if re.match(f"{CHAR}|[$@\u20ac]{LETTER}", window):
            return self._word()
        if ord(window[0]) >= 0x80:
            return self._symbol()
        return self._punctuation()

    def _address(
        self,
        token_class: int,
        begin: int,
        host: int,
        host_end: int,
        end: int,
        shape: int,
    ) -> int:
        self._begin(token_class, shape)
        pieces = list(re.compile(f"{CHAR}+").finditer(self._window, begin, end))
        texts = [zero_digits(self._cut(piece[0], True)) for piece in pieces]
        for text in texts:
            self._text(3, text)
            self._skeleton(f"<{soften(text)}>")
        self._pair(fnv(1, bytes([token_class])))
        for piece, text in zip(pieces, texts):
            if host <= piece.start() < host_end:
                self._grams(f"<{soften(text)}>")
        self._at += end
        if end == WINDOW:
            rest = len(self._tail.split(" ")[0])
            self.cut_chars += rest
            self._at += rest
        return token_class

    def _emit_phone(self, end: int) -> int:
        digits = re.sub("[^0-9]", "", self._window[:end])
        self._begin(PHONE, len(digits))
        self._text(7, digits[:3])
        self._text(7, digits[:4])
        self._pair(fnv(1, bytes([PHONE])))
        self._at += end
        return PHONE

    def _number(self) -> int:
        window, limit = self._window, self.max_word_chars
        match = re.match(
            rf"((?:[{CURRENCY}]|(?:{CODES})(?!{LETTER})\.?) ?(?=[0-9]))?[0-9]", window
        )
        if not match:
            return 0
        prefix = match[1] or ""
        body = re.compile("[0-9]+(?:[.,:/][0-9]+)*").match(window[:limit], len(prefix))
        assert body is not None
        digits = len(re.sub("[^0-9]", "", body[0]))
        plain = body[0].isdigit()
        amount = prefix != ""
        end = unit_end = body.end()
        unit, per = "", ""
        rest = window[end:]
        if is_digit(rest[:1]):
            pass
        elif rest.startswith("%"):
            end += 1
        elif not prefix and re.match(f"[{CURRENCY}](?![0-9])", rest):
            amount = True
            end = unit_end = end + 1
        else:
            letters = re.match(f"{LETTER}*", rest)
            assert letters is not None
            word = letters[0]
            if word:
                pence = re.fullmatch(f"p(?:[pw]{LETTER}{{0,4}})?", word) is not None
                money = pence or re.fullmatch(CODES, word) is not None
                fits = money or word in UNITS or (amount and len(word) <= 6)
                if fits and not is_digit(rest[len(word) : len(word) + 1]):
                    amount = amount or money
                    unit = word
                    end = unit_end = end + len(word)
                elif not prefix and plain and digits <= 2:
                    return 0
            if amount:
                slash = re.compile(f"/({LETTER}{{1,6}})(?!{CHAR})").match(window, end)
                if slash:
                    per = slash[1]
                    end = slash.end()
        bare = plain and end == body.end()
        token_class = NUMBER
        if amount:
            token_class = AMOUNT
        elif bare and digits in (5, 6):
            token_class = SHORT_CODE
        has_unit = unit_end > body.end()
        self._begin(token_class, min(digits, 15) + 16 * (not plain) + 32 * has_unit)
        text = window[:end].replace(" ", "")
        if digits <= 4:
            self._text(3, self._cut(text))
        for part in (unit, per):
            if part:
                self._text(3, self._cut(part))
        pattern = zero_digits(self._cut(text, True))
        self._pair(self._text(5, pattern))
        if not bare or amount:
            self._grams(f"<{soften(pattern)}>")
        self._at += end
        return token_class

    def _takes_sign(self, at: int, word: Word) -> bool:
        window = self._window
        sign, last, following = window[at], window[at - 1], window[at + 1 : at + 2]
        if sign == "@":
            return is_letter(following) or following == "$"
        if sign in "$\u20ac":
            return is_letter(following) if is_digit(last) else not is_digit(following)
        if sign == "|":
            return is_letter(last) and is_letter(following)
        if sign == "!" and word.letters == at <= 2 and is_letter(following):
            capitals = [self._chars[self._at + i].capital for i in (at - 1, at + 1)]
            return last not in "aeiouy" and (not capitals[1] or capitals[0])
        return False

    def _word(self) -> int:
        window = self._window
        word = Word()
        begin_mark = "" if self._in_word else "<"
        at = 0
        while at < len(window) and len(word.kept) < self.max_word_chars:
            char = window[at]
            if is_digit(char):
                run = re.compile("[0-9]*").match(window, at)
                assert run is not None
                if at and not is_digit(window[at - 1]) and len(run[0]) >= 5:
                    break
            elif at and not is_letter(char):
                quote = "'" if is_letter(window[at - 1]) else "\ufffd"
                dropped = re.compile(f"(?:{quote}|\ufffd)\ufffd*(?={LETTER})").match(
                    window, at
                )
                if dropped:
                    word.hidden |= "\ufffd" in dropped[0]
                    at = dropped.end()
                    continue
                if not self._takes_sign(at, word):
                    break
            word.add(self._chars[self._at + at], at == 0)
            at += 1
        full = len(word.kept) == self.max_word_chars or at == WINDOW
        following = (window + self._tail)[at : at + 1]
        self._in_word = full and is_letter(following)
        self._at += at
        return self._emit_word(word, begin_mark, "" if self._in_word else ">")

    def _emit_word(self, word: Word, begin_mark: str, end_mark: str) -> int:
        leet = word.letters >= 2 and word.digits + word.signs > 0
        self._begin(WORD, word.shape())
        self._text(3, word.kept)
        marked = begin_mark + soften(word.kept, leet) + end_mark
        self._pair(self._skeleton(marked))
        if self.features & BIT_TRACES:
            partly = 0 < word.imitations < word.letters
            traces = (word.joined, leet, word.hidden, partly)
            for number, present in enumerate(traces, start=1):
                if present:
                    self._add(fnv(8, bytes([number])))
        self._grams(marked)
        return WORD

    def _symbol(self) -> int:
        char = self._window[0]
        run = re.escape(char)
        more = f"(?:{run}(?![0-9]))*" if re.match(f"[{CURRENCY}]", char) else f"{run}*"
        match = re.match(run + more, self._window)
        assert match is not None
        self._begin(SYMBOL, min(4, len(match[0])))
        self._text(6, char)
        self._at += len(match[0])
        return SYMBOL

    def _punctuation(self) -> int:
        mark = re.compile("&(?:lt|gt|amp|quot);|[!-/:-@\\[-`{-~]")
        stop = re.compile(f"[$@+(]{CHAR}")
        marks = ""
        end = 0
        while match := mark.match(self._window, end):
            if end and stop.match(self._window, end):
                break
            marks += ENTITIES.get(match[0], match[0])
            end = match.end()
        self._at += end
        if len(marks) == 1 and marks in PLAIN and not self.features & BIT_PLAIN:
            return 0
        self._begin(PUNCTUATION, min(4, len(marks)))
        different = re.sub(r"(.)\1+", r"\1", marks)
        self._text(6, different[:8])
        return PUNCTUATION
