"""The last line of `tools/dev test` counts what really happened."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from tools.summarize_tests import summarize

REPORT = """<testsuite>
  <testcase name="good" status="run"><system-out>fine</system-out></testcase>
  <testcase name="left" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>
    <system-out>noise
skipped: no torch here
</system-out></testcase>
  <testcase name="bad" status="fail"><failure/></testcase>
  <testcase name="gone" status="notrun"><skipped message="Unable to find executable"/>
  </testcase>
</testsuite>
"""


class Summarize(unittest.TestCase):
    """Sums reports in the form that ctest writes."""

    def setUp(self) -> None:
        """Makes a folder for reports."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def report(self, name: str, text: str) -> Path:
        """Writes a report of a build folder called `name`."""
        file = self.folder / name / "tests.xml"
        file.parent.mkdir()
        file.write_text(text, "utf-8")
        return file

    def test_sum(self) -> None:
        """Skips give their reason; a test that could not start has failed."""
        lines, status = summarize([self.report("a", REPORT), self.report("b", REPORT)])
        self.assertEqual(lines[-1], "2 passed, 4 failed, 2 skipped")
        self.assertEqual(status, 1)
        self.assertIn("skipped a: left: no torch here", lines)
        self.assertIn("failed  b: bad", lines)
        self.assertIn("failed  a: gone", lines)

    def test_part_of_a_test(self) -> None:
        """A test that passed but left something out says so."""
        part = (
            '<testsuite><testcase name="x" status="run"><system-out>'
            "skipped: no data\nskipped: no data\n</system-out></testcase></testsuite>"
        )
        lines, status = summarize([self.report("a", part)])
        self.assertEqual(
            lines,
            ["skipped a part of a: x: no data", "1 passed, 0 failed, 0 skipped"],
        )
        self.assertEqual(status, 0)

    def test_success(self) -> None:
        """Success needs a test that ran."""
        good = '<testsuite><testcase name="x" status="run"/></testsuite>'
        lines, status = summarize([self.report("good", good)])
        self.assertEqual((lines, status), (["1 passed, 0 failed, 0 skipped"], 0))
        self.assertEqual(summarize([self.report("none", "<testsuite/>")])[1], 1)


if __name__ == "__main__":
    unittest.main()
