"""The avx512_vnni kernels are made of vpdpbusd, whatever CPU runs the tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import unittest
from collections import Counter

LIBRARY = os.environ["ATTO_LIBRARY"]
OBJDUMP = os.environ["ATTO_OBJDUMP"]
PRODUCTS = ("MatmulS8", "MatmulS16", "MatmulAddS16", "AttentionS8")

# A function's heading, such as `0000 <_ZN4atto9N_AVX3_DL8MatmulS8E...>:`. Parts
# that the compiler splits off keep the name of their function inside theirs.
FUNCTION = re.compile(
    r"^[0-9a-f]+ <\w*?4atto\d+N_(AVX2|AVX3|AVX3_DL)\d+"
    r"(" + "|".join(PRODUCTS) + r")E[\w.]*>:$"
)
PRODUCT = re.compile(r"\tv?(pdpbusd|pmaddubsw)\b")

if shutil.which(OBJDUMP) is None:
    raise unittest.SkipTest("there is no objdump to disassemble with")


def count_products() -> dict[tuple[str, str], Counter[str]]:
    """How often an instruction stands in a kernel: (target, kernel) -> counts."""
    listing = subprocess.run(
        [OBJDUMP, "--disassemble", "--no-show-raw-insn", LIBRARY],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    counts: dict[tuple[str, str], Counter[str]] = {}
    kernel = Counter[str]()
    for line in listing.splitlines():
        if line.endswith(">:"):
            heading = FUNCTION.match(line)
            kernel = Counter()
            if heading is not None:
                kernel = counts.setdefault((heading[1], heading[2]), Counter())
        elif instruction := PRODUCT.search(line):
            kernel[instruction[1]] += 1
    return counts


class Vnni(unittest.TestCase):
    """Reads the machine code of the products of bytes."""

    def test_products_use_the_instruction_of_their_target(self) -> None:
        counts = count_products()
        if not any(target == "AVX3_DL" for target, _ in counts):
            self.skipTest("this build has no avx512_vnni kernels")
        for target, wanted, other in (
            ("AVX3_DL", "pdpbusd", "pmaddubsw"),
            ("AVX3", "pmaddubsw", "pdpbusd"),
            ("AVX2", "pmaddubsw", "pdpbusd"),
        ):
            for name in PRODUCTS:
                with self.subTest(target=target, kernel=name):
                    found = counts.get((target, name), Counter())
                    self.assertGreater(found[wanted], 0, f"no {wanted}")
                    self.assertEqual(found[other], 0, f"{other} is in there")


if __name__ == "__main__":
    unittest.main()
