"""Choice of shifts and multipliers, as docs/quantization.md prescribes it.

Used by training, by the exporter and by the generator of random models; the device only
sees the results.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

# Smallest weight scale of a channel relative to the largest of its tensor.
INT8_OUTPUT_FLOOR = 1 / 32
INT16_OUTPUT_FLOOR = 1 / 8


def requant_to_int8(
    factors: npt.NDArray[np.float64],
) -> tuple[int, npt.NDArray[np.int64]]:
    """Factors M_c (output units per accumulator unit) -> (shift, m_c [c]).

    The shift leaves the full int8 range within 16 bits in every channel.
    Raises ValueError if a factor is too large or too small for 0 <= shift <= 24.
    """
    smallest = float(np.min(factors))
    shift = max(0, math.ceil(math.log2(127 / (32767 * smallest))))
    return shift, _multipliers(factors, shift)


def requant_to_int16(
    factors: npt.NDArray[np.float64],
) -> tuple[int, npt.NDArray[np.int64]]:
    """Factors M_c -> (shift, m_c [c]), the largest m_c in [2^14, 2^15).

    Raises ValueError if a factor is too large or too small for 0 <= shift <= 24.
    """
    mantissa, exponent = math.frexp(float(np.max(factors)))
    del mantissa
    shift = -exponent
    if shift < 0:
        raise ValueError(
            f"an output unit is smaller than an accumulator unit (factor "
            f"{float(np.max(factors)):.3g}); the output scale must grow"
        )
    return shift, _multipliers(factors, shift)


def _multipliers(factors: npt.NDArray[np.float64], shift: int) -> npt.NDArray[np.int64]:
    if shift > 24:
        raise ValueError(f"shift {shift} is above 24: the weights are too small")
    m = np.rint(np.asarray(factors, np.float64) * 2.0 ** (shift + 15)).astype(np.int64)
    # A factor just below a power of two rounds up to 2^15.
    m = np.where(m == 1 << 15, (1 << 15) - 1, m)
    if m.min() < 1 or m.max() > 32767:
        raise ValueError(f"multipliers {int(m.min())}..{int(m.max())} outside 1..32767")
    return m


def rounding_term(shift: int) -> int:
    """The half that the exporter folds into a bias: 2^(shift - 1), 0 for shift 0."""
    return 1 << (shift - 1) if shift > 0 else 0


def attention_score(factor: float) -> tuple[int, int]:
    """factor = log2(e) scale_q scale_k / sqrt(d_head) -> (sc, m).

    m / 2^15 * 2^-sc = factor * 2^11, m in [2^14, 2^15) so that the saturated distance
    of the softmax always means weight 0; only sc = 20 allows a smaller m.
    """
    mantissa, exponent = math.frexp(factor * 2.0**11)
    shift = -exponent
    if shift < -4:
        raise ValueError(f"attention scores are too coarse: factor {factor:.3g}")
    if shift > 20:
        mantissa *= 2.0 ** (20 - shift)
        shift = 20
    m = min(round(mantissa * 2**15), 32767)
    if m < 1:
        raise ValueError(f"attention scores are too fine: factor {factor:.3g}")
    return shift, m


def norm_shift(scale_out: float, largest_gain: float) -> int:
    """Largest s in 0..7 at which gain = gamma 2^6 / (scale_out 2^-s) fits int16.

    scale_out is the scale of the int8 result, largest_gain the largest |gamma|.
    """
    room = 32767 * scale_out / (64 * max(largest_gain, 1e-30))
    if room < 1:
        raise ValueError(
            f"norm gain {largest_gain:.3g} does not fit at scale {scale_out:.3g}"
        )
    return min(7, math.floor(math.log2(room)))
