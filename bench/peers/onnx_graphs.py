"""An atto model as ONNX graphs: plain operators, and ONNX Runtime's fused ones.

Both compute what atto computes: for models that pool a class token, neither the plain
graph nor atto computes the other rows of the last block. The fused attention operator
cannot leave them out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from bench.peers.atto_model import Block, FloatModel, Linear, Norm

MICROSOFT = "com.microsoft"
EPSILON = 1e-12


class GraphBuilder:
    """Appends nodes one by one; every value has batch 1."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}

    def constant(self, array: npt.NDArray[Any]) -> str:
        name = f"c{len(self._constants)}"
        self._constants[name] = numpy_helper.from_array(
            np.asarray(array, order="C"), name
        )
        return name

    def node(
        self,
        op: str,
        inputs: list[str],
        outputs: int = 1,
        domain: str = "",
        **attributes: Any,
    ) -> str:
        """Appends a node and returns its first output; the last is named `NAME+`."""
        name = f"v{len(self._nodes)}"
        names = [name] if outputs == 1 else [name, *[""] * (outputs - 2), name + "+"]
        self._nodes.append(
            helper.make_node(
                op, inputs, names, name=f"n{name}", domain=domain, **attributes
            )
        )
        return name

    def linear(self, layer: Linear, x: str, bias: bool = True) -> str:
        y = self.node("MatMul", [x, self.constant(layer.weight)])
        return self.node("Add", [y, self.constant(layer.bias)]) if bias else y

    def norm(self, norm: Norm, x: str) -> str:
        parameters = [self.constant(norm.gain), self.constant(norm.bias)]
        return self.node(
            "LayerNormalization", [x, *parameters], axis=-1, epsilon=EPSILON
        )

    def row(self, x: str, index: int) -> str:
        """Row of [1, n, d] as [1, 1, d]."""
        return self.node("Gather", [x, self.constant(np.array([index]))], axis=1)

    def model(self, rows: int, columns: int, output: str, classes: int) -> Any:
        shape = [1, rows, columns]
        graph = helper.make_graph(
            self._nodes,
            "encoder",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, [1, classes])],
            list(self._constants.values()),
        )
        return helper.make_model(
            graph,
            opset_imports=[
                helper.make_opsetid("", 17),
                helper.make_opsetid(MICROSOFT, 1),
            ],
            ir_version=8,
        )


def _embed(g: GraphBuilder, model: FloatModel, tokens: int) -> str:
    x = g.linear(model.in_proj, "x")
    if model.class_token is not None:
        x = g.node("Concat", [g.constant(model.class_token[None, None]), x], axis=1)
    if model.positions is not None:
        x = g.node("Add", [x, g.constant(model.positions[None, :tokens])])
    return x


def _pool(g: GraphBuilder, model: FloatModel, x: str) -> str:
    if model.class_token is not None:
        pooled = g.node("Gather", [x, g.constant(np.array(0))], axis=1)
    else:
        pooled = g.node("ReduceMean", [x], axes=[1], keepdims=0)
    return g.linear(model.head, pooled)


def _input_rows(model: FloatModel, tokens: int) -> int:
    return tokens - (model.class_token is not None)


def plain_graph(model: FloatModel, tokens: int) -> Any:
    """Standard operators; ONNX Runtime fuses what it knows."""
    g = GraphBuilder()
    d = model.in_proj.weight.shape[1]
    heads = model.heads
    split = g.constant(np.array([1, -1, heads, d // heads]))
    join = g.constant(np.array([1, -1, d]))
    scale = g.constant(np.array(np.sqrt(d / heads), np.float32))

    def attention(block: Block, y: str, queries: str) -> str:
        parts = []
        for layer, rows, order in (
            (block.q, queries, [0, 2, 1, 3]),
            (block.k, y, [0, 2, 3, 1]),
            (block.v, y, [0, 2, 1, 3]),
        ):
            part = g.node("Reshape", [g.linear(layer, rows), split])
            parts.append(g.node("Transpose", [part], perm=order))
        scores = g.node("Div", [g.node("MatMul", parts[:2]), scale])
        weights = g.node("Softmax", [scores], axis=-1)
        context = g.node("MatMul", [weights, parts[2]])
        context = g.node("Transpose", [context], perm=[0, 2, 1, 3])
        return g.linear(block.o, g.node("Reshape", [context, join]))

    def feed_forward(block: Block, y: str) -> str:
        hidden = g.linear(block.up, y)
        if model.activation == "gelu":
            hidden = g.node("Gelu", [hidden], domain=MICROSOFT)
        else:
            hidden = g.node("Relu", [hidden])
        return g.linear(block.down, hidden)

    x = _embed(g, model, tokens)
    if model.post_norm:
        x = g.norm(model.outer_norm, x)
    for block in model.blocks:
        last = block is model.blocks[-1] and model.class_token is not None
        y = x if model.post_norm else g.norm(block.attn_norm, x)
        queries = g.row(y, 0) if last else y
        x = g.row(x, 0) if last else x
        x = g.node("Add", [x, attention(block, y, queries)])
        if model.post_norm:
            x = g.norm(block.attn_norm, x)
            x = g.norm(block.ffn_norm, g.node("Add", [x, feed_forward(block, x)]))
        else:
            y = g.norm(block.ffn_norm, x)
            x = g.node("Add", [x, feed_forward(block, y)])
    if not model.post_norm:
        x = g.norm(model.outer_norm, x)
    output = _pool(g, model, x)
    return g.model(
        _input_rows(model, tokens),
        model.in_proj.weight.shape[0],
        output,
        model.head.bias.size,
    )


def fused_graph(model: FloatModel, tokens: int) -> Any:
    """ONNX Runtime's own Attention, SkipLayerNormalization and BiasGelu."""
    g = GraphBuilder()

    def attention(block: Block, y: str) -> str:
        layers = (block.q, block.k, block.v)
        weight = np.concatenate([layer.weight for layer in layers], axis=1)
        bias = np.concatenate([layer.bias for layer in layers])
        context = g.node(
            "Attention",
            [y, g.constant(weight), g.constant(bias)],
            domain=MICROSOFT,
            num_heads=model.heads,
        )
        return g.linear(block.o, context, bias=False)

    def feed_forward(block: Block, y: str) -> str:
        hidden = g.linear(block.up, y, bias=model.activation != "gelu")
        if model.activation == "gelu":
            hidden = g.node(
                "BiasGelu", [hidden, g.constant(block.up.bias)], domain=MICROSOFT
            )
        else:
            hidden = g.node("Relu", [hidden])
        return g.linear(block.down, hidden, bias=False)

    def add_norm(x: str, added: str, bias: npt.NDArray[Any], norm: Norm) -> str:
        """LayerNorm of x + added + bias; the sum itself is named `NAME+`."""
        return g.node(
            "SkipLayerNormalization",
            [
                added,
                x,
                g.constant(norm.gain),
                g.constant(norm.bias),
                g.constant(bias),
            ],
            outputs=1 if model.post_norm else 4,
            domain=MICROSOFT,
            epsilon=EPSILON,
        )

    x = _embed(g, model, tokens)
    first = model.outer_norm if model.post_norm else model.blocks[0].attn_norm
    y = g.norm(first, x)
    for i, block in enumerate(model.blocks):
        if model.post_norm:
            y = add_norm(y, attention(block, y), block.o.bias, block.attn_norm)
            y = add_norm(y, feed_forward(block, y), block.down.bias, block.ffn_norm)
            continue
        next_norm = (
            model.outer_norm
            if i + 1 == len(model.blocks)
            else model.blocks[i + 1].attn_norm
        )
        y = add_norm(x, attention(block, y), block.o.bias, block.ffn_norm)
        x = y + "+"
        y = add_norm(x, feed_forward(block, y), block.down.bias, next_norm)
        x = y + "+"
    output = _pool(g, model, y)
    return g.model(
        _input_rows(model, tokens),
        model.in_proj.weight.shape[0],
        output,
        model.head.bias.size,
    )
