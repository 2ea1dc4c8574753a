"""What the library's object files promise to firmware: checked, and counted.

    python -m tools.safety.audit [TARGET...]

Builds the library for each target (host, and the names of toolchains/*.cmake that
are given; all Cortex-M ones that this machine has a compiler for by default) with
GCC's call graph, then

- refuses recursion, frames of unknown size (VLA, alloca), heap, exceptions, RTTI,
  static constructors, writable static data, and any symbol of the surroundings
  that ALLOWED does not list;
- prints the deepest stack of Init and Classify: the sum of frames along the
  deepest chain of calls, indirect ones included;
- prints what ATTO_STATUS_TEXT=OFF saves.

Clang has no call graph to write: targets that need it are checked for symbols only.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "safety"

# What the library may ask of its surroundings: the C library's functions on bytes,
# and what compilers put in the place of operators. `getenv`: host builds with SIMD.
ALLOWED = re.compile(
    r"(mem(cpy|set|cmp|move)|str(len|cmp))$"
    r"|__aeabi_(mem(cpy|set|clr|move)[48]?|u?i?divmod|u?idiv|lmul|uldivmod|ldivmod"
    r"|llsl|llsr|lasr|[a-z0-9]+)$"
    r"|__gnu_thumb1_case_[us]([qh]i|i)$|__(u?div|u?mod)[sd]i[34]$"
    r"|__clz[sd]i2$|_GLOBAL_OFFSET_TABLE_$"
)

# Who calls whom through a pointer: the first rule whose caller matches. A call
# that no rule knows is an error, so that this table cannot fall behind the code.
KERNELS = "the functions that the list of backends names"
INDIRECT_CALLS: tuple[tuple[str, str], ...] = (
    # What a matrix product of the DSP kernels does with its sums.
    (r"::Matmul\(const atto::Linear&.*Finish", r"::<lambda\(const int32_t\*, const"),
    (r"FirstIllegal\(const atto::model_file::Slot", r"FirstIllegal\(const void"),
    (
        r"ModelReader::(Check(Presence|Values)|SlotOf|BindTensor)",
        r"ModelReader::(Find|Audio)Slot\(|FirstIllegal\(",
    ),
    (
        r"ModelReader::",
        r"ModelReader::(Check(Presence|Values|Spotter)|(Find|Audio)Slot"
        r"|ReadAudioShape|ReadFrontEnd)\(|FirstIllegal\(",
    ),
    # A kernel, or what hands out attention to a tap.
    (r"atto::Encoder::AttendTile\(", KERNELS + r"|Encoder::ShowRows\("),
    (r"atto::(Encoder|TextClassifier|Model|DefaultBackend|\w*)\b", KERNELS),
)

# Public calls whose stack is told: a name and what the signature begins with.
ENTRIES: tuple[tuple[str, str], ...] = (
    ("Init", r"atto::Status atto::TextClassifier::Init\(atto::Span"),
    (
        "Init of an embedded model",
        r"atto::Status atto::TextClassifier::Init\(const \w*(atto::EmbeddedModel|atto_embedded_model)&",
    ),
    ("Classify", r"atto::Status atto::TextClassifier::Classify\(atto::Span"),
)


class AuditError(Exception):
    """A promise that the object files break."""


@dataclass
class Function:
    """A function of the call graph."""

    signature: str
    frame: int = 0
    bounded: bool = True
    calls: set[str] = field(default_factory=set)
    indirect: bool = False


@dataclass
class Graph:
    """Functions by their titles, and the deepest chains through them."""

    functions: dict[str, Function] = field(default_factory=dict)
    external: set[str] = field(default_factory=set)

    def read(self, text: str) -> None:
        """Adds a file of GCC's -fcallgraph-info=su."""
        node = re.compile(r'node: \{ title: "(.*?)" label: "(.*?)"( shape : ellipse)?')
        edge = re.compile(r'edge: \{ sourcename: "(.*?)" targetname: "(.*?)"')
        for title, label, outside in node.findall(text):
            if outside:
                continue
            signature, *rest = label.split("\\n")
            frame = re.search(r"(\d+) bytes \(([a-z,]+)\)", label)
            function = self.functions.setdefault(title, Function(signature))
            if frame is None:
                raise AuditError(f"{signature}: GCC tells no frame: {rest}")
            function.frame = max(function.frame, int(frame[1]))
            function.bounded &= frame[2] != "dynamic"
        for source, target in edge.findall(text):
            function = self.functions[source]
            if target == "__indirect_call":
                function.indirect = True
            else:
                function.calls.add(target)

    def resolve(self, kernels: Iterable[str]) -> None:
        """Replaces calls through pointers by calls of all that may be meant."""
        names = set(kernels)
        for function in self.functions.values():
            if not function.indirect:
                continue
            for caller, callee in INDIRECT_CALLS:
                if re.search(caller, function.signature):
                    break
            else:
                raise AuditError(
                    f"{function.signature} calls through a pointer: say in "
                    "INDIRECT_CALLS what that may be"
                )
            kernels_too, pattern = callee.startswith(KERNELS), callee
            if kernels_too:
                pattern = callee.removeprefix(KERNELS).removeprefix("|") or "$^"
            found = {
                title
                for title, other in self.functions.items()
                if (kernels_too and title.rpartition(":")[2] in names)
                or re.search(pattern, other.signature)
            }
            if not found:
                raise AuditError(f"{function.signature}: nothing matches {callee}")
            function.calls |= found
        for function in self.functions.values():
            # A complete object's constructor is an alias of the base object's.
            function.calls = {
                c if c in self.functions else c.replace("C1E", "C2E")
                for c in function.calls
            }
            self.external |= function.calls - self.functions.keys()
        # A file's name is part of the titles of its own functions.
        lost = sorted(title for title in self.external if ":" in title)
        if lost:
            raise AuditError(f"no frame is known of {lost}: GCC has folded them")

    def check(self) -> None:
        """Refuses frames without a bound and recursion."""
        for function in self.functions.values():
            if not function.bounded:
                raise AuditError(f"{function.signature}: its frame has no bound")
        done: set[str] = set()
        for start in self.functions:
            path: list[str] = []
            stack = [(start, iter(self.functions[start].calls))]
            path.append(start)
            while stack:
                title, calls = stack[-1]
                for callee in calls:
                    if callee in path:
                        cycle = path[path.index(callee) :] + [callee]
                        names = [self.functions[t].signature for t in cycle]
                        raise AuditError("recursion: " + " -> ".join(names))
                    if callee in self.functions and callee not in done:
                        path.append(callee)
                        stack.append((callee, iter(self.functions[callee].calls)))
                        break
                else:
                    done.add(title)
                    path.pop()
                    stack.pop()

    def deepest(
        self, title: str, known: dict[str, tuple[int, list[str]]]
    ) -> tuple[int, list[str]]:
        """Bytes of the deepest chain from `title`, and the chain. No recursion."""
        if title not in known:
            function = self.functions[title]
            below = max(
                (
                    self.deepest(c, known)
                    for c in function.calls & self.functions.keys()
                ),
                default=(0, []),
            )
            known[title] = (function.frame + below[0], [title, *below[1]])
        return known[title]

    def stack(self, signature: str) -> tuple[int, list[str]]:
        """The same for the function whose signature begins so."""
        titles = [
            t for t, f in self.functions.items() if re.match(signature, f.signature)
        ]
        if len(titles) != 1:
            raise AuditError(f"{signature} matches {titles}")
        return self.deepest(titles[0], {})


@dataclass(frozen=True)
class Target:
    """A way to build the library."""

    name: str
    folder: Path
    options: tuple[str, ...]
    prefix: str  # of binutils


def run(*command: str | Path, **environment: str) -> str:
    """Output of a command; what it wrote is shown if it fails."""
    result = subprocess.run(
        [str(c) for c in command],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )
    if result.returncode != 0:
        raise AuditError(f"{command}:\n{result.stdout[-3000:]}{result.stderr[-3000:]}")
    return result.stdout


def make_target(name: str) -> Target:
    """The target of that name."""
    if name == "host":
        options = ("-DATTO_SIMD=OFF", "-DATTO_FLOAT=OFF")
        return Target(name, BUILD / name, options, "")
    file = ROOT / "toolchains" / f"{name}.cmake"
    if not file.is_file():
        raise AuditError(f"there is no {file.relative_to(ROOT)}")
    return Target(
        name, BUILD / name, (f"-DCMAKE_TOOLCHAIN_FILE={file}",), "arm-none-eabi-"
    )


def default_targets() -> list[str]:
    """host, and the Cortex-M toolchains if their compiler is here."""
    names = ["host"]
    if shutil.which("arm-none-eabi-g++"):
        names += sorted(p.stem for p in (ROOT / "toolchains").glob("cortex-m*.cmake"))
    return names


def configure(target: Target, status_text: bool = True, graph: bool = True) -> Path:
    """Prepares a build of the library; gives its folder."""
    folder = target.folder if status_text else target.folder / "no-text"
    flags = "-Os -DNDEBUG" + (" -fstack-usage -fcallgraph-info=su" if graph else "")
    run(
        *("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja"),
        *("-DCMAKE_BUILD_TYPE=MinSizeRel", f"-DCMAKE_CXX_FLAGS_MINSIZEREL={flags}"),
        *("-DATTO_BUILD_TESTS=OFF", "-DATTO_BUILD_TOOLS=OFF", "-DATTO_INSTALL=OFF"),
        *(
            "-DATTO_BUILD_BENCH=OFF",
            "-DATTO_BUILD_FIRMWARE=OFF",
            "--no-warn-unused-cli",
        ),
        f"-DATTO_STATUS_TEXT={'ON' if status_text else 'OFF'}",
        *target.options,
    )
    return folder


def build(folder: Path) -> None:
    """Builds the library there."""
    # A compiler cache would keep the objects and lose the call graph.
    run("cmake", "--build", folder, "--target", "atto", CCACHE_DISABLE="1")


def objects_of(folder: Path) -> list[Path]:
    """The library's object files."""
    files = folder / "CMakeFiles" / "atto.dir"
    objects = [p for p in files.rglob("*") if p.suffix in (".o", ".obj")]
    if not objects:
        raise AuditError(f"no object file under {files}")
    return sorted(objects)


def uses_clang(folder: Path) -> bool:
    """Whether Clang builds it. A toolchain's compiler is not in the cache."""
    files = (folder / "CMakeFiles").glob("*/CMakeCXXCompiler.cmake")
    return any('CMAKE_CXX_COMPILER_ID "Clang"' in file.read_text() for file in files)


def check_symbols(target: Target, objects: list[Path]) -> None:
    """Refuses what the objects must neither have nor ask for."""
    defined: set[str] = set()
    wanted: dict[str, str] = {}
    broken: list[str] = []
    for path in objects:
        for line in run(f"{target.prefix}nm", "--format=sysv", path).splitlines():
            if line.count("|") != 6:
                continue
            name, _, kind, *_, section = (cell.strip() for cell in line.split("|"))
            if kind in "Uw":
                wanted.setdefault(name, path.name)
            else:
                defined.add(name)
            # .data.rel.ro: constants that hold addresses, in code that may be moved.
            constant = section.startswith(".data.rel.ro") or name.startswith("$")
            if kind in "dDbBsSgGC" and not constant:
                broken.append(f"{path.name}: {name} is writable static data")
            if re.match(r"_ZT[IS]|_ZGV", name):
                broken.append(f"{path.name}: {name} is RTTI or a guard")
        sections = run(f"{target.prefix}readelf", "--sections", "--wide", path)
        found = re.findall(
            r"\.((?:pre)?init_array|fini_array|[cd]tors|gcc_except_table)\b", sections
        )
        broken += [f"{path.name}: has the section .{name}" for name in found]
    broken += [
        f"{where}: asks for {name}"
        for name, where in sorted(wanted.items())
        if name not in defined and not ALLOWED.match(name)
    ]
    if broken:
        raise AuditError("\n".join(broken))


def kernels_of(target: Target, objects: list[Path]) -> set[str]:
    """Symbols that the tables of backends point to."""
    kernels: set[str] = set()
    for path in objects:
        if not path.name.startswith("backends_"):
            continue
        text = run(f"{target.prefix}readelf", "--relocs", "--wide", path)
        for section in text.split("Relocation section "):
            if re.match(r"'\.rela?\.(data|rodata)", section):
                kernels |= set(re.findall(r"\s(_Z\w+)", section))
    return {k for k in kernels if "Backend" not in k}


def section_bytes(target: Target, objects: list[Path]) -> int:
    """Code and constants of all objects."""
    total = 0
    for line in run(f"{target.prefix}size", *objects).splitlines()[1:]:
        total += int(line.split()[0])
    return total


def audit(name: str) -> str:
    """Checks a target; gives its row of the table."""
    target = make_target(name)
    folder = configure(target)
    if uses_clang(folder):
        folder = configure(target, graph=False)
    build(folder)
    objects = objects_of(folder)
    check_symbols(target, objects)
    size = section_bytes(target, objects)
    short = configure(target, status_text=False, graph=False)
    build(short)
    saved = size - section_bytes(target, objects_of(short))
    cells = [name, f"{size:,}", f"{saved:,}"]
    if uses_clang(folder):
        return "| " + " | ".join(cells + ["no call graph"] * len(ENTRIES)) + " |"
    graph = Graph()
    for path in objects:
        graph.read(path.with_suffix(".ci").read_text())
    graph.resolve(kernels_of(target, objects))
    graph.check()
    deepest: list[str] = []
    for _, signature in ENTRIES:
        depth, chain = graph.stack(signature)
        cells.append(f"{depth:,}")
        deepest = [
            re.sub(r"\(.*", "", graph.functions[t].signature).split("::")[-1]
            for t in chain
        ]
    external = sorted(e for e in graph.external)
    print(f"{name}: deepest chain of {ENTRIES[-1][0]}: {' > '.join(deepest)}")
    print(f"{name}: outside the library: {', '.join(external)}")
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    """Prints the table; 1 if a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    names = parser.parse_args().targets or default_targets()
    rows: list[str] = []
    status = 0
    for name in names:
        try:
            rows.append(audit(name))
        except AuditError as error:
            print(f"{name}: {error}", file=sys.stderr)
            status = 1
    heads = ["target", "code and constants, -Os", "saved by ATTO_STATUS_TEXT=OFF"]
    heads += [f"stack of {entry}" for entry, _ in ENTRIES]
    print("\n| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads))
    print("\n".join(rows))
    return status


if __name__ == "__main__":
    sys.exit(main())
