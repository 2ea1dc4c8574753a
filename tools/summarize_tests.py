#!/usr/bin/env python3
"""Sums the JUnit files of several ctest runs.

Says why tests were skipped and which failed; the last line is
`N passed, N failed, N skipped`. Exits with 1 if a test failed or none ran.
"""

from __future__ import annotations

import argparse
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def is_skipped(case: ElementTree.Element) -> bool:
    """Tells a test that chose to be skipped from one that could not start."""
    skipped = case.find("skipped")
    return skipped is not None and "SKIP" in skipped.get("message", "")


def skip_reasons(case: ElementTree.Element) -> list[str]:
    """Returns what the test itself said about what it skipped."""
    output = (case.findtext("system-out") or "").splitlines()
    reasons = [line for line in output if line.startswith("skipped: ")]
    return [line.removeprefix("skipped: ") for line in dict.fromkeys(reasons)]


def summarize(files: list[Path]) -> tuple[list[str], int]:
    """Returns the lines to print and the exit status."""
    lines: list[str] = []
    passed = failed = skipped = 0
    for file in files:
        for case in ElementTree.parse(file).getroot().iter("testcase"):
            name = f"{file.parent.name}: {case.get('name')}"
            if case.get("status") == "run":
                passed += 1
                for reason in skip_reasons(case):
                    lines.append(f"skipped a part of {name}: {reason}")
            elif is_skipped(case):
                skipped += 1
                reasons = "; ".join(skip_reasons(case)) or "gave no reason"
                lines.append(f"skipped {name}: {reasons}")
            else:
                failed += 1
                lines.append(f"failed  {name}")
    lines.append(f"{passed} passed, {failed} failed, {skipped} skipped")
    return lines, 1 if failed or not passed else 0


def main() -> int:
    """Parses the arguments, prints the sum."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+", help="JUnit files")
    args = parser.parse_args()
    try:
        lines, status = summarize(args.files)
    except (OSError, ElementTree.ParseError) as error:
        print(f"summarize_tests: {error}", file=sys.stderr)
        return 1
    print("\n".join(lines))
    return status


if __name__ == "__main__":
    sys.exit(main())
