"""Random integer models of any legal shape, for tests and golden vectors."""

from __future__ import annotations

import numpy as np

from tools.audio.params import AudioParams
from tools.reference import scales
from tools.reference.model import (
    BLOCK_MATMULS,
    EncoderConfig,
    Model,
    tensor_type,
    typed,
)


# A fold table without entries; docs/text.md.
EMPTY_FOLD_TABLE = np.frombuffer(b"AFT1" + bytes(4), np.uint8)


def text_keys(buckets: int) -> dict[str, np.uint32]:
    """A legal set of tokenizer keys; docs/text.md."""
    values = {
        "version": 1,
        "buckets": buckets,
        "features": 31,
        "ngram_max": 4,
        "ngram_min": 3,
        "max_word_chars": 24,
        "max_features": 48,
        "phone_min_digits": 9,
        "join_spaced_min": 4,
        "join_dotted_min": 3,
    }
    return {f"atto.text.{name}": np.uint32(value) for name, value in values.items()}


def audio_params(input_length: int) -> AudioParams:
    """A front end whose rows have that width; docs/audio.md."""
    frames = next(t for t in (4, 2, 1) if input_length % t == 0)
    return AudioParams(
        bins=input_length // frames,
        patch_frames=frames,
        patch_stride=(frames + 1) // 2,
    )


class _RandomModel:
    """Builds a random model whose activations use their ranges and seldom clip.

    rms values of int8 tensors are tracked roughly; multipliers aim at the rms that the
    next operation wants.
    """

    NORM_RMS = 32.0  # int8 output of a norm: 4 standard deviations fit

    def __init__(self, shape: EncoderConfig, seed: int) -> None:
        self.shape = shape
        self.rng = np.random.default_rng(seed)
        self.model = Model()

    def matmul(
        self,
        name: str,
        out: int,
        inner: int,
        input_rms: float,
        output_rms: float,
        to_int16: bool = False,
    ) -> int:
        """Adds weight, bias and multiplier; returns the shift."""
        rng = self.rng
        weight = np.clip(np.rint(rng.normal(0, 42, (out, inner))), -127, 127)
        acc_rms = 42.0 * input_rms * np.sqrt(inner)
        # Channel scales lie as far apart as an exporter lets them.
        spread = 8.0 if to_int16 else 30.0
        factors = output_rms / acc_rms * np.exp(rng.uniform(-np.log(spread), 0, out))
        choose = scales.requant_to_int16 if to_int16 else scales.requant_to_int8
        shift, multiplier = choose(factors)
        bias = np.rint(rng.normal(0, 0.3 * acc_rms, out)) + scales.rounding_term(shift)
        self.model.tensors[f"{name}.weight"] = weight.astype(np.int8)
        self.model.tensors[f"{name}.bias"] = bias.astype(np.int32)
        self.model.tensors[f"{name}.multiplier"] = multiplier.astype(np.int16)
        return shift

    def norm(self, name: str, to_int16: bool) -> int:
        """Adds gain and bias; returns the shift to int8."""
        rng, d = self.rng, self.shape.embedding_length
        shift = int(rng.integers(2, 5)) if not to_int16 else 4
        unit = self.NORM_RMS * 2.0**shift / 512  # u per unit of z
        gain = np.rint(rng.uniform(0.5, 1.5, d) * unit * 32768)
        gain *= rng.choice([-1, 1], d, p=[0.1, 0.9])
        bias = np.rint(rng.normal(0, 0.2, d) * unit * 512)
        self.model.tensors[f"{name}.gain"] = np.clip(gain, -32767, 32767)
        self.model.tensors[f"{name}.bias"] = bias
        return shift

    def build(self) -> Model:
        s, rng = self.shape, self.rng
        d, f = s.embedding_length, s.feed_forward_length
        post = s.norm == "post"
        keys, tensors = self.model.keys, self.model.tensors
        residual_rms = 500.0
        input_rms = 32.0
        keys.update(
            {
                "general.name": "random",
                "atto.input": s.input,
                "atto.context_length": s.context_length,
                "atto.embedding_length": d,
                "atto.input_length": s.input_length,
                "atto.block_count": s.block_count,
                "atto.attention.head_count": s.head_count,
                "atto.feed_forward_length": f,
                "atto.norm": s.norm,
                "atto.activation": s.activation,
                "atto.pooling": s.pooling,
                "atto.labels": [f"class{i}" for i in range(s.classes)],
            }
        )
        if s.pooling == "mean":
            keys["atto.pooling.shift"] = 4
        if s.input == "text":
            keys.update(text_keys(s.vocabulary))
            tensors["text.fold_table"] = EMPTY_FOLD_TABLE
            table = rng.integers(-127, 128, (s.vocabulary, s.input_length))
            tensors["token_embd.weight"] = table
            # About 8 rows a token: rms 73 sqrt(8) becomes input_rms.
            keys["atto.token_embd.multiplier"] = round(
                32768 * input_rms / (73.3 * np.sqrt(8))
            )
        if s.input == "audio":
            params = audio_params(s.input_length)
            keys.update(params.metadata())
            tensors.update(params.tensors())
        keys["atto.in_proj.shift"] = self.matmul(
            "in_proj", d, s.input_length, input_rms, residual_rms, True
        )
        if s.positions:
            keys["atto.position.shift"] = 2
            tensors["position_embd.weight"] = rng.integers(
                -127, 128, (s.context_length, d)
            )
        if s.pooling == "class":
            tensors["class_embd.weight"] = np.rint(rng.normal(0, residual_rms, d))
        if post:
            keys["atto.input_norm.shift"] = self.norm("input_norm", True)
        arrays: dict[str, list[int]] = {name: [] for name in BLOCK_MATMULS}
        norm_shifts: dict[str, list[int]] = {"attn_norm": [], "ffn_norm": []}
        score_shifts, score_multipliers, fraction_bits = [], [], []
        # Sub-layers add to the residual stream about what it holds already.
        added_rms = self.NORM_RMS * 16 if post else residual_rms
        for block in range(s.block_count):
            prefix = f"blk.{block}"
            for name in ("attn_q", "attn_k", "attn_v"):
                shift = self.matmul(f"{prefix}.{name}", d, d, self.NORM_RMS, 60.0)
                arrays[name].append(shift)
            shift = self.matmul(f"{prefix}.attn_o", d, d, 12.0, added_rms, True)
            arrays["attn_o"].append(shift)
            # Rough rms of q and k is 30 after the spread of the channels; scores
            # with a standard deviation of 1.5 nats.
            d_head = d // s.head_count
            factor = 1.5 * 1.4427 / (30.0 * 30.0 * np.sqrt(d_head))
            score_shift, score_multiplier = scales.attention_score(factor)
            score_shifts.append(score_shift)
            score_multipliers.append(score_multiplier)
            k = int(rng.integers(3, 7))
            fraction_bits.append(k)
            arrays["ffn_up"].append(
                self.matmul(f"{prefix}.ffn_up", f, d, self.NORM_RMS, 60.0)
            )
            arrays["ffn_down"].append(
                self.matmul(f"{prefix}.ffn_down", d, f, 18.0, added_rms, True)
            )
            for name in norm_shifts:
                norm_shifts[name].append(self.norm(f"{prefix}.{name}", post))
        for name, shifts in arrays.items():
            keys[f"atto.{name}.shift"] = shifts
        for name, shifts in norm_shifts.items():
            keys[f"atto.{name}.shift"] = shifts
        keys["atto.attn_score.shift"] = score_shifts
        keys["atto.attn_score.multiplier"] = score_multipliers
        if s.activation == "gelu":
            keys["atto.gelu.fraction_bits"] = fraction_bits
        if not post:
            keys["atto.output_norm.shift"] = self.norm("output_norm", False)
        keys["atto.head.shift"] = self.matmul("head", s.classes, d, 20.0, 512.0, True)
        for name in tensors:
            if name != "text.fold_table":
                tensors[name] = typed(tensors[name], tensor_type(name), name)
        return self.model


def random_model(shape: EncoderConfig, seed: int) -> Model:
    """A random integer model of any legal shape, the same for the same seed."""
    return _RandomModel(shape, seed).build()
