"""tools/run_firmware.py: what it takes for expected output."""

import os
import sys
import unittest

sys.path.insert(0, os.environ["ATTO_SOURCE_DIR"])

from tools.run_firmware import first_missing, qemu_command  # noqa: E402

OUTPUT = "started\n> spam 98 %\n> ham 99 %\nflash 1 bytes\n"


class RunFirmware(unittest.TestCase):
    def test_patterns_are_found_in_their_order(self) -> None:
        self.assertIsNone(first_missing(["^started$", r"ham \d+ %", "^flash"], OUTPUT))
        self.assertIsNone(first_missing([], OUTPUT))

    def test_a_missing_or_misplaced_pattern_is_named(self) -> None:
        self.assertEqual(first_missing(["started", "eggs"], OUTPUT), "eggs")
        self.assertEqual(first_missing(["ham", "spam"], OUTPUT), "spam")
        self.assertEqual(first_missing(["ham", "ham"], OUTPUT), "ham")

    def test_instructions_are_counted_unless_it_must_be_fast(self) -> None:
        self.assertIn("-icount", qemu_command("microbit", "x.elf", False))
        self.assertNotIn("-icount", qemu_command("microbit", "x.elf", True))


if __name__ == "__main__":
    unittest.main()
