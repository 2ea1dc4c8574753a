"""NumPy reference of every integer operation in docs/quantization.md.

Written from that page alone. Everything is computed in int64 and every bound that the
page states is checked, so a result of this module is also a proof that the narrower
types of the device hold it. Arrays are row-major ``[rows, cols]`` as on the page.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]

INT16_MIN = -32768
INT16_MAX = 32767
MAX_BIAS = 1 << 30
MAX_TOKENS = 512


class BoundError(ValueError):
    """A value lies outside the range that the page states for it."""


def _as_int(x: npt.ArrayLike) -> IntArray:
    array = np.asarray(x)
    if not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"integers expected, found {array.dtype}")
    return array.astype(np.int64)


def check_bound(x: IntArray, low: int, high: int, name: str) -> IntArray:
    """Returns x; raises BoundError unless low <= x <= high everywhere."""
    if x.size and (int(x.min()) < low or int(x.max()) > high):
        raise BoundError(
            f"{name}: found [{int(x.min())}, {int(x.max())}], "
            f"legal is [{low}, {high}]"
        )
    return x


def _int8(x: npt.ArrayLike, name: str) -> IntArray:
    return check_bound(_as_int(x), -127, 127, name)


def _int16(x: npt.ArrayLike, name: str) -> IntArray:
    return check_bound(_as_int(x), INT16_MIN, INT16_MAX, name)


def _int32(x: IntArray, name: str) -> IntArray:
    return check_bound(x, -(1 << 31), (1 << 31) - 1, name)


def _uint32(x: IntArray, name: str) -> IntArray:
    return check_bound(x, 0, (1 << 32) - 1, name)


# --- Notation ---------------------------------------------------------------------


def sat16(x: npt.ArrayLike) -> IntArray:
    """x clamped to [-32768, 32767]."""
    return np.clip(_as_int(x), INT16_MIN, INT16_MAX)


def clamp127(x: npt.ArrayLike) -> IntArray:
    """x clamped to [-127, 127]."""
    return np.clip(_as_int(x), -127, 127)


def rdh16(a: npt.ArrayLike, b: npt.ArrayLike) -> IntArray:
    """Rounding doubling high multiply of int16 a, b; b is never -32768."""
    a64 = _int16(a, "rdh16 a")
    b64 = check_bound(_as_int(b), -INT16_MAX, INT16_MAX, "rdh16 b")
    return _int16((a64 * b64 + (1 << 14)) >> 15, "rdh16 result")


def bit_length(x: npt.ArrayLike) -> IntArray:
    """Number of bits of x >= 0; 0 for 0."""
    x64 = check_bound(_as_int(x), 0, (1 << 53) - 1, "bit_length")
    return np.frexp(x64.astype(np.float64))[1].astype(np.int64)


def isqrt(x: npt.ArrayLike) -> IntArray:
    """Floor of the square root of 0 <= x < 2^32."""
    x64 = _uint32(_as_int(x), "isqrt")
    root = np.floor(np.sqrt(x64.astype(np.float64))).astype(np.int64)
    if not np.all((root * root <= x64) & (x64 < (root + 1) * (root + 1))):
        raise BoundError("isqrt: double precision is not exact here")
    return root


# --- Requantisation ---------------------------------------------------------------


def requant16(acc: npt.ArrayLike, shift: int, multiplier: npt.ArrayLike) -> IntArray:
    """int32 accumulators [..., c] -> int16; multiplier [c] in 1..32767."""
    if not 0 <= shift <= 24:
        raise BoundError(f"requant16 shift: found {shift}, legal is 0..24")
    m = check_bound(_as_int(multiplier), 1, INT16_MAX, "requant16 multiplier")
    return rdh16(sat16(_int32(_as_int(acc), "requant16 acc") >> shift), m)


def quantise8(u: npt.ArrayLike, shift: int) -> IntArray:
    """int16 -> int8 by a rounding shift of 0..7."""
    if not 0 <= shift <= 7:
        raise BoundError(f"quantise8 shift: found {shift}, legal is 0..7")
    u64 = _int16(u, "quantise8 u")
    if shift == 0:
        return clamp127(u64)
    return clamp127(sat16(u64 + (1 << (shift - 1))) >> shift)


# --- Matrix product ---------------------------------------------------------------


def _product(a: IntArray, b: IntArray) -> IntArray:
    """a @ b, exact: every partial sum is below 2^53 (|a|, |b| <= 127, BLAS is fast)."""
    return np.rint(a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64)


def matmul_requant16(
    x: npt.ArrayLike,
    weight: npt.ArrayLike,
    bias: npt.ArrayLike,
    multiplier: npt.ArrayLike,
    shift: int,
) -> IntArray:
    """x [n, in] int8, weight [out, in] int8 -> u [n, out] int16."""
    x64 = _int8(x, "matmul x")
    w64 = _int8(weight, "matmul weight")
    b64 = check_bound(_as_int(bias), -MAX_BIAS, MAX_BIAS, "matmul bias")
    if not 1 <= w64.shape[1] <= 4096:
        raise BoundError(f"matmul in: found {w64.shape[1]}, legal is 1..4096")
    return requant16(b64 + _product(x64, w64.T), shift, multiplier)


def matmul_s8(
    x: npt.ArrayLike,
    weight: npt.ArrayLike,
    bias: npt.ArrayLike,
    multiplier: npt.ArrayLike,
    shift: int,
) -> IntArray:
    """MatmulS8: x [n, in] int8 -> y [n, out] int8."""
    return clamp127(matmul_requant16(x, weight, bias, multiplier, shift))


def matmul_s16(
    x: npt.ArrayLike,
    weight: npt.ArrayLike,
    bias: npt.ArrayLike,
    multiplier: npt.ArrayLike,
    shift: int,
) -> IntArray:
    """MatmulS16: x [n, in] int8 -> y [n, out] int16."""
    return matmul_requant16(x, weight, bias, multiplier, shift)


def matmul_add_s16(
    residual: npt.ArrayLike,
    x: npt.ArrayLike,
    weight: npt.ArrayLike,
    bias: npt.ArrayLike,
    multiplier: npt.ArrayLike,
    shift: int,
) -> IntArray:
    """MatmulAddS16: residual [n, out] int16 plus the product, saturated."""
    return add_s16(residual, matmul_requant16(x, weight, bias, multiplier, shift))


def add_s16(residual: npt.ArrayLike, x: npt.ArrayLike) -> IntArray:
    """AddS16: sat16(residual + x)."""
    return sat16(_int16(residual, "add residual") + _int16(x, "add x"))


# --- Embedding sum and positions --------------------------------------------------


def embedding_sum(
    table: npt.ArrayLike, rows: npt.ArrayLike, multiplier: int
) -> IntArray:
    """Sum of 1..255 rows (with repeats) of table [V, e] int8 -> y [e] int8."""
    index = _as_int(rows)
    table64 = _int8(table, "embedding table")
    if not 1 <= index.size <= 255:
        raise BoundError(f"embedding rows: found {index.size}, legal is 1..255")
    if not 1 <= table64.shape[0] <= 65535:
        raise BoundError(f"embedding V: found {table64.shape[0]}, legal is 1..65535")
    check_bound(index, 0, table64.shape[0] - 1, "embedding row")
    m = check_bound(_as_int(multiplier), 1, INT16_MAX, "embedding multiplier")
    acc = check_bound(table64[index].sum(axis=0), -32385, 32385, "embedding acc")
    return clamp127(rdh16(acc, m))


def add_position(x: npt.ArrayLike, position: npt.ArrayLike, shift: int) -> IntArray:
    """x [n, d] int16 + position [n, d] int8 << shift, saturated."""
    if not 0 <= shift <= 8:
        raise BoundError(f"position shift: found {shift}, legal is 0..8")
    return add_s16(x, _int16(_int8(position, "position") << shift, "position"))


# --- LayerNorm --------------------------------------------------------------------


def standardise(x: npt.ArrayLike) -> IntArray:
    """Rows x [..., d] int16 -> z [..., d]: (x - mean) / std, 9 fraction bits."""
    x64 = _int16(x, "layernorm x")
    d = x64.shape[-1]
    if not 2 <= d <= 512:
        raise BoundError(f"layernorm d: found {d}, legal is 2..512")
    total = x64.sum(axis=-1, keepdims=True)
    high = x64.max(axis=-1, keepdims=True)
    low = x64.min(axis=-1, keepdims=True)
    spread = np.maximum(d * high - total, total - d * low)
    check_bound(spread, 0, (1 << 26) - 1, "layernorm E")
    constant = spread == 0
    p = bit_length(np.where(constant, 1, spread))
    # The product is below 2^31 by the choice of p; the 32-bit modular form of the
    # page must give the same value.
    scaled = (d * x64 - total) << (31 - p)
    _int32(scaled, "layernorm scaled row")
    modular = x64 * (d << (31 - p)) - (total << (31 - p))
    modular = ((modular + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)
    if not np.array_equal(modular, scaled):
        raise BoundError("layernorm: the modular form differs")
    c = _int16(scaled >> 16, "layernorm c")
    variance = (c * c).sum(axis=-1, keepdims=True)
    variance = np.where(constant, 1 << 30, variance)
    check_bound(variance, 1 << 26, 1 << 39, "layernorm V")
    # 2^30 <= V 4^j < 2^32: bitlen(V) + 2 j is 31 or 32.
    j = (32 - bit_length(variance)) >> 1
    v = np.where(
        j >= 0, variance << (2 * np.maximum(j, 0)), variance >> (2 * np.maximum(-j, 0))
    )
    check_bound(v, 1 << 30, (1 << 32) - 1, "layernorm v")
    q = check_bound((1 << 31) // isqrt(v), 1 << 15, 1 << 16, "layernorm q")
    root_d = isqrt(np.int64(d) << 20)
    product = _uint32(q * root_d + (1 << (16 - j)), "layernorm q Q")
    r = check_bound(product >> (17 - j), 512, INT16_MAX, "layernorm R")
    return np.where(constant, 0, rdh16(c, r))


def layernorm_s16(
    x: npt.ArrayLike, gain: npt.ArrayLike, bias: npt.ArrayLike
) -> IntArray:
    """LayerNormS16: rows x [..., d] int16, gain and bias [d] int16 -> u int16."""
    g = check_bound(_as_int(gain), -INT16_MAX, INT16_MAX, "layernorm gain")
    return sat16(rdh16(standardise(x), g) + _int16(bias, "layernorm bias"))


def layernorm_s8(
    x: npt.ArrayLike, gain: npt.ArrayLike, bias: npt.ArrayLike, shift: int
) -> IntArray:
    """LayerNormS8: layernorm_s16, then quantise8 by shift 0..7."""
    return quantise8(layernorm_s16(x, gain, bias), shift)


# --- GELU and ReLU ----------------------------------------------------------------


def gelu_s8(q: npt.ArrayLike, fraction_bits: int) -> IntArray:
    """GELU of int8 with scale 2^-k in and out, k = fraction_bits in 3..6."""
    k = fraction_bits
    if not 3 <= k <= 6:
        raise BoundError(f"gelu fraction bits: found {k}, legal is 3..6")
    q64 = _int8(q, "gelu q")
    t = np.minimum(np.abs(q64) << (13 - k), INT16_MAX)
    w = INT16_MAX - t
    h = _int16(rdh16(w, -10456) + 31414, "gelu h")
    h = _int16(rdh16(w, h) - 14479, "gelu h")
    h = _int16(rdh16(w, h) + 2190, "gelu h")
    g = rdh16(t, rdh16(rdh16(w, w), h))
    return clamp127(np.maximum(q64, 0) - ((g + (1 << (11 - k))) >> (12 - k)))


def relu_s8(q: npt.ArrayLike) -> IntArray:
    """max(q, 0)."""
    return np.maximum(_int8(q, "relu q"), 0)


# --- Attention --------------------------------------------------------------------


def exp2m(f: npt.ArrayLike) -> IntArray:
    """127 * 256 * 2^(-f / 2048) for f in 0..2047."""
    f64 = check_bound(_as_int(f), 0, 2047, "exp2m f")
    inner = _int16(21944 - rdh16(16 * f64, 5740), "exp2m inner")
    return _int16(32512 - rdh16(16 * f64, inner), "exp2m")


def softmax_s8(acc: npt.ArrayLike, shift: int, multiplier: int) -> IntArray:
    """Rows acc [..., n] int32 -> weights e [..., n] in 0..127, the largest 127."""
    if not -4 <= shift <= 20:
        raise BoundError(f"softmax shift: found {shift}, legal is -4..20")
    m = check_bound(_as_int(multiplier), 1, INT16_MAX, "softmax multiplier")
    acc64 = _int32(_as_int(acc), "softmax acc")
    if not 1 <= acc64.shape[-1] <= MAX_TOKENS:
        raise BoundError(f"softmax n: found {acc64.shape[-1]}, legal is 1..512")
    dist = acc64.max(axis=-1, keepdims=True) - acc64
    check_bound(dist, 0, (1 << 24) - 1, "softmax dist")
    shifted = dist >> shift if shift >= 0 else dist << -shift
    t = np.minimum(_int32(shifted, "softmax shifted dist"), INT16_MAX)
    x = rdh16(t, m)
    far = x >= 8 << 11
    octave = np.where(far, 0, x >> 11)
    e = rdh16(exp2m(x & 2047), np.int64(1) << (7 - octave))
    return check_bound(np.where(far, 0, e), 0, 127, "softmax e")


def weighted_mean8(a: npt.ArrayLike, total: npt.ArrayLike, shift: int) -> IntArray:
    """a / total with |a| <= 127 total, total in 1..65535, as int8 with 6 - shift
    further fraction bits, shift in 0..6."""
    if not 0 <= shift <= 6:
        raise BoundError(f"weighted_mean8 shift: found {shift}, legal is 0..6")
    s = check_bound(_as_int(total), 1, 65535, "weighted_mean8 sum")
    a64 = _as_int(a)
    check_bound(np.abs(a64) - 127 * s, -127 * 65535, 0, "weighted_mean8 |a| - 127 sum")
    k = 16 - bit_length(s)
    inverse = np.minimum((1 << 30) // (s << k), INT16_MAX)
    head = _int32((a64 << k) + (1 << 8), "weighted_mean8 a << k") >> 9
    return quantise8(rdh16(head, inverse), shift)


def attention_s8(
    query: npt.ArrayLike,
    key: npt.ArrayLike,
    value: npt.ArrayLike,
    heads: int,
    score_shift: int,
    score_multiplier: int,
) -> IntArray:
    """query [rows, d], key and value [n, d] int8 -> context [rows, d] int8."""
    q64, k64, v64 = _int8(query, "query"), _int8(key, "key"), _int8(value, "value")
    d = q64.shape[1]
    if d % heads:
        raise BoundError(f"attention: {heads} heads do not divide d = {d}")
    d_head = d // heads
    context = np.zeros_like(q64)
    for head in range(heads):
        cols = slice(head * d_head, (head + 1) * d_head)
        acc = _product(q64[:, cols], k64[:, cols].T)
        e = softmax_s8(acc, score_shift, score_multiplier)
        total = check_bound(e.sum(axis=1, keepdims=True), 127, 65024, "attention sum")
        context[:, cols] = weighted_mean8(_product(e, v64[:, cols]), total, 6)
    return context


# --- Pooling, head and score ------------------------------------------------------


def mean_pool_s8(y: npt.ArrayLike, shift: int) -> IntArray:
    """Mean over the rows of y [n, d] int8 -> [d] int8 with 6 - shift further bits."""
    y64 = _int8(y, "pooling y")
    return weighted_mean8(y64.sum(axis=0), y64.shape[0], shift)


def scores(logits: npt.ArrayLike) -> IntArray:
    """Logits [c] int16 in 1/256 nat -> scores [c] in 0..32768."""
    logits64 = _int16(logits, "logits")
    if not 1 <= logits64.size <= 1024:
        raise BoundError(f"scores c: found {logits64.size}, legal is 1..1024")
    dist = logits64.max() - logits64
    x = _int32(dist * 11819 + 512, "score x") >> 10
    far = x >= 15 << 11
    e = np.where(far, 0, exp2m(x & 2047) >> np.where(far, 0, x >> 11))
    total = int(e.sum())
    numerator = _uint32(e * 32768 + total // 2, "score numerator")
    return check_bound(numerator // total, 0, 32768, "score")


def label(logits: npt.ArrayLike) -> int:
    """Index of the largest logit, the first of equals."""
    return int(np.argmax(_int16(logits, "logits")))
