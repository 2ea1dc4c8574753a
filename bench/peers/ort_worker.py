"""Measures ONNX graphs in ONNX Runtime, in a process of its own.

ort_worker.py SPEC: a JSON object {shape: {"rows": FILE.npy, "graphs": {name: FILE}}}.
Says {"version": ...} when it is ready. Then every line [shape, seconds] of the input gets
a line {name: [us_min, us_median]}.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime as ort

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.peers.timing import time_calls  # noqa: E402


def one_thread_session(graph: str | bytes) -> ort.InferenceSession:
    """A session with one thread and all of ONNX Runtime's optimisations."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    options.add_session_config_entry("session.set_denormal_as_zero", "1")
    return ort.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


class BoundSession:
    """A session whose input and output are bound once: runs copy nothing."""

    def __init__(self, graph: str | bytes, rows: npt.NDArray[np.float32]) -> None:
        self._session = one_thread_session(graph)
        self._binding = self._session.io_binding()
        self._binding.bind_cpu_input("x", rows)
        self._binding.bind_output(self._session.get_outputs()[0].name)

    def run(self) -> None:
        self._session.run_with_iobinding(self._binding)


def main() -> None:
    spec = json.loads(Path(sys.argv[1]).read_text())
    sessions = {
        shape: {
            name: BoundSession(graph, np.load(entry["rows"]))
            for name, graph in entry["graphs"].items()
        }
        for shape, entry in spec.items()
    }
    print(json.dumps({"version": ort.__version__}), flush=True)
    for line in sys.stdin:
        shape, seconds = json.loads(line)
        times = {
            name: time_calls(session.run, seconds)
            for name, session in sessions[shape].items()
        }
        print(json.dumps(times), flush=True)


if __name__ == "__main__":
    main()
