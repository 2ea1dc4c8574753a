"""Do the tests notice a change of the code? Tries a sample of small ones.

    python -m tools.safety.mutate [--count N] [--seed S] [--files REGEX] [--again]

Copies the tree to build/mutate, and there changes one place of ops/ or runtime/ at a
time: flips a comparison, drops a clamp, changes a shift, a constant, an operator, an
assignment. Builds without SIMD and runs first the tests that are named like the
changed file, then the others of ops, runtime, fuzz and golden, each from the quickest
to the slowest, until one fails. A test that fails or takes many times as long as
without a change kills the mutant, as does a static_assert; one that does not compile
for another reason is replaced. So is one that nobody kills because the optimiser makes
of it, byte for byte, the programs that it makes of the code as it is (Papadakis et al.,
Trivial Compiler Equivalence, ICSE 2015): a first value that is always overwritten,
`a <= b ? a : b`, a branch for another compiler; but also an inline function that no
test uses. Kernels for SIMD and in float are left out: tests hold them against the
scalar ones.

A mutant is known by the text of its line, so that the sample stays the same where the
code does. Results go to build/mutate/results.jsonl; a mutant that is there is not tried
again while its file is the same. --again: those that survived are, with new tests.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "mutate"
TREE = FOLDER / "tree"
BUILD = FOLDER / "build"
RESULTS = FOLDER / "results.jsonl"
# That a test may take, since some mutants never end: so many times what it takes
# unchanged, and some seconds.
PATIENCE = 10
LEAST_SECONDS = 2
MEMORY = 4 << 30  # bytes of address space; others never stop asking for it
SOURCES = re.compile(r"^(ops|runtime)/.*\.(cc|h)$")
LEFT_OUT = re.compile(r"-inl\.h$|_f32\.|float_|_hwy|_xsimd|dsp|helium|backend|c_api\.h")

# `ops.vnni` looks at instructions that this build does not have.
TESTS = re.compile(r"(ops|runtime|fuzz|golden)\.(?!vnni)")

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
    code: str  # the line as it was
    occurrence: int  # among lines of the file that are the same

    def key(self) -> str:
        """Stays as it is when other lines change."""
        parts = [*asdict(self).items()]
        return json.dumps([value for name, value in parts if name != "line"])

    def order(self, seed: int) -> str:
        """Its place in the sample."""
        return hashlib.sha256(f"{seed} {self.key()}".encode()).hexdigest()


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
    seen: Counter[str] = Counter()
    for number, code in code_lines((ROOT / file).read_text()):
        changes = [
            (match, operator, text)
            for operator, pattern, text in OPERATORS
            for match in re.finditer(pattern, code)
        ]
        changes += [
            (match, "constant", str(int(match[1], 0) + 1))
            for match in CONSTANT.finditer(code)
        ]
        found += [
            Mutant(
                *(file, number, match.start(), match.end(), operator, text),
                *(code, seen[code]),
            )
            for match, operator, text in changes
        ]
        seen[code] += 1
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
            *("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O2"),
            *("-DATTO_SIMD=OFF", "-DATTO_FLOAT=OFF", "-DATTO_BUILD_BENCH=OFF"),
            # A mutant that only warns is one to try.
            *("-DATTO_INSTALL=OFF", "-DATTO_WERROR=OFF"),
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


def library_of(name: str) -> str:
    """What a test in Python loads: the golden table is a program's."""
    return "atto_golden" if name.startswith("golden.") else "atto_text"


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
        self.cpu = 0.0  # seconds that it takes unchanged
        program = Path(self.command[0]).name
        # What has to be built first.
        self.target = library_of(self.name) if "python" in program else program

    def passes(self) -> bool:
        """Whether it ends in time, and well."""
        seconds = int(PATIENCE * self.cpu + LEAST_SECONDS) if self.cpu else 600
        result = subprocess.run(
            ["prlimit", f"--cpu={seconds}", f"--as={MEMORY}", *self.command],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        return result.returncode in (0, 77)

    def measure(self) -> None:
        """Sees it pass without a change, and how long that takes."""
        before = cpu_of_children()
        if not self.passes():
            raise SystemExit(f"{self.name} fails without a change")
        self.cpu = max(cpu_of_children() - before, 0.01)


def cpu_of_children() -> float:
    """Seconds that commands took so far."""
    times = os.times()
    return times.children_user + times.children_system


def load_tests() -> list[Test]:
    """The tests that are run, built and measured, the quickest first."""
    text = subprocess.run(
        ["ctest", "--test-dir", BUILD, "--show-only=json-v1"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    entries = json.loads(text)["tests"]
    tests = [Test(e) for e in entries if TESTS.match(e["name"])]
    complaint = build([t.target for t in tests])
    if complaint:
        raise SystemExit(complaint)
    for test in tests:
        test.measure()
    return sorted(tests, key=lambda test: test.cpu)


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


def try_group(mutant: Mutant, tests: list[Test]) -> str:
    """What kills it: a test, "static_assert"; "" if nothing; or "no code"."""
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
            # Without one, a program failed that the build runs: it reads models.
            return "no code" if ": error: " in complaint else "build"
        return next((t.name for t in tests if not t.passes()), "")
    finally:
        path.write_text(before)


def try_mutant(mutant: Mutant, tests: list[Test], unchanged: str) -> str:
    """The same with the tests that are near, then with the others; or "same"."""
    groups = near_first(tests, mutant.file)
    killer = next((k for g in groups if g and (k := try_group(mutant, g))), "")
    # All is built from the mutant by now.
    return killer or ("same" if programs() == unchanged else "")


def programs() -> str:
    """A checksum of the programs and libraries that the tests run."""
    digest = hashlib.sha256()
    for path in sorted(BUILD.rglob("*")):
        if path.is_file() and os.access(path, os.X_OK) and path.suffix != ".sh":
            digest.update(path.read_bytes())
    return digest.hexdigest()


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
            line = r["code"]
            changed = line[: r["begin"]] + r["text"] + line[r["end"] :]
            print(f"  {r['file']}:{r['line'] + 1}: {line.strip()}  ->")
            print(f"    {changed.strip()}")


def main() -> int:
    """Tries the sample; 0 if at least 90 % are killed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--count", type=int, default=200, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--files", default="", metavar="REGEX")
    parser.add_argument("--again", action="store_true")
    arguments = parser.parse_args()
    files = [
        f
        for f in tracked("ops", "runtime")
        if SOURCES.match(f) and not LEFT_OUT.search(f) and re.search(arguments.files, f)
    ]
    mutants = [m for f in files for m in find_mutants(f)]
    print(f"{len(mutants)} mutants of {len(files)} files, seed {arguments.seed}")
    mutants.sort(key=lambda mutant: mutant.order(arguments.seed))
    digests = {
        f: hashlib.sha256((ROOT / f).read_bytes()).hexdigest()[:16] for f in files
    }
    FOLDER.mkdir(parents=True, exist_ok=True)
    prepare()
    tests = load_tests()
    unchanged = programs()
    known: dict[tuple[str, str], str] = {}
    if RESULTS.is_file():
        for line in RESULTS.read_text().splitlines():
            entry = json.loads(line)
            known[entry["key"], entry["file"]] = entry["killer"]
    results: list[dict] = []
    for mutant in mutants:
        if len(results) == arguments.count:
            break
        key = mutant.key(), digests[mutant.file]
        killer = known.get(key, "")
        if key not in known or (arguments.again and killer in ("", "same")):
            start = time.monotonic()
            killer = try_mutant(mutant, tests, unchanged)
            with RESULTS.open("a") as file:
                entry = {"key": key[0], "file": key[1], "killer": killer}
                file.write(json.dumps(entry) + "\n")
            where = f"{mutant.file}:{mutant.line + 1} ({mutant.operator})"
            took = time.monotonic() - start
            number = len(results) + 1
            print(f"{number}: {where}: {killer or 'SURVIVED'} ({took:.0f} s)")
            sys.stdout.flush()
        if killer not in ("no code", "same"):
            results.append({**asdict(mutant), "killer": killer})
    report(results)
    killed = sum(1 for r in results if r["killer"])
    return 0 if killed >= 0.9 * len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
