#!/usr/bin/env python3
"""Measures the same encoders and matrix products in atto and in other runtimes.

Everything runs on one core, one after another, in rounds, so that a change of the clock
or a noisy neighbour meets all alike: compare figures of one run, never of two. Prints
tables; build/bench/peers.json (--json) keeps the figures and build/bench/peers.svg shows
them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.make_model import make_models  # noqa: E402
from bench.peers.timing import time_calls  # noqa: E402
from bench.shapes import SHAPES, read_shapes  # noqa: E402

BUILD = ROOT / "build" / "bench"


class Failure(Exception):
    """What one sentence tells the user."""


@dataclass
class Row:
    """One thing measured: least and median of all rounds, in microseconds."""

    shape: str
    runtime: str
    precision: str
    minima: list[float] = field(default_factory=list)
    medians: list[float] = field(default_factory=list)

    def add(self, minimum: float, median: float) -> None:
        self.minima.append(minimum)
        self.medians.append(median)

    @property
    def us_min(self) -> float:
        return min(self.minima)

    @property
    def us_median(self) -> float:
        return statistics.median(self.medians)

    def as_json(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "runtime": self.runtime,
            "precision": self.precision,
            "us_min": round(self.us_min, 4),
            "us_median": round(self.us_median, 4),
        }


@dataclass(frozen=True)
class Programs:
    """The programs of a build tree."""

    folder: Path

    def has(self, name: str) -> bool:
        return (self.folder / name).is_file()

    def output(self, name: str, *arguments: object, **environment: str) -> str:
        """What a program prints."""
        path = self.folder / name
        result = subprocess.run(
            [path, *map(str, arguments)],
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
        )
        if result.returncode != 0:
            raise Failure(f"{path} failed: {result.stderr.strip()}")
        return result.stdout

    def json(self, name: str, *arguments: object, **environment: str) -> Any:
        return json.loads(self.output(name, *arguments, **environment))

    def atto_backends(self) -> list[tuple[str, str]]:
        """Precision and name of the backends to compare.

        Of each precision the best one, and AVX2 as the one that most CPUs have.
        """
        names = self.output("atto_bench", "--list-backends").split()
        result = []
        for precision in ("int8", "fp32"):
            mine = [n for n in names if n.startswith("f32_") == (precision == "fp32")]
            result += [
                (precision, name)
                for name in mine
                if name.removeprefix("f32_") == "avx2" or name == mine[-1]
            ]
        return result


def cpu_flags() -> set[str]:
    """What the processor says it has; empty where the system does not tell."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith(("flags", "Features")):
            return set(line.split(":", 1)[1].split())
    return set()


class OrtWorker:
    """A process that measures ONNX graphs in ONNX Runtime."""

    def __init__(self, spec: Path, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, Path(__file__).parent / "ort_worker.py", spec],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        self.version = self._read()["version"]

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise Failure(f"ort_worker.py ended, status {self._process.wait()}")
        return json.loads(line)

    def measure(self, shape: str, seconds: float) -> dict[str, tuple[float, float]]:
        """Least and median microseconds of each of the shape's graphs."""
        assert self._process.stdin is not None
        print(json.dumps([shape, seconds]), file=self._process.stdin, flush=True)
        times: dict[str, tuple[float, float]] = self._read()
        return times

    def end(self) -> None:
        self._process.communicate()


class Encoders:
    """The encoders of the shape lists in every runtime."""

    def __init__(self, programs: Programs, seconds: float) -> None:
        self.rows: dict[tuple[str, str, str], Row] = {}
        self.peaks: dict[str, float] = {}
        self.checks: dict[str, dict[str, str]] = {}  # logits by model and backend
        self._programs = programs
        self._seconds = seconds
        self._models: dict[str, tuple[Path, int]] = {}
        self._graphs: dict[str, Any] = {}  # what ort_worker.py reads
        self._torch: dict[str, Callable[[], object]] = {}
        self._workers: dict[str, OrtWorker] = {}

    def _add(self, key: tuple[str, str, str], times: tuple[float, float]) -> None:
        self.rows.setdefault(key, Row(*key)).add(*times)

    def _save_graphs(self, shape: str, graphs: dict[str, Any], rows: Any) -> None:
        import numpy as np
        import onnx

        folder = BUILD / "onnx" / shape.replace(" ", "_")
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "rows.npy", rows)
        files = {}
        for name, graph in graphs.items():
            file = folder / f"{name.replace(' ', '_').replace(',', '')}.onnx"
            onnx.save(graph, file)
            files[name] = str(file)
        self._graphs[shape] = {"rows": str(folder / "rows.npy"), "graphs": files}

    def prepare(self, shape: str, file: Path, tokens: int) -> None:
        """Prepares the model in all runtimes that are installed."""
        import numpy as np

        from bench.peers.atto_model import float_model, noise_rows
        from bench.peers.ort_variants import graphs
        from tools.reference.model_writer import read_model

        self._models[shape] = file, tokens
        model = float_model(read_model(file))
        count = tokens - (model.class_token is not None)
        rows = noise_rows(count, model.in_proj.weight.shape[0]).astype(np.float32)
        self._save_graphs(shape, graphs(model, tokens, rows[None]), rows[None])
        try:
            from bench.peers.torch_model import torch_runner
        except ImportError:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # constants in the trace are meant
            self._torch[shape] = torch_runner(model, tokens, rows)

    def start(self, empty: str) -> None:
        """Starts the workers. `empty`: name of a graph that does nothing."""
        import numpy as np

        from bench.peers.held_ort import held_copy
        from bench.peers.ort_variants import empty_graph

        self._save_graphs(empty, {"fp32": empty_graph()}, np.zeros(1, np.float32))
        spec = BUILD / "onnx" / "graphs.json"
        spec.write_text(json.dumps(self._graphs))
        self._workers["ONNX Runtime"] = OrtWorker(spec, {})
        hide = self._programs.folder / "libhide_avx512.so"
        if cpu_flags() & {"avx512f", "avx_vnni"} and hide.is_file():
            copy = held_copy(BUILD / "ort_avx2")
            self._workers["ONNX Runtime held to AVX2"] = OrtWorker(
                spec, {"LD_PRELOAD": str(hide), "PYTHONPATH": str(copy)}
            )

    def end(self) -> None:
        for worker in self._workers.values():
            worker.end()

    @property
    def ort_version(self) -> str:
        return self._workers["ONNX Runtime"].version

    def graph_file(self, shape: str, name: str) -> Path:
        return Path(self._graphs[shape]["graphs"][name])

    def _measure_atto(self, shape: str, precision: str, backend: str) -> None:
        file, tokens = self._models[shape]
        if precision == "fp32":
            file = file.with_suffix(".f32.gguf")
        arguments = [file, "--json", "--no-ops", "--tokens", tokens]
        arguments += ["--backend", backend, "--seconds", self._seconds]
        figures = self._programs.json("atto_bench", *arguments)
        times = (
            figures["ns_per_token_min"] * tokens / 1e3,
            figures["ns_per_token_median"] * tokens / 1e3,
        )
        self._add((shape, f"atto {backend}", precision), times)
        if precision == "int8":
            peak = figures["peak_gmacs"] or 0.0
            self.peaks[backend] = max(self.peaks.get(backend, 0.0), peak)
            self.checks.setdefault(shape, {})[backend] = figures["logits_crc32"]

    def check_all_backends(self, shape: str) -> None:
        """The peak of every integer backend, and its logits for one model."""
        file = self._models[shape][0]
        for backend in self._programs.output("atto_bench", "--list-backends").split():
            if backend.startswith("f32_"):
                continue
            arguments = [file, "--json", "--no-ops", "--seconds", 0.01]
            figures = self._programs.json(
                "atto_bench", *arguments, "--backend", backend
            )
            if figures["peak_gmacs"]:
                self.peaks[backend] = figures["peak_gmacs"]
            self.checks.setdefault(shape, {})[backend] = figures["logits_crc32"]

    def measure_round(self) -> None:
        backends = self._programs.atto_backends()
        for shape in self._graphs:
            for precision, backend in backends if shape in self._models else ():
                self._measure_atto(shape, precision, backend)
            for runtime, worker in self._workers.items():
                for name, times in worker.measure(shape, self._seconds).items():
                    self._add((shape, runtime, name), times)
            if shape in self._torch:
                times = time_calls(self._torch[shape], self._seconds)
                self._add((shape, "PyTorch", "fp32"), times)


class Products:
    """The matrix products of the shape list in every library."""

    def __init__(self, programs: Programs, seconds: float) -> None:
        self.rows: dict[tuple[str, str, str], Row] = {}
        self._seconds = seconds
        self._programs = programs
        self._runs = [
            (name, settings)
            for name, settings in (
                ("matmul_atto", {}),
                ("matmul_xnnpack", {}),
                ("matmul_onednn", {}),
                ("matmul_onednn", {"ONEDNN_MAX_CPU_ISA": "AVX2"}),
            )
            if programs.has(name)
        ]

    def measure_round(self) -> None:
        for name, settings in self._runs:
            arguments = [SHAPES / "matmul.txt", "--seconds", self._seconds]
            for found in self._programs.json(name, *arguments, **settings):
                runtime = found["runtime"]
                if settings:
                    runtime += " held to AVX2"
                key = (found["shape"], runtime, found["precision"])
                row = self.rows.setdefault(key, Row(*key))
                row.add(found["us_min"], found["us_median"])


def resident_memory(programs: Programs, file: Path, graph: Path) -> list[Any]:
    """Most memory resident, in KiB, of processes that run the spam model once."""
    atto = programs.json("atto_resident", file)
    result = [
        {"process": f"atto {atto['backend']}", "resident_kib": atto["resident_kib"]},
        {
            "process": "the same before loading",
            "resident_kib": atto["before_loading_kib"],
        },
    ]
    run = (
        "import onnxruntime as ort\n"
        "options = ort.SessionOptions()\n"
        "options.intra_op_num_threads = 1\n"
        f"session = ort.InferenceSession({str(graph)!r}, options)\n"
        "shape = session.get_inputs()[0].shape\n"
        "session.run(None, {'x': numpy.zeros(shape, numpy.float32)})\n"
    )
    report = (
        "for line in open('/proc/self/status'):\n"
        "  if line.startswith('VmHWM'): print(line.split()[1])\n"
    )
    for name, code in (
        ("ONNX Runtime int8 in Python", run),
        ("Python with NumPy alone", ""),
    ):
        output = subprocess.run(
            [sys.executable, "-c", "import numpy\n" + code + report],
            capture_output=True,
            text=True,
            check=True,
        )
        result.append({"process": name, "resident_kib": int(output.stdout)})
    return result


def best(rows: list[Row], runtime: str, precision: str) -> Row | None:
    """The fastest row of a runtime whose precision starts so."""
    found = [
        row
        for row in rows
        if row.runtime == runtime and row.precision.startswith(precision)
    ]
    return min(found, key=lambda row: row.us_min, default=None)


def print_table(title: str, rows: list[Row], macs: float | None = None) -> None:
    fastest = min(row.us_min for row in rows)
    print(f"\n{title}")
    unit = "" if macs is None else f"{'GMAC/s':>9}"
    print(f"  {'runtime':<30} {'precision':<36} {'us min':>9} {'median':>9}{unit}")
    for row in sorted(rows, key=lambda row: row.us_min):
        rate = "" if macs is None else f"{macs / row.us_min / 1e3:9.1f}"
        print(
            f"  {row.runtime:<30} {row.precision:<36} {row.us_min:9.2f} "
            f"{row.us_median:9.2f}{rate} {row.us_min / fastest:6.2f} x"
        )


def ratios(rows: list[Row], shapes: list[str]) -> list[dict[str, Any]]:
    """How many times faster atto is than the best of each other runtime."""
    result = []
    for shape in shapes:
        here = [row for row in rows if row.shape == shape]
        for atto in (row for row in here if row.runtime.startswith("atto")):
            ratio: dict[str, Any] = {"shape": shape, "atto": atto.runtime}
            for runtime, precision in (
                ("ONNX Runtime", "int8"),
                ("ONNX Runtime held to AVX2", "int8"),
                ("ONNX Runtime", "fp32"),
                ("ONNX Runtime held to AVX2", "fp32"),
                ("PyTorch", "fp32"),
            ):
                other = best(here, runtime, precision)
                if other is not None and (atto.precision, precision) != (
                    "fp32",
                    "int8",
                ):
                    name = f"{runtime} {precision}"
                    ratio[name] = round(other.us_min / atto.us_min, 2)
            result.append(ratio)
    return result


def print_ratios(found: list[dict[str, Any]]) -> None:
    print("\nHow many times faster atto is than the best of (least times)")
    columns = [key for key in found[0] if key not in ("shape", "atto")]
    short = [name.replace("Runtime held to AVX2", "R. AVX2") for name in columns]
    print(f"  {'':<12} {'':<18}" + "".join(f"{name:>20}" for name in short))
    for ratio in found:
        values = "".join(
            f"{ratio[name]:>20.2f}" if name in ratio else f"{'':>20}"
            for name in columns
        )
        print(f"  {ratio['shape']:<12} {ratio['atto']:<18}{values}")


def print_products(products: Products, peaks: dict[str, float]) -> None:
    shapes = read_shapes(SHAPES / "matmul.txt")
    print("\nint8 matrix products, rows x in x out, GMAC/s (least times)")
    print(f"  {'':<30} {'':<16}" + "".join(f"{s.name:>12}" for s in shapes))
    kinds = dict.fromkeys((key[1], key[2]) for key in products.rows)
    for runtime, precision in kinds:
        line = f"  {runtime:<30} {precision:<16}"
        shares = f"  {'share of its peak':<47}"
        peak = peaks.get(runtime.removeprefix("atto "))
        for shape in shapes:
            macs = shape.size("rows") * shape.size("in") * shape.size("out")
            row = products.rows[shape.name, runtime, precision]
            rate = macs / row.us_min / 1e3
            line += f"{rate:12.1f}"
            shares += f"{rate / peak:12.2f}" if peak else ""
        print(line)
        if peak:
            print(shares)


def plot(path: Path, rows: list[Row], lengths: dict[str, int], cpu: str) -> None:
    """Bars of the best of each runtime, and the cost of longer sequences."""
    try:
        import matplotlib

        matplotlib.use("svg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("no plot: matplotlib is not installed")
        return
    kinds = [("PyTorch", "fp32"), ("ONNX Runtime", "fp32"), ("ONNX Runtime", "int8")]
    kinds += dict.fromkeys(
        (row.runtime, row.precision)
        for row in sorted(rows, key=lambda row: row.precision)
        if row.runtime.startswith("atto")
    )
    figure, (bars, lines) = plt.subplots(1, 2, figsize=(11, 4.2))
    shown = [
        s for s in ("spam", "seed n 64", "kwt1") if any(r.shape == s for r in rows)
    ]
    for i, (runtime, precision) in enumerate(kinds):
        times = [
            best([r for r in rows if r.shape == s], runtime, precision) for s in shown
        ]
        if None in times:
            continue
        label = f"{runtime} {precision}"
        at = [x + 0.8 * (i / len(kinds) - 0.5) for x in range(len(shown))]
        drawn = bars.bar(
            at,
            [row.us_min for row in times],
            0.8 / len(kinds),
            align="edge",
            label=label,
        )
        bars.bar_label(drawn, fmt="%.0f", fontsize=7)
        points = [
            (n, best([r for r in rows if r.shape == s], runtime, precision))
            for s, n in lengths.items()
        ]
        lines.plot(
            [n for n, _ in points],
            [row.us_min for _, row in points],
            marker="o",
            markersize=3,
            label=label,
        )
    bars.set_yscale("log")
    bars.set_xticks(range(len(shown)), shown)
    bars.set_ylabel("microseconds an inference (least)")
    bars.set_title("encoders, one core, batch 1")
    lines.set_xscale("log", base=2)
    lines.set_yscale("log")
    lines.set_xticks(list(lengths.values()), [str(n) for n in lengths.values()])
    lines.set_xlabel("tokens")
    lines.set_title("seed: d 128, 2 blocks, 8 heads, ffn 512")
    lines.legend(fontsize=8)
    for axes in (bars, lines):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", alpha=0.3)
    figure.suptitle(cpu, fontsize=9)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def cpu_name() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown CPU"


def run(args: argparse.Namespace) -> None:
    programs = Programs(args.build.resolve())
    os.environ["OMP_NUM_THREADS"] = "1"
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    rounds, seconds = (2, 0.03) if args.quick else (args.rounds, args.seconds)
    BUILD.mkdir(parents=True, exist_ok=True)
    encoders, products = Encoders(programs, seconds), Products(programs, seconds / 2)
    lengths: dict[str, int] = {}  # of the shape that is measured with several
    names = []
    for shape_list in ("spam", "seed", "kwt1"):
        path = SHAPES / f"{shape_list}.txt"
        for shape, file in zip(read_shapes(path), make_models(path, BUILD)):
            for tokens in shape.measure:
                name = shape.name
                if len(shape.measure) > 1:
                    name = f"{shape.name} n {tokens}"
                    lengths[name] = tokens
                names.append(name)
                encoders.prepare(name, file, tokens)
    empty = "one Identity"
    encoders.start(empty)
    encoders.check_all_backends("spam")
    for i in range(rounds):
        print(f"round {i + 1} of {rounds}", file=sys.stderr)
        encoders.measure_round()
        products.measure_round()
    encoders.end()
    resident = resident_memory(
        programs,
        BUILD / "spam.gguf",
        encoders.graph_file("spam", "int8 dynamic, plain operators"),
    )
    rows = list(encoders.rows.values())
    found = ratios(rows, names)
    peaks = ", ".join(f"{name} {peak:.0f}" for name, peak in encoders.peaks.items())
    print(f"{cpu_name()}, core {core}, {rounds} rounds of {seconds} s each")
    print(f"peak of int8 multiply-adds in registers, GMAC/s: {peaks}")
    for name in [*names, empty]:
        print_table(name, [row for row in rows if row.shape == name])
    print_ratios(found)
    print_products(products, encoders.peaks)
    print("\nmost memory resident while running the spam model, MiB")
    for entry in resident:
        print(f"  {entry['process']:<36} {entry['resident_kib'] / 1024:7.1f}")
    notes = [
        f"ONNX Runtime {encoders.ort_version} picks its kernels by the CPU and "
        "documents no way to hold them to AVX2; where the CPU has more, a copy "
        "whose CPUID instructions hide it stands for an AVX2 machine "
        "(bench/peers/held_ort.py).",
        f"What one call of ONNX Runtime costs by itself is the row '{empty}'.",
        "The token embedding is outside of what is measured, in every runtime.",
    ]
    print("\n" + "\n".join(notes))
    svg = BUILD / "peers.svg"
    plot(svg, rows, lengths, cpu_name())
    report = {
        "cpu": cpu_name(),
        "rounds": rounds,
        "peak_gmacs": encoders.peaks,
        "rows": [row.as_json() for row in [*rows, *products.rows.values()]],
        "ratios": found,
        "resident": resident,
        "logits_crc32": encoders.checks,
        "notes": notes,
    }
    args.json.parent.mkdir(parents=True, exist_ok=True)
    args.json.write_text(json.dumps(report, indent=1) + "\n")
    print(f"\n{args.json} has the figures, {svg} a plot")
    wrong = [m for m, crcs in encoders.checks.items() if len(set(crcs.values())) != 1]
    if wrong:
        raise Failure(f"backends disagree on the logits of {', '.join(wrong)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--json",
        type=Path,
        default=BUILD / "peers.json",
        help="file for the figures (default: build/bench/peers.json)",
    )
    parser.add_argument(
        "--build",
        type=Path,
        default=ROOT / "build" / "host",
        help="build tree with atto_bench and the peers (default: build/host)",
    )
    parser.add_argument("--rounds", type=int, default=7, help="default: 7")
    parser.add_argument(
        "--seconds", type=float, default=0.15, help="a round's time for each runner"
    )
    parser.add_argument("--quick", action="store_true", help="a short, rough run")
    args = parser.parse_args()
    try:
        run(args)
    except (Failure, OSError, ImportError, subprocess.CalledProcessError) as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
