"""Do the tests notice a change of the code? Tries a sample of small ones.

    python -m tools.safety.mutate [--count N] [--seed S] [--files REGEX]

Copies the tree to build/mutate, and there changes one place of ops/ or runtime/ at a
time: flips a comparison, drops a clamp, changes a shift, a constant, an operator, an
assignment. Builds without SIMD and runs first the tests that are named like the
changed file, then the others of ops, runtime and fuzz. A test that fails or does not
end kills the mutant, as does a static_assert; one that does not compile for another
reason is replaced. Results go to build/mutate/results.jsonl, and a run with the same
options continues there. Kernels for SIMD and in float are left out: tests hold them
against the scalar ones.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "mutate"
TREE = FOLDER / "tree"
BUILD = FOLDER / "build"
RESULTS = FOLDER / "results.jsonl"
# That a test may take; some mutants never end. Programs come first.
CPU_SECONDS = {"program": 60, "python": 400}
MEMORY = 4 << 30  # bytes of address space; others never stop asking for it
SOURCES = re.compile(r"^(ops|runtime)/.*\.(cc|h)$")
LEFT_OUT = re.compile(
    r"-inl\.h$|_f32\.|float_|_hwy|_xsimd|_dsp|_helium|backend|c_api\.h"
)

# Operator, what it looks like in formatted code, what takes its place.
OPERATORS: tuple[tuple[str, str, str], ...] = (
    *(
        ("comparison", re.escape(f" {a} "), f" {b} ")
        for a, b in (
            ("<", "<="),
            ("<=", "<"),
            (">", ">="),
            (">=", ">"),
            ("==", "!="),
            ("!=", "=="),
            ("<", ">="),
            (">", "<="),
        )
    ),
    ("logic", r" && ", " || "),
    ("logic", r" \|\| ", " && "),
    ("logic", r"\(!(?=\w)", "("),
    ("shift", r" << ", " >> "),
    ("shift", r" >> ", " << "),
    ("arithmetic", r" \+ ", " - "),
    ("arithmetic", r" - ", " + "),
    ("arithmetic", r" \* ", " + "),
    ("arithmetic", r" / ", " * "),
    ("arithmetic", r" % ", " / "),
    ("arithmetic", r" \+= ", " -= "),
    ("bits", r" & ", " | "),
    ("bits", r" \| ", " & "),
    ("clamp", r"\bClamp127\(", "static_cast<std::int8_t>("),
    ("clamp", r"\bSat16\(", "static_cast<std::int16_t>("),
    ("assignment", r"^ +[\w.>\[\]\-]+ [+\-|&^]?= [^;{]*;$", ""),
)
CONSTANT = re.compile(r"(?<![\w.'\"])(\d+|0x[0-9A-F]+)(?=[;,) \]U])")


@dataclass(frozen=True)
class Mutant:
    """One change: a line of a file, from column `begin` to `end`."""

    file: str
    line: int
    begin: int
    end: int
    operator: str
    text: str


def code_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines that hold code: no comments, directives, static_asserts, strings."""
    in_assert = False
    for number, line in enumerate(text.split("\n")):
        stripped = line.strip()
        if in_assert or stripped.startswith("static_assert"):
            in_assert = not stripped.endswith(");")
            continue
        if not stripped or stripped.startswith(("//", "#", "using ", "template")):
            continue
        code = line.split("  //")[0]
        if '"' not in code:
            yield number, code


def find_mutants(file: str) -> list[Mutant]:
    """All that the operators can do to a file."""
    found: list[Mutant] = []
    for number, code in code_lines((ROOT / file).read_text()):
        for operator, pattern, text in OPERATORS:
            for match in re.finditer(pattern, code):
                found.append(
                    Mutant(file, number, match.start(), match.end(), operator, text)
                )
        for match in CONSTANT.finditer(code):
            value = int(match[1], 0) + 1
            found.append(
                Mutant(
                    *(file, number, match.start(), match.end(), "constant"), str(value)
                )
            )
    return found


def tracked(*patterns: str) -> list[str]:
    """The project's files."""
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\n")
    return [name for name in names if name and (ROOT / name).is_file()]


def prepare() -> None:
    """Copies the tree, and builds what every mutant shares."""
    for name in tracked():
        to = TREE / name
        to.parent.mkdir(parents=True, exist_ok=True)
        if not to.is_file() or to.read_bytes() != (ROOT / name).read_bytes():
            shutil.copyfile(ROOT / name, to)
    # The interpreter that the tests take from the tree.
    venv = TREE / "build" / "venv"
    if not venv.exists():
        venv.parent.mkdir(parents=True, exist_ok=True)
        venv.symlink_to(ROOT / "build" / "venv")
    subprocess.run(
        [
            *("cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja"),
            *("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1"),
            *("-DATTO_SIMD=OFF", "-DATTO_FLOAT=OFF", "-DATTO_BUILD_BENCH=OFF"),
            "-DATTO_INSTALL=OFF",
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )


def command_of(name: str) -> list[str]:
    """That of a test whose program is not built yet: CTest does not tell it."""
    if name.startswith("fuzz."):
        corpus = TREE / "tests" / "fuzz" / "corpus" / name.removeprefix("fuzz.")
        return [str(BUILD / "tests" / "fuzz" / name), str(corpus)]
    return [str(BUILD / "tests" / f"test.{name}"), "--no-version"]


class Test:
    """A test as CTest would run it."""

    def __init__(self, entry: dict) -> None:
        self.name: str = entry["name"]
        self.command = entry.get("command") or command_of(self.name)
        properties = {p["name"]: p["value"] for p in entry["properties"]}
        pairs = [e.split("=", 1) for e in properties.get("ENVIRONMENT", [])]
        # Enough to notice; the whole test is meant for unchanged code.
        rounds = {"ATTO_PARITY_ROUNDS": "60"}
        self.environment = {**os.environ, **dict(pairs), **rounds}
        self.checked = False  # passes as long as nothing is changed
        program = Path(self.command[0]).name
        # What has to be built first; Python loads the tokenizer's library.
        kind = "python" if "python" in program else "program"
        self.target = program if kind == "program" else "atto_text"
        self.seconds = CPU_SECONDS[kind]

    def passes(self) -> bool:
        """Whether it ends in time, and well."""
        result = subprocess.run(
            ["prlimit", f"--cpu={self.seconds}", f"--as={MEMORY}", *self.command],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        return result.returncode in (0, 77)


def load_tests() -> list[Test]:
    """The tests of ops, runtime and fuzz."""
    text = subprocess.run(
        ["ctest", "--test-dir", BUILD, "--show-only=json-v1"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    entries = json.loads(text)["tests"]
    return [Test(e) for e in entries if re.match(r"(ops|runtime|fuzz)\.", e["name"])]


def build(targets: list[str]) -> str:
    """Builds; empty, or the compiler's complaint."""
    result = subprocess.run(
        ["cmake", "--build", BUILD, "--target", *sorted(set(targets))],
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if result.returncode == 0 else result.stdout + result.stderr


def near_first(tests: list[Test], file: str) -> list[list[Test]]:
    """The tests that are named like the file or its folder, then the others."""
    path = Path(file)
    words = {path.stem.split("_")[0], path.parent.name} - {"ops", "runtime", "base"}
    if path.parent.name == "base":
        words = {"fixed", "matmul"}
    near = [t for t in tests if words & set(re.split(r"[._]", t.name))]
    return [near, [t for t in tests if t not in near]]


def check_unchanged(tests: list[Test]) -> None:
    """Builds the tests, and sees each pass once, before anything is changed."""
    new = [t for t in tests if not t.checked]
    if not new:
        return
    complaint = build([t.target for t in new])
    if complaint:
        raise SystemExit(complaint)
    broken = [t.name for t in new if not t.passes()]
    if broken:
        raise SystemExit(f"without a change already fail: {broken}")
    for test in new:
        test.checked = True


def try_group(mutant: Mutant, tests: list[Test]) -> str:
    """What kills it: a test, "static_assert"; "" if nothing; or "no code"."""
    check_unchanged(tests)
    path = TREE / mutant.file
    before = path.read_text()
    lines = before.split("\n")
    line = lines[mutant.line]
    lines[mutant.line] = line[: mutant.begin] + mutant.text + line[mutant.end :]
    path.write_text("\n".join(lines))
    try:
        complaint = build([t.target for t in tests])
        if "static assertion failed" in complaint:
            return "static_assert"
        if complaint:
            return "no code"
        return next((t.name for t in tests if not t.passes()), "")
    finally:
        path.write_text(before)


def try_mutant(mutant: Mutant, tests: list[Test]) -> str:
    """The same with the tests that are near, then with the others."""
    groups = near_first(tests, mutant.file)
    return next((k for g in groups if g and (k := try_group(mutant, g))), "")


def report(results: list[dict]) -> None:
    """Prints the figures and who survived."""
    count = len(results)
    killed = sum(1 for r in results if r["killer"])
    print(f"\n{killed} of {count} killed ({100 * killed / max(count, 1):.1f} %)")
    for operator in sorted({r["operator"] for r in results}):
        of = [r for r in results if r["operator"] == operator]
        print(f"  {operator}: {sum(1 for r in of if r['killer'])} of {len(of)}")
    print("\nsurvivors:")
    for r in results:
        if not r["killer"]:
            line = (ROOT / r["file"]).read_text().split("\n")[r["line"]]
            changed = line[: r["begin"]] + r["text"] + line[r["end"] :]
            print(f"  {r['file']}:{r['line'] + 1}: {line.strip()}  ->")
            print(f"    {changed.strip()}")


def main() -> int:
    """Tries the sample; 0 if at least 90 % are killed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--count", type=int, default=200, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--files", default="", metavar="REGEX")
    arguments = parser.parse_args()
    files = [
        f
        for f in tracked("ops", "runtime")
        if SOURCES.match(f) and not LEFT_OUT.search(f) and re.search(arguments.files, f)
    ]
    mutants = [m for f in files for m in find_mutants(f)]
    print(f"{len(mutants)} mutants of {len(files)} files, seed {arguments.seed}")
    random.Random(arguments.seed).shuffle(mutants)
    FOLDER.mkdir(parents=True, exist_ok=True)
    prepare()
    tests = load_tests()
    done: dict[str, dict] = {}
    if RESULTS.is_file():
        for line in RESULTS.read_text().splitlines():
            entry = json.loads(line)
            done[json.dumps(entry["mutant"], sort_keys=True)] = entry
    results: list[dict] = []
    for mutant in mutants:
        if len(results) == arguments.count:
            break
        key = json.dumps(asdict(mutant), sort_keys=True)
        if key not in done:
            killer = try_mutant(mutant, tests)
            done[key] = {"mutant": asdict(mutant), "killer": killer}
            with RESULTS.open("a") as file:
                file.write(json.dumps(done[key]) + "\n")
            where = f"{mutant.file}:{mutant.line + 1} ({mutant.operator})"
            print(f"{len(results) + 1}: {where}: {killer or 'SURVIVED'}", flush=True)
        if done[key]["killer"] != "no code":
            results.append({**asdict(mutant), "killer": done[key]["killer"]})
    report(results)
    killed = sum(1 for r in results if r["killer"])
    return 0 if killed >= 0.9 * len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
