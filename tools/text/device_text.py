"""The device's own tokenizer for Python, through the shared library.

Training reads its features from here, so that they are those of the device. The
library is build/host/libatto_text.so, or the file that the environment variable
ATTO_TEXT_LIB names.
"""

from __future__ import annotations

import ctypes
import os
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np

FEATURE_CLASS = 1
FEATURE_SHAPE = 2
FEATURE_WORD = 4
FEATURE_SKELETON = 8
FEATURE_GRAMS = 16
FEATURE_TRACES = 32
FEATURE_BIGRAMS = 64
PLAIN_PUNCTUATION = 128

CLASS_NAMES = (
    "",
    "word",
    "number",
    "amount",
    "phone",
    "short_code",
    "url",
    "email",
    "punctuation",
    "symbol",
)

KEY_PREFIX = "atto.text."
MAX_FEATURES = 64


@dataclass(frozen=True)
class TextParams:
    """Parameters of the tokenizer; the metadata keys are atto.text.<field>."""

    version: int = 1
    buckets: int = 2048
    features: int = 31
    ngram_min: int = 3
    ngram_max: int = 4
    max_word_chars: int = 24
    max_features: int = 48
    phone_min_digits: int = 9
    join_spaced_min: int = 4
    join_dotted_min: int = 3

    def metadata(self) -> dict[str, int]:
        """The parameters as they stand in a model file (u32 values)."""
        return {KEY_PREFIX + f.name: getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True)
class Tokens:
    """The tokens of one text.

    rows: uint16 [sum of row_counts], the tokens' rows one after the other.
    offsets, lengths: source bytes of each token. classes: see CLASS_NAMES.
    """

    rows: np.ndarray
    row_counts: np.ndarray
    offsets: np.ndarray
    lengths: np.ndarray
    classes: np.ndarray
    total: int
    invalid_utf8: int
    cut_features: int
    cut_chars: int

    def __len__(self) -> int:
        return len(self.row_counts)

    @property
    def cut_tokens(self) -> int:
        """Tokens of the text beyond `max_tokens`."""
        return self.total - len(self)

    def split_rows(self) -> list[np.ndarray]:
        """The rows of each token."""
        return np.split(self.rows, np.cumsum(self.row_counts)[:-1])


def library_path() -> Path:
    """Where the shared library should be."""
    named = os.environ.get("ATTO_TEXT_LIB")
    if named:
        return Path(named)
    root = Path(__file__).resolve().parents[2]
    return root / "build" / "host" / "libatto_text.so"


def load_library() -> ctypes.CDLL:
    """Loads the shared library and declares its functions."""
    path = library_path()
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is missing: build the project, or set ATTO_TEXT_LIB"
        )
    library = ctypes.CDLL(str(path))
    size, pointer = ctypes.c_size_t, ctypes.c_void_p
    library.atto_text_fold_table.restype = pointer
    library.atto_text_fold_table.argtypes = [ctypes.POINTER(size)]
    library.atto_text_check.restype = ctypes.c_int
    library.atto_text_check.argtypes = [pointer, pointer, size, ctypes.c_char_p, size]
    library.atto_text_tokenize.restype = ctypes.c_ssize_t
    library.atto_text_tokenize.argtypes = [
        *(pointer, pointer, size, ctypes.c_char_p, size, size, size),
        *(pointer, pointer, pointer, pointer, pointer, pointer),
    ]
    library.atto_text_normalize.restype = size
    library.atto_text_normalize.argtypes = [
        *(pointer, size, ctypes.c_char_p, size, size),
        *(pointer, pointer, pointer, pointer, pointer),
    ]
    return library


def as_bytes(text: str | bytes) -> bytes:
    """UTF-8; lone surrogates are kept as ill-formed bytes."""
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text


class DeviceTokenizer:
    """Tokenizes texts as the device does."""

    def __init__(
        self, params: TextParams = TextParams(), fold_table: bytes | None = None
    ) -> None:
        """Checks the parameters; without a table the project's own is taken."""
        self._library = load_library()
        self.params = params
        self._params = np.array(astuple(params), dtype=np.uint32)
        if fold_table is None:
            size = ctypes.c_size_t()
            address = self._library.atto_text_fold_table(ctypes.byref(size))
            fold_table = ctypes.string_at(address, size.value)
        self.fold_table = fold_table
        message = ctypes.create_string_buffer(256)
        if self._library.atto_text_check(
            self._params.ctypes.data, fold_table, len(fold_table), message, 256
        ):
            raise ValueError(message.value.decode("ascii", "replace"))

    def tokenize(self, text: str | bytes, max_tokens: int | None = None) -> Tokens:
        """Tokenizes a text; tokens beyond `max_tokens` are only counted."""
        data = as_bytes(text)
        # A code point becomes at most eight characters, a character one token.
        limit = 8 * len(data) if max_tokens is None else max_tokens
        capacity = min(limit, 256)
        while True:
            tokens = self._tokenize(data, capacity)
            if tokens.total <= capacity or capacity == limit:
                return tokens
            capacity = min(limit, tokens.total)

    def _tokenize(self, data: bytes, capacity: int) -> Tokens:
        row_capacity = capacity * MAX_FEATURES
        offsets = np.empty(capacity, np.uint64)
        lengths = np.empty(capacity, np.uint64)
        classes = np.empty(capacity, np.uint8)
        row_counts = np.empty(capacity, np.uint16)
        rows = np.empty(row_capacity, np.uint16)
        counts = np.zeros(4, np.uint64)
        written = self._library.atto_text_tokenize(
            *(self._params.ctypes.data, self.fold_table, len(self.fold_table)),
            *(data, len(data), capacity, row_capacity),
            *(offsets.ctypes.data, lengths.ctypes.data, classes.ctypes.data),
            *(row_counts.ctypes.data, rows.ctypes.data, counts.ctypes.data),
        )
        total, invalid_utf8, cut_features, cut_chars = (int(c) for c in counts)
        kept = min(total, capacity)
        return Tokens(
            rows=rows[:written].copy(),
            row_counts=row_counts[:kept].copy(),
            offsets=offsets[:kept].copy(),
            lengths=lengths[:kept].copy(),
            classes=classes[:kept].copy(),
            total=total,
            invalid_utf8=invalid_utf8,
            cut_features=cut_features,
            cut_chars=cut_chars,
        )

    def normalize(self, text: str | bytes) -> str:
        """The normalised text, without its offsets and flags."""
        return "".join(chr(code) for code, *_ in self.normalize_chars(text)[0])

    def normalize_chars(
        self, text: str | bytes
    ) -> tuple[list[tuple[int, int, int, int]], int]:
        """Characters (code, offset, size, flags) and the ill-formed sequences."""
        data = as_bytes(text)
        capacity = 8 * len(data)
        codes = np.empty(capacity, np.uint32)
        offsets = np.empty(capacity, np.uint64)
        sizes = np.empty(capacity, np.uint8)
        flags = np.empty(capacity, np.uint8)
        invalid = ctypes.c_uint64()
        count = self._library.atto_text_normalize(
            *(self.fold_table, len(self.fold_table), data, len(data), capacity),
            *(codes.ctypes.data, offsets.ctypes.data, sizes.ctypes.data),
            *(flags.ctypes.data, ctypes.addressof(invalid)),
        )
        columns = (codes[:count], offsets[:count], sizes[:count], flags[:count])
        chars = list(zip(*(column.tolist() for column in columns)))
        return chars, invalid.value
