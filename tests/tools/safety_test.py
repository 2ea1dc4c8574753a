"""The safety tools: what they must find in a call graph, and in code."""

from __future__ import annotations

import tempfile
import unittest
import unittest.mock
from pathlib import Path

from tools.safety import audit, mutate

ROOT = Path(__file__).resolve().parents[2]


def node(title: str, signature: str, frame: str = "16 bytes (static)") -> str:
    """A function as GCC writes it."""
    return f'node: {{ title: "{title}" label: "{signature}\\nx.cc:1:1\\n{frame}" }}'


def edge(source: str, target: str) -> str:
    """A call."""
    return f'edge: {{ sourcename: "{source}" targetname: "{target}" label: "x" }}'


def graph(*lines: str) -> audit.Graph:
    """The graph of one file."""
    made = audit.Graph()
    made.read("\n".join(lines))
    return made


class AuditTest(unittest.TestCase):
    """Made-up call graphs."""

    def test_deepest_chain(self) -> None:
        """Frames add up along the deepest chain; what lies outside is listed."""
        made = graph(
            node("a", "int atto::a()", "32 bytes (static)"),
            node("b", "int atto::b()", "8 bytes (dynamic,bounded)"),
            node("c", "int atto::c()", "100 bytes (static)"),
            'node: { title: "memcpy" label: "memcpy" shape : ellipse }',
            *(edge("a", "b"), edge("a", "c"), edge("b", "memcpy")),
        )
        made.resolve([])
        made.check()
        self.assertEqual(made.stack(r"int atto::a\("), (132, ["a", "c"]))
        self.assertEqual(made.external, {"memcpy"})

    def test_recursion_is_refused(self) -> None:
        """Of one function, and around three."""
        for calls in (("a", "a"),), (("a", "b"), ("b", "c"), ("c", "a")):
            made = graph(
                *(node(n, f"int atto::{n}()") for n in "abc"),
                *(edge(*call) for call in calls),
            )
            with self.assertRaisesRegex(audit.AuditError, "recursion"):
                made.check()

    def test_recursion_through_a_pointer_is_refused(self) -> None:
        """A kernel that runs the encoder again."""
        made = graph(
            node("run", "atto::Status atto::Encoder::Run()"),
            node("x.cc:kernel", "void atto::KernelRef()"),
            *(edge("run", "__indirect_call"), edge("x.cc:kernel", "run")),
        )
        made.resolve(["kernel"])
        with self.assertRaisesRegex(audit.AuditError, "recursion"):
            made.check()

    def test_unbounded_frames_are_refused(self) -> None:
        """An array whose size is not known."""
        made = graph(node("a", "int atto::a()", "64 bytes (dynamic)"))
        with self.assertRaisesRegex(audit.AuditError, "no bound"):
            made.check()

    def test_a_lost_function_is_refused(self) -> None:
        """One of the library's own that the graph only calls."""
        made = graph(node("a", "int atto::a()"), edge("a", "/x.cc:b.part.0"))
        with self.assertRaisesRegex(audit.AuditError, "folded"):
            made.resolve([])

    def test_an_unknown_pointer_is_refused(self) -> None:
        """A call through a pointer that no rule explains."""
        made = graph(node("a", "int stranger::a()"), edge("a", "__indirect_call"))
        with self.assertRaisesRegex(audit.AuditError, "INDIRECT_CALLS"):
            made.resolve([])

    def test_symbols(self) -> None:
        """What the surroundings may be asked for."""
        for name in ("memcpy", "strlen", "__aeabi_idiv", "__aeabi_memcpy4"):
            self.assertRegex(name, audit.ALLOWED)
        for name in ("malloc", "_Znwm", "abort", "printf", "__cxa_throw", "getenv"):
            self.assertNotRegex(name, audit.ALLOWED)


class MutateTest(unittest.TestCase):
    """What is changed, and what is not."""

    def test_only_code_is_changed(self) -> None:
        """No comment, directive, assertion or sentence."""
        text = "\n".join(
            [
                "// a < b",
                "#if A < 2",
                "static_assert(a < b,",
                '              "c");',
                "if (a < b) return 3;  // x > y",
                'Bad("a < b");',
            ]
        )
        self.assertEqual(list(mutate.code_lines(text)), [(4, "if (a < b) return 3;")])

    def test_every_operator_finds_its_place(self) -> None:
        """In the sources as they are."""
        found = [
            mutant
            for file in ("ops/base/fixed_point.h", "runtime/model/gguf.cc")
            for mutant in mutate.find_mutants(file)
        ]
        operators = {mutant.operator for mutant in found}
        expected = {name for name, *_ in mutate.OPERATORS} | {"constant"}
        self.assertEqual(expected - operators, set())
        for mutant in found:
            line = (ROOT / mutant.file).read_text().split("\n")[mutant.line]
            self.assertLessEqual(mutant.end, len(line))

    def test_the_sample_stays_where_other_lines_change(self) -> None:
        """A mutant is known by its own line, not by the line's number."""
        path = "ops/base/fixed_point.h"
        text = (ROOT / path).read_text()
        before = mutate.find_mutants(path)
        keys = [mutant.key() for mutant in before]
        self.assertEqual(len(set(keys)), len(keys))
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / path
            copy.parent.mkdir(parents=True)
            copy.write_text("int a = b + 7;\n" + text)
            with unittest.mock.patch.object(mutate, "ROOT", Path(folder)):
                after = mutate.find_mutants(path)
        self.assertEqual([mutant.key() for mutant in after][-len(keys) :], keys)
        self.assertEqual(after[-1].line, before[-1].line + 1)
        self.assertNotEqual(before[0].order(1), before[0].order(2))


if __name__ == "__main__":
    unittest.main()
