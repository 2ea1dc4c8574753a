"""Runs one unittest file; exits with 77 when every test in it was skipped."""

from __future__ import annotations

import importlib.util
import sys
import unittest
from pathlib import Path

EXIT_SKIPPED = 77


def main() -> int:
    """Loads the file named by the first argument and runs its tests."""
    path = Path(sys.argv[1])
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except unittest.SkipTest as reason:
        print(f"skipped: {reason}")
        return EXIT_SKIPPED
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    for _, reason in result.skipped:
        print(f"skipped: {reason}")
    if not result.wasSuccessful():
        return 1
    if result.testsRun == 0:
        print(f"{path} holds no test")
        return 1
    return EXIT_SKIPPED if len(result.skipped) == result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
