"""A model in ONNX Runtime, in every precision and form that might be its best."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path
from typing import Any, Callable

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_dynamic,
    quantize_static,
)

from bench.peers.atto_model import FloatModel
from bench.peers.onnx_graphs import fused_graph, plain_graph
from bench.peers.ort_worker import one_thread_session

Rows = npt.NDArray[np.float32]


class _OneBatch(CalibrationDataReader):
    """Calibrates with one input."""

    def __init__(self, rows: Rows) -> None:
        self._batches = iter([{"x": rows}])

    def get_next(self) -> dict[str, Rows] | None:
        return next(self._batches, None)


def _with_fixed_scales(graph: onnx.ModelProto, rows: Rows) -> onnx.ModelProto:
    """Dynamic quantisation with the scales that `rows` give, as constants."""
    dynamic = [n for n in graph.graph.node if n.op_type == "DynamicQuantizeLinear"]
    probe = onnx.ModelProto()
    probe.CopyFrom(graph)
    names = [name for node in dynamic for name in node.output[1:]]
    for node in dynamic:
        probe.graph.output.extend(
            [
                helper.make_tensor_value_info(node.output[1], TensorProto.FLOAT, []),
                helper.make_tensor_value_info(node.output[2], TensorProto.UINT8, []),
            ]
        )
    values = one_thread_session(probe.SerializeToString()).run(names, {"x": rows})
    fixed = onnx.ModelProto()
    fixed.CopyFrom(graph)
    for name, value in zip(names, values):
        fixed.graph.initializer.append(numpy_helper.from_array(value, name))
    for node in fixed.graph.node:
        if node.op_type == "DynamicQuantizeLinear":
            scale, zero_point = node.output[1:]
            node.op_type = "QuantizeLinear"
            del node.output[1:]
            node.input.extend([scale, zero_point])
    return fixed


def _quantised(
    graph: onnx.ModelProto, folder: Path, quantise: Callable[[str, str], None]
) -> onnx.ModelProto:
    source, target = str(folder / "float.onnx"), str(folder / "int8.onnx")
    onnx.save(graph, source)
    quantise(source, target)
    return onnx.load(target)


def graphs(model: FloatModel, tokens: int, rows: Rows) -> dict[str, onnx.ModelProto]:
    """The variants by their names, which start with fp32 or int8.

    rows: [1, n, e], for calibration.
    """
    logging.getLogger().setLevel(logging.ERROR)  # the quantiser's advice
    plain, fused = plain_graph(model, tokens), fused_graph(model, tokens)
    result = {"fp32, plain operators": plain, "fp32, fused operators": fused}
    common: dict[str, Any] = {
        "per_channel": True,
        "weight_type": QuantType.QInt8,
        # Shape inference stops at ONNX Runtime's own operators.
        "extra_options": {"DefaultTensorType": TensorProto.FLOAT},
    }

    def dynamic(source: str, target: str) -> None:
        quantize_dynamic(source, target, **common)

    def static(operators: list[str] | None) -> Callable[[str, str], None]:
        def quantise(source: str, target: str) -> None:
            quantize_static(
                source,
                target,
                _OneBatch(rows),
                quant_format=QuantFormat.QDQ,
                activation_type=QuantType.QUInt8,
                op_types_to_quantize=operators,
                **common,
            )

        return quantise

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for form, graph in (("plain", plain), ("fused", fused)):
            quantised = _quantised(graph, folder, dynamic)
            result[f"int8 dynamic, {form} operators"] = quantised
            result[f"int8 static scales, {form} operators"] = _with_fixed_scales(
                quantised, rows
            )
        for name, operators in (("", None), (" around products", ["MatMul"])):
            quantised = _quantised(plain, folder, static(operators))
            result[f"int8 static, QDQ{name}"] = quantised
    return result


def empty_graph() -> onnx.ModelProto:
    """One number through one Identity: what a call costs by itself."""
    one = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1]) for n in "xy"]
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])], "empty", one[:1], one[1:]
    )
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
