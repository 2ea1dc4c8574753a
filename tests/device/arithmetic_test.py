"""What a microcontroller would have to do in software: read from the symbols."""

import os
import re
import subprocess
import unittest
from pathlib import Path

OPS = Path(os.environ["ATTO_SOURCE_DIR"]) / "ops"


def undefined_symbols() -> list[tuple[str, str]]:
    """(source file, symbol) that the objects of the library ask for."""
    output = subprocess.run(
        [
            os.environ["ATTO_NM"],
            "--undefined-only",
            "--format=posix",
            "-A",
            os.environ["ATTO_LIBRARY"],
        ],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    found = []
    for line in output.splitlines():
        where, name, *_ = line.split()
        member = re.search(r"\[(.+)\.obj\]", where)
        assert member is not None, line
        found.append((member.group(1), name))
    return found


class Arithmetic(unittest.TestCase):
    def setUp(self) -> None:
        self.undefined = undefined_symbols()
        self.assertIn(("classifier.cc", "strlen"), self.undefined)

    def test_no_op_divides_64_bits(self) -> None:
        """Such a division takes hundreds of instructions."""
        ops = {path.name for path in OPS.rglob("*.cc")}
        self.assertIn("softmax_ref.cc", ops)
        divisions = [
            (source, name)
            for source, name in self.undefined
            if source in ops and re.fullmatch(r"__aeabi_u?ldivmod", name)
        ]
        self.assertEqual(divisions, [])

    def test_no_floats(self) -> None:
        floats = [s for s in self.undefined if re.match(r"__aeabi_[fd]", s[1])]
        self.assertEqual(floats, [])


if __name__ == "__main__":
    unittest.main()
