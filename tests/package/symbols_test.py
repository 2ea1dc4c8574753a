"""The library needs no heap, exceptions, RTTI or static constructors."""

from __future__ import annotations

import os
import re
import subprocess
import unittest

LIBRARY = os.environ["ATTO_LIBRARY"]

# What an object file must neither define nor ask for.
FORBIDDEN: dict[str, str] = {
    "heap": r"(malloc|calloc|realloc|reallocarray|free|aligned_alloc"
    r"|posix_memalign|strdup|strndup)$|_Zn[wa]|_Zd[la]",
    "exceptions": r"__cxa_(throw|rethrow|begin_catch|end_catch|allocate_exception)"
    r"|__gxx_personality|_Unwind_|_ZSt\d+__throw|_ZSt9terminatev",
    "RTTI": r"_ZT[IS]|__dynamic_cast",
    "static constructors": r"_GLOBAL__|__cxa_(atexit|guard)|_ZGV|_ZSt4c(in|out|err)",
    "abort and stdio": r"(abort|exit|printf|fprintf|puts|putchar|fputs|fwrite"
    r"|snprintf|sprintf|__assert_fail|fopen|malloc_usable_size)$",
}
FORBIDDEN_SECTIONS = re.compile(r"\.(init_array|fini_array|ctors|dtors)\b")


def run(tool: str, *arguments: str) -> str:
    """Returns the output of a binutils tool named by an environment variable."""
    return subprocess.run(
        [os.environ[tool], *arguments, LIBRARY],
        check=True,
        capture_output=True,
        text=True,
    ).stdout


class Symbols(unittest.TestCase):
    """Reads the symbol and section tables of every object of the library."""

    def test_no_forbidden_symbol(self) -> None:
        """No object defines or needs a symbol of the forbidden kinds."""
        symbols: list[tuple[str, str]] = []
        for line in run("ATTO_NM", "--format=posix", "-A").splitlines():
            where, name, *_ = line.split()
            symbols.append((where.rstrip(":"), name))
        self.assertTrue(
            any("StatusName" in name for _, name in symbols),
            "the symbol table does not even list StatusName",
        )
        found = [
            f"{where}: {name} ({kind})"
            for where, name in symbols
            for kind, pattern in FORBIDDEN.items()
            if re.match(pattern, name)
        ]
        self.assertEqual(found, [])

    def test_no_constructor_section(self) -> None:
        """No object has code that runs before main or after it."""
        sections = run("ATTO_READELF", "--sections", "--wide")
        self.assertIn(".text", sections)
        self.assertEqual(FORBIDDEN_SECTIONS.findall(sections), [])


if __name__ == "__main__":
    unittest.main()
