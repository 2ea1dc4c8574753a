"""Float encoder, its quantised twin, and the export to integers.

``FloatEncoder`` is the encoder of docs/quantization.md in real numbers. ``QuantEncoder``
wraps one, shares its parameters, and computes exactly the integers of the device in the
forward pass (tools/train/integer_ops.py), so its accuracy is the accuracy of the device:

    float_encoder = FloatEncoder(config)         # train it
    quantised = QuantEncoder(float_encoder)
    quantised.calibrate(batches)                 # fixes the activation scales
    ...                                          # train quantised(batch) further
    model = quantised.export_integers(name, labels, extra_keys, extra_tensors)
    write_model(path, model)                     # tools/reference/model_writer.py

Weight scales follow the weights at every step; activation scales change in
``calibrate`` only, which may be called again at any time. Neighbouring weights of every
matrix product obey |w[c][2i]| + |w[c][2i+1]| <= 128: with activations offset to 0..255,
AVX2 multiplies and adds them in one instruction (vpmaddubsw) without saturating, since
255 * 128 < 2^15.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools.reference import scales  # noqa: E402
from tools.reference.model import (  # noqa: E402
    BLOCK_MATMULS,
    EncoderConfig,
    Model,
    tensor_type,
    typed,
)
from tools.train import integer_ops as ops  # noqa: E402
from tools.train.integer_ops import (  # noqa: E402
    LinearIntegers,
    NormIntegers,
    QTensor,
)

__all__ = ["Batch", "EncoderConfig", "FloatEncoder", "QuantEncoder", "collate"]

LOGIT_SCALE = 1 / 256
# The residual stream keeps this much room above the largest value seen.
RESIDUAL_HEADROOM = 2.0
# Post-norm: a residual stream of 2^5 steps an int8 step leaves room for eight times
# the int8 range, for the sums with the sub-layers.
POST_NORM_LARGEST_SHIFT = 5
_SAMPLES_A_SITE = 60_000

Tap = Callable[[str, Tensor], None]


@dataclass(frozen=True)
class Batch:
    """Inputs of an encoder, packed: T tokens in all, without padding.

    Text: ``rows`` [M] are feature rows of distinct tokens one after the other,
    ``offsets`` [U] the first of each, and ``token_index`` [T] names the distinct token
    of every token (None: T = U, in order). Audio: ``features`` [T, e] are the int8
    values of the front end, as float32.
    """

    lengths: Tensor  # [B] int64: tokens of each input
    rows: Tensor | None = None
    offsets: Tensor | None = None
    token_index: Tensor | None = None
    features: Tensor | None = None


def collate(inputs: Sequence[Sequence[Sequence[int]]]) -> Batch:
    """Text inputs -> Batch. An input is a list of tokens, a token a list of rows."""
    index: dict[tuple[int, ...], int] = {}
    token_index = [
        index.setdefault(tuple(token), len(index)) for one in inputs for token in one
    ]
    sizes = [len(token) for token in index]
    offsets = np.cumsum([0, *sizes[:-1]]) if sizes else np.zeros(0)
    rows = [row for token in index for row in token]
    return Batch(
        lengths=torch.tensor([len(one) for one in inputs], dtype=torch.int64),
        rows=torch.tensor(rows, dtype=torch.int64),
        offsets=torch.from_numpy(offsets.astype(np.int64)),
        token_index=torch.tensor(token_index, dtype=torch.int64),
    )


class _Layout:
    """Places of packed tokens, for inputs of the given lengths."""

    def __init__(self, lengths: Tensor, with_class: bool) -> None:
        device = lengths.device
        batch = lengths.numel()
        self.lengths = lengths + 1 if with_class else lengths
        total = int(self.lengths.sum())
        self.longest = int(self.lengths.max())
        # Inputs of one length, as audio has them, need no padding: views do.
        self.uniform = total == batch * self.longest
        self.owner = torch.repeat_interleave(
            torch.arange(batch, device=device), self.lengths
        )
        starts = torch.cumsum(self.lengths, 0) - self.lengths
        self.position = torch.arange(total, device=device) - starts[self.owner]
        self.slots = self.owner * self.longest + self.position
        self.batch = batch
        self.mask = (
            torch.arange(self.longest, device=device)[None] < self.lengths[:, None]
        )
        self.class_slots = starts
        self.token_slots = (
            torch.nonzero(self.position > 0)[:, 0] if with_class else None
        )

    def pad(self, x: Tensor) -> Tensor:
        """[T, d] -> [B, N, d], zeros where no token is."""
        if self.uniform:
            return x.view(self.batch, self.longest, x.shape[1])
        padded = x.new_zeros((self.batch * self.longest, x.shape[1]))
        padded = padded.index_copy(0, self.slots, x)
        return padded.view(self.batch, self.longest, x.shape[1])

    def pack(self, x: Tensor) -> Tensor:
        """[B, N, d] -> [T, d]."""
        if self.uniform:
            return x.reshape(-1, x.shape[2])
        return x.reshape(-1, x.shape[2]).index_select(0, self.slots)

    def insert_class(self, x: Tensor, row: Tensor) -> Tensor:
        """Sets row before the first token of every input."""
        assert self.token_slots is not None
        full = x.new_zeros((self.owner.numel(), x.shape[1]))
        full = full.index_copy(0, self.token_slots, x)
        return full.index_copy(0, self.class_slots, row.expand(self.batch, -1))


class Block(nn.Module):
    """Parameters of one block, by the names of docs/model_format.md."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        d, f = config.embedding_length, config.feed_forward_length
        self.attn_norm = nn.LayerNorm(d)
        self.attn_q = nn.Linear(d, d)
        self.attn_k = nn.Linear(d, d)
        self.attn_v = nn.Linear(d, d)
        self.attn_o = nn.Linear(d, d)
        self.ffn_norm = nn.LayerNorm(d)
        self.ffn_up = nn.Linear(d, f)
        self.ffn_down = nn.Linear(f, d)


class FloatEncoder(nn.Module):
    """The encoder in real numbers.

    input_scale: real value of one unit of the int8 features (audio only).
    """

    def __init__(
        self,
        config: EncoderConfig,
        dropout: float = 0.0,
        input_scale: float = 1 / 32,
        table_std: float = 0.15,
    ) -> None:
        super().__init__()
        d = config.embedding_length
        self.config = config
        self.input_scale = input_scale
        self.dropout = nn.Dropout(dropout)
        if config.input == "text":
            table = torch.randn(config.vocabulary, config.input_length) * table_std
            self.table = nn.Parameter(table)
        self.in_proj = nn.Linear(config.input_length, d)
        if config.positions:
            position = torch.randn(config.context_length, d) * 0.02
            self.position = nn.Parameter(position)
        if config.pooling == "class":
            self.class_token = nn.Parameter(torch.randn(d) * 0.02)
        if config.norm == "post":
            self.input_norm = nn.LayerNorm(d)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.block_count))
        if config.norm == "pre":
            self.output_norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, config.classes)

    def layout(self, batch: Batch) -> _Layout:
        if int(batch.lengths.min()) < 1:
            raise ValueError("an input has no tokens: it has no result")
        layout = _Layout(batch.lengths, self.config.pooling == "class")
        if layout.longest > self.config.context_length:
            raise ValueError(
                f"an input has {layout.longest} tokens, the context length is "
                f"{self.config.context_length}"
            )
        return layout

    def forward(self, batch: Batch, tap: Tap | None = None) -> Tensor:
        """Logits [B, c] in nats. tap(name, rows) sees what quantisation will see."""
        config, layout = self.config, self.layout(batch)

        def seen(name: str, x: Tensor) -> Tensor:
            if tap is not None:
                tap(name, x.detach())
            return x

        if config.input == "text":
            assert batch.rows is not None and batch.offsets is not None
            y = F.embedding_bag(batch.rows, self.table, batch.offsets, mode="sum")
            y = self.dropout(seen("input", y))
        else:
            assert batch.features is not None
            y = batch.features * self.input_scale
        x = seen("in_proj", self.in_proj(y))
        if batch.token_index is not None:
            x = x.index_select(0, batch.token_index)
        if config.pooling == "class":
            x = layout.insert_class(x, self.class_token)
        if config.positions:
            x = x + self.position.index_select(0, layout.position)
        seen("residual", x)
        if config.norm == "post":
            x = seen("input_norm", self.input_norm(x))
        for index, block in enumerate(self.blocks):
            x = self._block(f"blk.{index}", block, x, layout, seen)
        if config.norm == "pre":
            x = seen("output_norm", self.output_norm(x))
        if config.pooling == "class":
            pooled = x.index_select(0, layout.class_slots)
        else:
            zeros = x.new_zeros((layout.batch, x.shape[1]))
            pooled = zeros.index_add(0, layout.owner, x) / layout.lengths[:, None]
        return seen("head", self.head(self.dropout(seen("pool", pooled))))

    def _block(
        self,
        name: str,
        block: Block,
        x: Tensor,
        layout: _Layout,
        seen: Callable[[str, Tensor], Tensor],
    ) -> Tensor:
        pre = self.config.norm == "pre"
        y = seen(f"{name}.attn_norm", block.attn_norm(x)) if pre else x
        q = seen(f"{name}.attn_q", block.attn_q(y))
        k = seen(f"{name}.attn_k", block.attn_k(y))
        v = seen(f"{name}.attn_v", block.attn_v(y))
        y = self._attention(q, k, v, layout)
        x = x + self.dropout(seen(f"{name}.attn_o", block.attn_o(y)))
        seen("residual", x)
        if not pre:
            x = seen(f"{name}.attn_norm", block.attn_norm(x))
        y = seen(f"{name}.ffn_norm", block.ffn_norm(x)) if pre else x
        y = seen(f"{name}.ffn_up", block.ffn_up(y))
        y = F.gelu(y) if self.config.activation == "gelu" else F.relu(y)
        x = x + self.dropout(seen(f"{name}.ffn_down", block.ffn_down(y)))
        seen("residual", x)
        return x if pre else seen(f"{name}.ffn_norm", block.ffn_norm(x))

    def _attention(self, q: Tensor, k: Tensor, v: Tensor, layout: _Layout) -> Tensor:
        heads = self.config.head_count

        def split(x: Tensor) -> Tensor:
            padded = layout.pad(x)
            return padded.view(*padded.shape[:2], heads, -1).transpose(1, 2)

        scores = split(q) @ split(k).transpose(-1, -2) / math.sqrt(q.shape[1] // heads)
        if not layout.uniform:
            scores = scores.masked_fill(~layout.mask[:, None, None, :], -math.inf)
        context = (scores.softmax(-1) @ split(v)).transpose(1, 2)
        return layout.pack(context.reshape(layout.batch, layout.longest, -1))


class _Observer:
    """Keeps a sample and the largest magnitude of each column of what it sees."""

    def __init__(self) -> None:
        self.peaks: dict[str, npt.NDArray[np.float64]] = {}
        self._samples: dict[str, list[Tensor]] = {}

    def __call__(self, name: str, x: Tensor) -> None:
        if x.numel() == 0:
            return
        peak = x.abs().amax(0).double().cpu().numpy()
        self.peaks[name] = np.maximum(self.peaks.get(name, peak), peak)
        # Every batch leaves the same number of samples, evenly spread.
        flat = x.reshape(-1)
        step = max(1, flat.numel() // 8192)
        self._samples.setdefault(name, []).append(flat[:: step | 1].clone())

    def peak(self, name: str) -> float:
        return max(float(self.peaks[name].max()), 1e-6)

    def samples(self, name: str) -> Tensor:
        flat = torch.cat(self._samples[name])
        return flat[:: max(1, flat.numel() // _SAMPLES_A_SITE) | 1]

    def int8_scale(self, name: str) -> float:
        """The int8 scale of least squared error."""
        x, peak = self.samples(name), self.peak(name)
        candidates = [peak / 127 * 0.95**i for i in range(45)]
        return min(candidates, key=lambda scale: _squared_error(x, scale))


def _largest_pair(weight: Tensor) -> Tensor:
    """max_i |w[c][2i]| + |w[c][2i+1]| of each row of weight [out, in]."""
    magnitudes = F.pad(weight.detach().abs(), (0, weight.shape[1] % 2))
    return magnitudes.view(len(weight), -1, 2).sum(2).amax(1)


def _squared_error(x: Tensor, scale: float) -> float:
    rounded = torch.round(x / scale).clamp_(-127, 127) * scale
    return float(((rounded - x) ** 2).mean())


def _gelu_fraction_bits(x: Tensor) -> int:
    """k of least squared error after GELU, for its inputs x."""
    wanted = F.gelu(x)

    def error(k: int) -> float:
        q = torch.round(x * 2.0**k).clamp_(-127, 127)
        y = ops.gelu_s8(QTensor(q, 2.0**-k), k).values
        return float(((y - wanted) ** 2).mean())

    return min(range(3, 7), key=error)


class QuantEncoder(nn.Module):
    """The integer encoder, for training and export; shares float_encoder's parameters.

    ``scales`` holds the activation scales by site; ``calibrate`` sets them.
    """

    def __init__(self, float_encoder: FloatEncoder) -> None:
        super().__init__()
        self.float_encoder = float_encoder
        self.config = float_encoder.config
        self.scales: dict[str, float] = {}
        self._peaks: dict[str, npt.NDArray[np.float64]] = {}
        self._table_clip = 1.0
        self._pool_shift = 6

    def get_extra_state(self) -> dict[str, Any]:
        return {
            "scales": dict(self.scales),
            "peaks": dict(self._peaks),
            "table_clip": self._table_clip,
            "pool_shift": self._pool_shift,
        }

    def set_extra_state(self, state: dict[str, Any]) -> None:
        self.scales = dict(state["scales"])
        self._peaks = dict(state["peaks"])
        self._table_clip = state["table_clip"]
        self._pool_shift = state["pool_shift"]

    @torch.no_grad()
    def calibrate(self, batches: Iterable[Batch]) -> None:
        """Chooses all activation scales from the float encoder's activations."""
        encoder, config = self.float_encoder, self.config
        was_training = encoder.training
        encoder.eval()
        see = _Observer()
        for batch in batches:
            encoder(batch, see)
        encoder.train(was_training)
        if not see.peaks:
            raise ValueError("calibrate: no batches")
        chosen: dict[str, float] = {}
        if config.input == "text":
            chosen["input"] = see.int8_scale("input")
            table = encoder.table
            top = float(table.abs().max()) / 127
            ratios = [0.95**i for i in range(30)]
            self._table_clip = min(
                ratios, key=lambda ratio: _squared_error(table, ratio * top)
            )
        else:
            chosen["input"] = encoder.input_scale
        # Pre-norm: one scale for the whole stream. Post-norm: up to the first norm.
        chosen["residual"] = see.peak("residual") * RESIDUAL_HEADROOM / 32767
        norms = ["input_norm"] if config.norm == "post" else ["output_norm"]
        for index in range(config.block_count):
            prefix = f"blk.{index}"
            norms += [f"{prefix}.attn_norm", f"{prefix}.ffn_norm"]
            for name in ("attn_q", "attn_k", "attn_v"):
                chosen[f"{prefix}.{name}"] = see.int8_scale(f"{prefix}.{name}")
            up = f"{prefix}.ffn_up"
            if config.activation == "gelu":
                chosen[up] = 2.0 ** -_gelu_fraction_bits(see.samples(up))
            else:
                chosen[up] = self._relu_scale(see, up)
        for name in norms:
            chosen[name] = see.int8_scale(name)
        # No finer than the accumulators that are added to it: requantisation has no
        # left shift. Only narrow or very uneven weights come near this.
        sources = [(encoder.in_proj, "input")]
        if config.norm == "pre":
            for index, block in enumerate(encoder.blocks):
                sources.append((block.attn_o, f"blk.{index}.attn_v"))
                sources.append((block.ffn_down, f"blk.{index}.ffn_up"))
        for module, source in sources:
            unit = float(_largest_pair(module.weight).max()) / 127 * chosen[source]
            chosen["residual"] = max(chosen["residual"], RESIDUAL_HEADROOM * unit)
        self._peaks = {
            name: peak
            for name, peak in see.peaks.items()
            if name.endswith(("in_proj", "attn_o", "ffn_down", "head"))
        }
        self.scales = chosen
        if config.pooling == "mean":
            unit = chosen[self._last_norm()]
            x = see.samples("pool")
            self._pool_shift = min(
                range(7),
                key=lambda s: (_squared_error(x, unit * 2.0 ** (s - 6)), -s),
            )

    @staticmethod
    def _relu_scale(see: _Observer, name: str) -> float:
        x = see.samples(name).clamp(min=0)
        peak = max(float(x.max()), 1e-6)
        candidates = [peak / 127 * 0.95**i for i in range(45)]
        return min(candidates, key=lambda scale: _squared_error(x, scale))

    def _last_norm(self) -> str:
        if self.config.norm == "pre":
            return "output_norm"
        return f"blk.{self.config.block_count - 1}.ffn_norm"

    # --- Integers of the parameters -----------------------------------------------

    def _linear(
        self,
        name: str,
        module: nn.Linear,
        scale_in: float,
        scale_out: float,
        to_int16: bool = False,
    ) -> LinearIntegers:
        """Quantises one matrix product; see "Requantisation" of the page."""
        # Rounding adds at most 1 to the sum of a pair of magnitudes: 127 becomes 128.
        base = _largest_pair(module.weight).double().cpu().numpy() / 127
        floor = scales.INT16_OUTPUT_FLOOR if to_int16 else scales.INT8_OUTPUT_FLOOR
        base = np.maximum(base, max(float(base.max()), 1e-12) * floor)
        factors = base * (scale_in / scale_out)
        choose = scales.requant_to_int16 if to_int16 else scales.requant_to_int8
        try:
            shift, multiplier = choose(factors)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
        if to_int16:
            # 16 bits before the multiplier must hold what the channel has to say.
            bias = module.bias.detach().abs().double().cpu().numpy()
            need = np.maximum(self._peaks.get(name, bias), bias) / scale_out
            need = np.ceil(need * RESIDUAL_HEADROOM * 32768 / 32767)
            multiplier = np.maximum(multiplier, np.minimum(need, 32767))
            multiplier = multiplier.astype(np.int64)
        weight_scale = multiplier * (scale_out / scale_in * 2.0 ** -(shift + 15))
        device = module.weight.device
        real_bias = module.bias.detach().double().cpu().numpy()
        limit = (1 << 30) - (1 << 24)
        bias_integers = np.rint(real_bias / (scale_in * weight_scale))
        bias_integers = np.clip(bias_integers, -limit, limit).astype(np.int64)
        bias_integers += scales.rounding_term(shift)
        weight_scale_tensor = torch.from_numpy(weight_scale).float().to(device)
        return LinearIntegers(
            weight=ops.quantise(module.weight, weight_scale_tensor[:, None]),
            bias=module.bias / scale_out,
            bias_integers=torch.from_numpy(bias_integers.astype(np.int32)).to(device),
            multiplier=torch.from_numpy(multiplier.astype(np.int32)).to(device),
            shift=shift,
            scale=scale_out,
        )

    def _norm(self, name: str, module: nn.LayerNorm) -> NormIntegers:
        scale = self.scales[name]
        largest = float(module.weight.detach().abs().max())
        try:
            shift = scales.norm_shift(scale, largest)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
        if self.config.norm == "post":
            shift = min(shift, POST_NORM_LARGEST_SHIFT)
        unit = scale * 2.0**-shift
        gain = torch.round(module.weight.detach().double() * (64 / unit))
        bias = torch.round(module.bias.detach().double() / unit)
        return NormIntegers(
            gamma=module.weight,
            beta=module.bias,
            gain=gain.clamp_(-32767, 32767).to(torch.int32),
            bias=bias.clamp_(-32768, 32767).to(torch.int32),
            shift=shift,
            scale=unit,
        )

    def _table(self) -> tuple[Tensor, int]:
        """(integer table [V, e], multiplier)."""
        table = self.float_encoder.table
        scale_out = self.scales["input"]
        scale = self._table_clip * float(table.detach().abs().max()) / 127
        multiplier = min(max(round(scale / scale_out * 32768), 1), 32767)
        exact = torch.tensor(multiplier * scale_out / 32768, device=table.device)
        return ops.quantise(table, exact), multiplier

    def _position(self, scale: float) -> tuple[Tensor, int]:
        """(integer positions [n_max, d], shift) for a residual stream of scale."""
        position = self.float_encoder.position
        peak = max(float(position.detach().abs().max()) / (127 * scale), 1e-9)
        shift = min(max(math.ceil(math.log2(peak)), 0), 8)
        unit = torch.tensor(scale * 2.0**shift, device=position.device)
        return ops.quantise(position, unit), shift

    def _class_token(self, scale: float) -> Tensor:
        token = self.float_encoder.class_token
        return ops.quantise(token, torch.tensor(scale, device=token.device), 32767)

    def _score(self, block: int) -> tuple[int, int]:
        """(sc, m) of the attention of a block."""
        d_head = self.config.embedding_length // self.config.head_count
        scale_q = self.scales[f"blk.{block}.attn_q"]
        scale_k = self.scales[f"blk.{block}.attn_k"]
        factor = math.log2(math.e) * scale_q * scale_k / math.sqrt(d_head)
        return scales.attention_score(factor)

    def _fraction_bits(self, block: int) -> int:
        return round(-math.log2(self.scales[f"blk.{block}.ffn_up"]))

    def _block_linears(
        self,
        block: int,
        scale_in: float,
        residual_scale: dict[str, float],
        ffn_in: float,
    ) -> dict[str, LinearIntegers]:
        """The six matrix products of a block; residual_scale for the two that add."""
        modules, prefix = self.float_encoder.blocks[block], f"blk.{block}"
        result = {}
        for name in BLOCK_MATMULS:
            site = f"{prefix}.{name}"
            if name in residual_scale:
                source = (
                    self.scales[f"{prefix}.attn_v"]
                    if name == "attn_o"
                    else self.scales[f"{prefix}.ffn_up"]
                )
                result[name] = self._linear(
                    site, getattr(modules, name), source, residual_scale[name], True
                )
            else:
                source = ffn_in if name == "ffn_up" else scale_in
                result[name] = self._linear(
                    site, getattr(modules, name), source, self.scales[site]
                )
        return result

    def _integers(self) -> "_Integers":
        """All parameters as integers (with gradients)."""
        if not self.scales:
            raise ValueError("QuantEncoder: call calibrate() first")
        config, encoder = self.config, self.float_encoder
        residual = self.scales["residual"]
        result = _Integers()
        result.linears["in_proj"] = self._linear(
            "in_proj", encoder.in_proj, self.scales["input"], residual, True
        )
        if config.norm == "post":
            result.norms["input_norm"] = self._norm("input_norm", encoder.input_norm)
        else:
            result.norms["output_norm"] = self._norm("output_norm", encoder.output_norm)
        for index, block in enumerate(encoder.blocks):
            prefix = f"blk.{index}"
            attn_norm = self._norm(f"{prefix}.attn_norm", block.attn_norm)
            ffn_norm = self._norm(f"{prefix}.ffn_norm", block.ffn_norm)
            if config.norm == "pre":
                scale_in, ffn_in = (
                    self.scales[f"{prefix}.attn_norm"],
                    self.scales[f"{prefix}.ffn_norm"],
                )
                streams = {"attn_o": residual, "ffn_down": residual}
            else:
                before = "input_norm" if index == 0 else f"blk.{index - 1}.ffn_norm"
                scale_in, ffn_in = (
                    self.scales[before],
                    self.scales[f"{prefix}.attn_norm"],
                )
                streams = {
                    "attn_o": result.norms[before].scale,
                    "ffn_down": attn_norm.scale,
                }
            result.norms[f"{prefix}.attn_norm"] = attn_norm
            result.norms[f"{prefix}.ffn_norm"] = ffn_norm
            linears = self._block_linears(index, scale_in, streams, ffn_in)
            for name, linear in linears.items():
                result.linears[f"{prefix}.{name}"] = linear
        pooled = self.scales[self._last_norm()]
        if config.pooling == "mean":
            pooled *= 2.0 ** (self._pool_shift - 6)
        result.linears["head"] = self._linear(
            "head", encoder.head, pooled, LOGIT_SCALE, True
        )
        return result

    # --- Forward ------------------------------------------------------------------

    def forward(self, batch: Batch) -> Tensor:
        """Logits [B, c] in nats: the device's int16 logits / 256."""
        return self._logits(batch).values

    @torch.no_grad()
    def integer_logits(self, batch: Batch) -> Tensor:
        """The device's logits [B, c] as int16."""
        return self._logits(batch).q.to(torch.int16)

    def _logits(self, batch: Batch) -> QTensor:
        config, encoder = self.config, self.float_encoder
        layout = encoder.layout(batch)
        parts = self._integers()
        if config.input == "text":
            assert batch.rows is not None and batch.offsets is not None
            table, multiplier = self._table()
            y = ops.embedding_sum(
                table, batch.rows, batch.offsets, multiplier, self.scales["input"]
            )
        else:
            assert batch.features is not None
            y = QTensor(batch.features, self.scales["input"])
        x = ops.matmul_s16(y, parts.linears["in_proj"])
        if batch.token_index is not None:
            x = QTensor(x.q.index_select(0, batch.token_index), x.scale)
        if config.pooling == "class":
            row = self._class_token(x.scale)
            x = QTensor(layout.insert_class(x.q, row), x.scale)
        if config.positions:
            position, shift = self._position(x.scale)
            rows = position.index_select(0, layout.position) * 2.0**shift
            x = ops.add_s16(x, QTensor(rows, x.scale))
        run = self._pre_norm_blocks if config.norm == "pre" else self._post_norm_blocks
        y = run(x, layout, parts)
        if config.pooling == "class":
            y = QTensor(y.q.index_select(0, layout.class_slots), y.scale)
        else:
            y = ops.mean_pool_s8(y, layout.owner, layout.lengths, self._pool_shift)
        return ops.matmul_s16(y, parts.linears["head"])

    def _pre_norm_blocks(
        self, x: QTensor, layout: _Layout, parts: "_Integers"
    ) -> QTensor:
        for index in range(self.config.block_count):
            prefix = f"blk.{index}"
            y = ops.layernorm_s8(x, parts.norms[f"{prefix}.attn_norm"])
            y = self._attention(index, y, layout, parts)
            x = ops.matmul_add_s16(x, y, parts.linears[f"{prefix}.attn_o"])
            y = ops.layernorm_s8(x, parts.norms[f"{prefix}.ffn_norm"])
            y = self._ffn_hidden(index, y, parts)
            x = ops.matmul_add_s16(x, y, parts.linears[f"{prefix}.ffn_down"])
        return ops.layernorm_s8(x, parts.norms["output_norm"])

    def _post_norm_blocks(
        self, x: QTensor, layout: _Layout, parts: "_Integers"
    ) -> QTensor:
        norm = parts.norms["input_norm"]
        x = ops.layernorm_s16(x, norm)
        y = ops.quantise8(x, norm.shift)
        for index in range(self.config.block_count):
            prefix = f"blk.{index}"
            y = self._attention(index, y, layout, parts)
            x = ops.matmul_add_s16(x, y, parts.linears[f"{prefix}.attn_o"])
            norm = parts.norms[f"{prefix}.attn_norm"]
            x = ops.layernorm_s16(x, norm)
            y = self._ffn_hidden(index, ops.quantise8(x, norm.shift), parts)
            x = ops.matmul_add_s16(x, y, parts.linears[f"{prefix}.ffn_down"])
            norm = parts.norms[f"{prefix}.ffn_norm"]
            x = ops.layernorm_s16(x, norm)
            y = ops.quantise8(x, norm.shift)
        return y

    def _attention(
        self, block: int, y: QTensor, layout: _Layout, parts: "_Integers"
    ) -> QTensor:
        q, k, v = (
            ops.matmul_s8(y, parts.linears[f"blk.{block}.{name}"])
            for name in ("attn_q", "attn_k", "attn_v")
        )
        context = ops.attention_s8(
            QTensor(layout.pad(q.q), q.scale),
            QTensor(layout.pad(k.q), k.scale),
            QTensor(layout.pad(v.q), v.scale),
            layout.mask,
            self.config.head_count,
            *self._score(block),
        )
        return QTensor(layout.pack(context.q), context.scale)

    def _ffn_hidden(self, block: int, y: QTensor, parts: "_Integers") -> QTensor:
        y = ops.matmul_s8(y, parts.linears[f"blk.{block}.ffn_up"])
        if self.config.activation == "relu":
            return ops.relu_s8(y)
        return ops.gelu_s8(y, self._fraction_bits(block))

    # --- Export -------------------------------------------------------------------

    @torch.no_grad()
    def export_integers(
        self,
        name: str,
        labels: Sequence[str],
        extra_keys: dict[str, Any] | None = None,
        extra_tensors: dict[str, npt.NDArray[Any]] | None = None,
    ) -> Model:
        """The model as the device holds it; extras are the front end's."""
        config = self.config
        if len(labels) != config.classes:
            raise ValueError(f"{len(labels)} labels for {config.classes} classes")
        parts = self._integers()
        model = Model()
        keys, tensors = model.keys, model.tensors
        keys.update(
            {
                "general.name": name,
                "atto.input": config.input,
                "atto.context_length": config.context_length,
                "atto.embedding_length": config.embedding_length,
                "atto.input_length": config.input_length,
                "atto.block_count": config.block_count,
                "atto.attention.head_count": config.head_count,
                "atto.feed_forward_length": config.feed_forward_length,
                "atto.norm": config.norm,
                "atto.activation": config.activation,
                "atto.pooling": config.pooling,
                "atto.labels": list(labels),
                "atto.in_proj.shift": parts.linears["in_proj"].shift,
                "atto.head.shift": parts.linears["head"].shift,
            }
        )
        if config.pooling == "mean":
            keys["atto.pooling.shift"] = self._pool_shift
        blocks = range(config.block_count)
        for matmul in BLOCK_MATMULS:
            shifts = [parts.linears[f"blk.{i}.{matmul}"].shift for i in blocks]
            keys[f"atto.{matmul}.shift"] = shifts
        for norm in ("attn_norm", "ffn_norm"):
            shifts = [parts.norms[f"blk.{i}.{norm}"].shift for i in blocks]
            keys[f"atto.{norm}.shift"] = shifts
        keys["atto.attn_score.shift"] = [self._score(i)[0] for i in blocks]
        keys["atto.attn_score.multiplier"] = [self._score(i)[1] for i in blocks]
        if config.activation == "gelu":
            keys["atto.gelu.fraction_bits"] = [self._fraction_bits(i) for i in blocks]
        outer = "input_norm" if config.norm == "post" else "output_norm"
        keys[f"atto.{outer}.shift"] = parts.norms[outer].shift

        integers: dict[str, Tensor] = {}
        if config.input == "text":
            table, keys["atto.token_embd.multiplier"] = self._table()
            integers["token_embd.weight"] = table
        residual = self.scales["residual"]
        if config.positions:
            position, keys["atto.position.shift"] = self._position(residual)
            integers["position_embd.weight"] = position
        if config.pooling == "class":
            integers["class_embd.weight"] = self._class_token(residual)
        for site, linear in parts.linears.items():
            integers[f"{site}.weight"] = linear.weight
            integers[f"{site}.bias"] = linear.bias_integers
            integers[f"{site}.multiplier"] = linear.multiplier
        for site, norm_part in parts.norms.items():
            integers[f"{site}.gain"] = norm_part.gain
            integers[f"{site}.bias"] = norm_part.bias
        for tensor_name, tensor in integers.items():
            tensors[tensor_name] = typed(
                tensor.detach().cpu().numpy(), tensor_type(tensor_name), tensor_name
            )
        keys.update(extra_keys or {})
        tensors.update(extra_tensors or {})
        return model


class _Integers:
    """Integers of all matrix products and norms, by site."""

    def __init__(self) -> None:
        self.linears: dict[str, LinearIntegers] = {}
        self.norms: dict[str, NormIntegers] = {}
