"""PyTorch versions of the integer operations of docs/quantization.md.

The forward pass of every function gives the integers of that page, bit for bit; the
backward pass is the gradient of the real operation that the integers stand for
(straight-through: rounding has slope 1, clamping slope 0 outside its range).

Integers travel as float32 tensors: all of them are below 2^24, where float32 is exact,
so matrix products of integers are exact float32 matrix products. A ``QTensor`` q with
scale s stands for the real numbers s q; gradients are with respect to q.

Tokens of a batch are packed: ``[T, ..]`` holds the real tokens of all inputs one after
the other, so no padding enters a computation. Only attention pads, behind a mask.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function

INT16_MIN = -32768
INT16_MAX = 32767
# Products of int8 stay exact in float32 up to this inner size: 1040 * 127^2 < 2^24.
MAX_EXACT_INNER = 1040


@dataclass(frozen=True)
class QTensor:
    """Integers q (float32) that stand for the real numbers scale * q."""

    q: Tensor
    scale: float

    @property
    def values(self) -> Tensor:
        return self.q * self.scale


def _rdh16_(a: Tensor, b: Tensor | int) -> Tensor:
    """Rounding doubling high multiply of int32 tensors holding int16; changes a."""
    return a.mul_(b).add_(1 << 14).bitwise_right_shift_(15)


def _rdh16(a: Tensor, b: Tensor | int) -> Tensor:
    return ((a * b) + (1 << 14)).bitwise_right_shift_(15)


def _bit_length(x: Tensor) -> Tensor:
    """Number of bits of float64 integers 0 <= x < 2^53, as int32."""
    return torch.frexp(x)[1].to(torch.int32)


# --- Weights ----------------------------------------------------------------------


class _Quantise(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: Tensor, limit: int) -> Tensor:
        scaled = x / scale
        ctx.save_for_backward(scaled.abs() <= limit + 0.5, scale)
        return scaled.round_().clamp_(-limit, limit)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        inside, scale = ctx.saved_tensors
        return grad * inside / scale, None, None


def quantise(x: Tensor, scale: Tensor, limit: int = 127) -> Tensor:
    """Real x -> integers round(x / scale) in [-limit, limit]; scale broadcasts."""
    return _Quantise.apply(x, scale.to(x.dtype), limit)


# --- Matrix product and requantisation --------------------------------------------


def _requant16(acc: Tensor, bias: Tensor, shift: int, multiplier: Tensor) -> Tensor:
    """Exact accumulators [.., c] (float) -> int16 in int32."""
    wide = acc.to(torch.int32).add_(bias)
    wide = wide.bitwise_right_shift_(shift).clamp_(INT16_MIN, INT16_MAX)
    return _rdh16_(wide, multiplier)


class _Requantise(Function):
    @staticmethod
    def forward(
        ctx: Any,
        acc: Tensor,
        bias: Tensor,
        bias_integers: Tensor,
        shift: int,
        multiplier: Tensor,
        to_int8: bool,
    ) -> Tensor:
        del bias
        u = _requant16(acc, bias_integers, shift, multiplier)
        inside = None
        if to_int8:
            y = u.clamp(-127, 127)
            inside = y == u
            u = y
        ctx.save_for_backward(inside, multiplier)
        ctx.shift = shift
        return u.to(torch.float32)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        inside, multiplier = ctx.saved_tensors
        if inside is not None:
            grad = grad * inside
        grad_bias = grad.reshape(-1, grad.shape[-1]).sum(0)
        factor = multiplier.to(torch.float32) * 2.0 ** -(ctx.shift + 15)
        return grad * factor, grad_bias, None, None, None, None


@dataclass(frozen=True)
class LinearIntegers:
    """What the device holds of one matrix product, and the scale of its result."""

    weight: Tensor  # [out, in] int8 as float32; carries the gradient
    bias: Tensor  # [out] real bias in output units; for the gradient only
    bias_integers: Tensor  # [out] int32, rounding term included
    multiplier: Tensor  # [out] int32, 1..32767
    shift: int
    scale: float  # of the result


def _accumulate(x: Tensor, weight: Tensor) -> Tensor:
    if weight.shape[1] <= MAX_EXACT_INNER:
        return F.linear(x, weight)
    return F.linear(x.double(), weight.double())


def matmul_s8(x: QTensor, linear: LinearIntegers) -> QTensor:
    """MatmulS8: [.., in] int8 -> [.., out] int8."""
    y = _Requantise.apply(
        _accumulate(x.q, linear.weight),
        linear.bias,
        linear.bias_integers,
        linear.shift,
        linear.multiplier,
        True,
    )
    return QTensor(y, linear.scale)


def matmul_s16(x: QTensor, linear: LinearIntegers) -> QTensor:
    """MatmulS16: [.., in] int8 -> [.., out] int16."""
    u = _Requantise.apply(
        _accumulate(x.q, linear.weight),
        linear.bias,
        linear.bias_integers,
        linear.shift,
        linear.multiplier,
        False,
    )
    return QTensor(u, linear.scale)


def add_s16(residual: QTensor, x: QTensor) -> QTensor:
    """AddS16 of two tensors of one scale."""
    y = (residual.q + x.q).clamp(INT16_MIN, INT16_MAX)
    return QTensor(y, residual.scale)


def matmul_add_s16(residual: QTensor, x: QTensor, linear: LinearIntegers) -> QTensor:
    """MatmulAddS16: the product, in the scale of the residual stream, added to it."""
    return add_s16(residual, matmul_s16(x, linear))


# --- Embedding sum ----------------------------------------------------------------


class _EmbeddingRequantise(Function):
    @staticmethod
    def forward(ctx: Any, acc: Tensor, multiplier: int) -> Tensor:
        u = _rdh16_(acc.to(torch.int32), multiplier)
        y = u.clamp(-127, 127)
        ctx.save_for_backward(y == u)
        ctx.factor = multiplier / 32768
        return y.to(torch.float32)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (inside,) = ctx.saved_tensors
        return grad * inside * ctx.factor, None


def embedding_sum(
    table: Tensor, rows: Tensor, offsets: Tensor, multiplier: int, scale: float
) -> QTensor:
    """Sums rows of an integer table [V, e] -> [tokens, e] int8 of the given scale.

    rows are the feature rows of all tokens one after the other, offsets [tokens] the
    place of each token's first row, as in torch.nn.functional.embedding_bag.
    """
    acc = F.embedding_bag(rows, table, offsets, mode="sum")
    return QTensor(_EmbeddingRequantise.apply(acc, multiplier), scale)


# --- LayerNorm --------------------------------------------------------------------


def _standardise(x: Tensor) -> tuple[Tensor, Tensor]:
    """Rows x [T, d] int16 as int32 -> (z [T, d] int32, 1 / std of x [T, 1])."""
    d = x.shape[1]
    total = x.sum(1, keepdim=True, dtype=torch.int32)
    high = x.amax(1, keepdim=True)
    low = x.amin(1, keepdim=True)
    spread = torch.maximum(d * high - total, total - d * low)
    constant = spread == 0
    p = _bit_length(spread.clamp(min=1).double())
    # |d x - S| < 2^p, so the shifted product fits 32 bits.
    c = (x * d).sub_(total).bitwise_left_shift_(31 - p).bitwise_right_shift_(16)
    c_double = c.double()
    variance = (c_double * c_double).sum(1, keepdim=True)
    variance = torch.where(constant, torch.full_like(variance, 2.0**30), variance)
    j = (32 - _bit_length(variance)).bitwise_right_shift_(1)
    v = torch.floor(torch.ldexp(variance, 2 * j))
    q = torch.floor(2.0**31 / torch.floor(torch.sqrt(v)))
    root_d = float(math.isqrt(d << 20))
    r = torch.floor(
        torch.ldexp(q * root_d + torch.ldexp(torch.ones_like(v), 16 - j), j - 17)
    )
    z = _rdh16_(c, r.to(torch.int32))
    z.masked_fill_(constant, 0)
    # c = d (x - mean) 2^(15 - p), so std(x) = sqrt(V / d) 2^(p - 15) / d.
    inverse_std = torch.ldexp(d * torch.sqrt(d / variance), 15 - p)
    inverse_std.masked_fill_(constant, 0.0)
    return z, inverse_std.float()


class _LayerNorm(Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        gamma: Tensor,
        beta: Tensor,
        gain: Tensor,
        bias: Tensor,
        scale: float,
        largest_inverse_std: float,
    ) -> Tensor:
        del beta
        z, inverse_std = _standardise(x.to(torch.int32))
        u = _rdh16(z, gain).add_(bias).clamp_(INT16_MIN, INT16_MAX)
        ctx.save_for_backward(
            z.to(torch.float32) / 512,
            inverse_std.clamp(max=largest_inverse_std),
            gamma,
        )
        ctx.scale = scale
        return u.to(torch.float32)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        z, inverse_std, gamma = ctx.saved_tensors
        grad = grad / ctx.scale
        grad_z = grad * gamma
        centred = grad_z - grad_z.mean(1, keepdim=True)
        grad_x = inverse_std * (centred - z * (grad_z * z).mean(1, keepdim=True))
        return grad_x, (grad * z).sum(0), grad.sum(0), None, None, None, None


@dataclass(frozen=True)
class NormIntegers:
    """What the device holds of one LayerNorm."""

    gamma: Tensor  # [d] real; for the gradient only
    beta: Tensor  # [d] real; for the gradient only
    gain: Tensor  # [d] int32 in [-32767, 32767]
    bias: Tensor  # [d] int32 in [-32768, 32767]
    shift: int  # to int8
    scale: float  # of the int16 result; the int8 result has scale 2^shift times it


def layernorm_s16(x: QTensor, norm: NormIntegers) -> QTensor:
    """LayerNormS16: rows [T, d] int16 -> [T, d] int16."""
    # Rows that barely vary have a gradient without bound: cut it as an epsilon of
    # 1e-5 in the variance would.
    largest_inverse_std = x.scale / 1e-5**0.5
    u = _LayerNorm.apply(
        x.q,
        norm.gamma,
        norm.beta,
        norm.gain,
        norm.bias,
        norm.scale,
        largest_inverse_std,
    )
    return QTensor(u, norm.scale)


class _Quantise8(Function):
    @staticmethod
    def forward(ctx: Any, u: Tensor, shift: int) -> Tensor:
        if shift > 0:
            u = (u + 2.0 ** (shift - 1)).clamp_(INT16_MIN, INT16_MAX)
            u = u.mul_(2.0**-shift).floor_()
        y = u.clamp(-127, 127)
        ctx.save_for_backward(y == u)
        ctx.shift = shift
        return y

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (inside,) = ctx.saved_tensors
        return grad * inside * 2.0**-ctx.shift, None


def quantise8(u: QTensor, shift: int) -> QTensor:
    """int16 -> int8 by a rounding shift."""
    return QTensor(_Quantise8.apply(u.q, shift), u.scale * 2.0**shift)


def layernorm_s8(x: QTensor, norm: NormIntegers) -> QTensor:
    """LayerNormS8: rows [T, d] int16 -> [T, d] int8."""
    return quantise8(layernorm_s16(x, norm), norm.shift)


# --- GELU and ReLU ----------------------------------------------------------------


@lru_cache(maxsize=None)
def _gelu_tables(fraction_bits: int) -> tuple[Tensor, Tensor]:
    """(result, slope) of GELU for q = -127..127."""
    k = fraction_bits
    q = torch.arange(-127, 128, dtype=torch.int32)
    t = (q.abs() << (13 - k)).clamp_(max=INT16_MAX)
    w = INT16_MAX - t
    h = _rdh16(w, -10456) + 31414
    h = _rdh16(w, h) - 14479
    h = _rdh16(w, h) + 2190
    g = _rdh16(t, _rdh16(_rdh16(w, w), h))
    y = (q.clamp(min=0) - ((g + (1 << (11 - k))) >> (12 - k))).clamp_(-127, 127)
    x = q.double() * 2.0**-k
    density = torch.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    slope = 0.5 * (1 + torch.erf(x / math.sqrt(2))) + x * density
    return y.to(torch.float32), slope.to(torch.float32)


class _Gelu(Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, fraction_bits: int) -> Tensor:
        index = (q + 127).to(torch.int64)
        result, slope = _gelu_tables(fraction_bits)
        ctx.save_for_backward(index, slope)
        return result.to(q.device)[index]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        index, slope = ctx.saved_tensors
        return grad * slope.to(grad.device)[index], None


def gelu_s8(x: QTensor, fraction_bits: int) -> QTensor:
    """GELU of int8 with scale 2^-fraction_bits, in and out."""
    if x.scale != 2.0**-fraction_bits:
        raise ValueError(f"gelu: scale {x.scale} is not 2^-{fraction_bits}")
    return QTensor(_Gelu.apply(x.q, fraction_bits), x.scale)


def relu_s8(x: QTensor) -> QTensor:
    return QTensor(F.relu(x.q), x.scale)


# --- Attention --------------------------------------------------------------------


@lru_cache(maxsize=64)
def _softmax_table(multiplier: int) -> Tensor:
    """Weight e for every shifted distance t = 0..32767."""
    t = torch.arange(1 << 15, dtype=torch.int32)
    x = _rdh16_(t, multiplier)
    far = x >= 8 << 11
    octave = (x >> 11).masked_fill_(far, 0)
    f16 = (x & 2047) * 16
    exp2m = 32512 - _rdh16(f16, 21944 - _rdh16(f16, 5740))
    e = _rdh16(exp2m, torch.ones_like(octave) << (7 - octave))
    return e.masked_fill_(far, 0).to(torch.float32)


class _Softmax(Function):
    @staticmethod
    def forward(
        ctx: Any, acc: Tensor, mask: Tensor, shift: int, multiplier: int
    ) -> Tensor:
        far = torch.tensor(-(2.0**24), device=acc.device)
        top = torch.where(mask, acc, far).amax(-1, keepdim=True)
        # Masked keys may lie above the maximum; they get weight 0 below.
        t = (top - acc).mul_(2.0**-shift).floor_().clamp_(0, INT16_MAX)
        table = _softmax_table(multiplier).to(acc.device)
        e = table[t.to(torch.int64)].mul_(mask)
        ctx.save_for_backward(e)
        # ln 2 / 2^11 for each unit of x = t multiplier / 2^15
        ctx.slope = 0.6931471805599453 * multiplier * 2.0 ** -(26 + shift)
        return e

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        (e,) = ctx.saved_tensors
        # The maximum also depends on acc, but every use of e divides by its sum, on
        # which a common factor has no effect.
        return grad * e * ctx.slope, None, None, None


class _WeightedMean(Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor, total: Tensor, shift: int) -> Tensor:
        wide = total.double()
        k = 16 - _bit_length(wide)
        inverse = torch.floor(2.0**30 / torch.ldexp(wide, k)).clamp_(max=INT16_MAX)
        # |a| 2^k < 2^23: exact.
        head = (a * torch.ldexp(torch.ones_like(total), k)).add_(256.0)
        head = head.mul_(2.0**-9).floor_().to(torch.int32)
        u = _rdh16_(head, inverse.to(torch.int32))
        if shift > 0:
            u = u.add_(1 << (shift - 1)).clamp_(max=INT16_MAX)
            u = u.bitwise_right_shift_(shift)
        y = u.clamp(-127, 127)
        inside = y == u
        y = y.to(torch.float32)
        ctx.save_for_backward(y, inside, total)
        ctx.shift = shift
        return y

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
        y, inside, total = ctx.saved_tensors
        grad = grad * inside / total
        grad_total = -(grad * y).sum(-1, keepdim=True)
        return grad * 2.0 ** (6 - ctx.shift), grad_total, None


def weighted_mean8(a: Tensor, total: Tensor, shift: int) -> Tensor:
    """a [.., c] / total [.., 1] as int8 with 6 - shift further fraction bits."""
    return _WeightedMean.apply(a, total, shift)


def attention_s8(
    q: QTensor,
    k: QTensor,
    v: QTensor,
    mask: Tensor,
    heads: int,
    score_shift: int,
    score_multiplier: int,
) -> QTensor:
    """q, k, v [B, N, d] int8, mask [B, N] of real tokens -> context [B, N, d].

    Rows of the context that belong to no real token hold no meaning.
    """
    batch, n, d = q.q.shape
    key_mask = mask[:, None, None, :]

    def split(x: Tensor) -> Tensor:
        return x.view(batch, n, heads, d // heads).transpose(1, 2)

    acc = split(q.q) @ split(k.q).transpose(-1, -2)
    e = _Softmax.apply(acc, key_mask, score_shift, score_multiplier)
    context = weighted_mean8(e @ split(v.q), e.sum(-1, keepdim=True), 6)
    return QTensor(context.transpose(1, 2).reshape(batch, n, d), v.scale)


# --- Pooling ----------------------------------------------------------------------


def mean_pool_s8(x: QTensor, owner: Tensor, lengths: Tensor, shift: int) -> QTensor:
    """Packed rows [T, d] int8 -> means [B, d] int8; owner [T] names the input."""
    total = lengths.to(torch.float32)[:, None]
    zeros = x.q.new_zeros((lengths.numel(), x.q.shape[1]))
    sums = zeros.index_add(0, owner, x.q)
    return QTensor(weighted_mean8(sums, total, shift), x.scale * 2.0 ** (shift - 6))
