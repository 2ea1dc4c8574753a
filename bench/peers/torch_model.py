"""A model in PyTorch, fp32, traced and frozen."""

from __future__ import annotations

from typing import Callable

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F

from bench.peers.atto_model import Block, FloatModel, Linear, Norm


class _Encoder(torch.nn.Module):
    def __init__(self, model: FloatModel, tokens: int) -> None:
        super().__init__()
        self._model = model
        self._tokens = tokens

    def _linear(self, layer: Linear, x: torch.Tensor) -> torch.Tensor:
        weight = torch.from_numpy(np.ascontiguousarray(layer.weight.T))
        return F.linear(x, weight, torch.from_numpy(layer.bias))

    def _norm(self, norm: Norm, x: torch.Tensor) -> torch.Tensor:
        gain, bias = torch.from_numpy(norm.gain), torch.from_numpy(norm.bias)
        return F.layer_norm(x, gain.shape, gain, bias, 1e-12)

    def _attention(
        self, block: Block, y: torch.Tensor, queries: torch.Tensor
    ) -> torch.Tensor:
        heads, d = self._model.heads, y.shape[1]

        def split(layer: Linear, rows: torch.Tensor) -> torch.Tensor:
            part = self._linear(layer, rows)
            return part.view(-1, heads, d // heads).transpose(0, 1)

        q, k, v = split(block.q, queries), split(block.k, y), split(block.v, y)
        scores = torch.bmm(q, k.transpose(1, 2)) / (d / heads) ** 0.5
        context = torch.bmm(torch.softmax(scores, dim=-1), v)
        return self._linear(block.o, context.transpose(0, 1).reshape(-1, d))

    def _feed_forward(self, block: Block, y: torch.Tensor) -> torch.Tensor:
        hidden = self._linear(block.up, y)
        activation = F.gelu if self._model.activation == "gelu" else F.relu
        return self._linear(block.down, activation(hidden))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Rows [n, e] -> logits [c]."""
        model = self._model
        x = self._linear(model.in_proj, x)
        if model.class_token is not None:
            x = torch.cat([torch.from_numpy(model.class_token)[None], x])
        if model.positions is not None:
            x = x + torch.from_numpy(model.positions[: self._tokens])
        if model.post_norm:
            x = self._norm(model.outer_norm, x)
        for block in model.blocks:
            last = block is model.blocks[-1] and model.class_token is not None
            y = x if model.post_norm else self._norm(block.attn_norm, x)
            queries, x = (y[:1], x[:1]) if last else (y, x)
            x = x + self._attention(block, y, queries)
            if model.post_norm:
                x = self._norm(block.attn_norm, x)
                x = self._norm(block.ffn_norm, x + self._feed_forward(block, x))
            else:
                x = x + self._feed_forward(block, self._norm(block.ffn_norm, x))
        if not model.post_norm:
            x = self._norm(model.outer_norm, x)
        pooled = x[0] if model.class_token is not None else x.mean(0)
        return self._linear(model.head, pooled)


def torch_runner(
    model: FloatModel, tokens: int, rows: npt.NDArray[np.float32]
) -> Callable[[], torch.Tensor]:
    """A function that runs the model once over rows [n, e] on one thread."""
    torch.set_num_threads(1)
    x = torch.from_numpy(rows)
    with torch.no_grad():
        traced = torch.jit.trace(_Encoder(model, tokens).eval(), x, check_trace=False)
        frozen = torch.jit.optimize_for_inference(torch.jit.freeze(traced))

        def run() -> torch.Tensor:
            with torch.inference_mode():
                return frozen(x)

        for _ in range(3):  # the profiling executor compiles on the second run
            run()
    return run
