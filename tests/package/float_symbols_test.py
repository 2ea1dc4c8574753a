"""The float kernels of one architecture cannot take the place of common functions.

They are compiled once for each architecture, with its flags. A function that their
objects and others define alike is kept once by the linker: if it is one of theirs, an
older CPU may meet instructions that it does not have.
"""

from __future__ import annotations

import os
import subprocess
import unittest

# Part of the mangled name of whatever xsimd has for one architecture only.
TAGS = ("sse4_2", "fma3", "avx512bw", "neon64")
OBJECT = "float_backends_xsimd"


class FloatSymbols(unittest.TestCase):
    """Reads the symbol table of the objects with the float kernels."""

    def test_no_shared_function(self) -> None:
        """Every function that the linker may merge is of one architecture."""
        output = subprocess.run(
            [os.environ["ATTO_NM"], "--format=posix", "-A", os.environ["ATTO_LIBRARY"]],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        lines = [line.split() for line in output.splitlines() if OBJECT in line]
        if not lines:
            self.skipTest("this build has no float kernels")
        defined = [(name, kind) for _, name, kind, *_ in lines]
        self.assertTrue(any("FloatBackend" in name for name, _ in defined))
        shared = [
            name
            for name, kind in defined
            if kind in "Wi" and not any(tag in name for tag in TAGS)
        ]
        self.assertEqual(shared, [])


if __name__ == "__main__":
    unittest.main()
