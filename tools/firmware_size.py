#!/usr/bin/env python3
"""Code and constants of atto in linked firmware images, part by part.

Reads the linker's map files, so that only what was linked counts: no C library, no
model file, no board. What atto_embed_model writes beside the file's bytes counts, as
"embedded model".

  firmware_size.py NAME=FILE.map...            prints a table, a column a map
  firmware_size.py --check BUDGET NAME=FILE.map
                                               exit status 1 if the sum is over its
                                               budget
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# " .text.Name  0xADDRESS  0xSIZE  PATH", or, when the name is long, without it on a
# line of its own behind it.
_SECTION = re.compile(
    r"^ (\.(?:text|rodata|data|ARM\.ex)[^ ]*)?\s+0x[0-9a-f]+\s+0x([0-9a-f]+) (.+)$"
)
_NAME = re.compile(r"^ (\.[^ ]+)$")
_MEMBER = re.compile(r"lib([^/]+)\.a\((.+\.cc)\.obj\)$")


def part_of(source: str) -> str:
    """ "matmul_ref.cc" -> "ops/matmul", by the folders of the project."""
    found = sorted(
        path for folder in ("ops", "runtime") for path in (ROOT / folder).rglob(source)
    )
    if not found:
        raise ValueError(f"{source}: no such source")
    return str(found[0].parent.relative_to(ROOT))


def sizes(map_file: Path) -> dict[str, int]:
    """Bytes of flash by part. Raises OSError, ValueError."""
    text = map_file.read_text()
    _, _, memory_map = text.partition("Linker script and memory map")
    parts: dict[str, int] = {}
    cache: dict[str, str] = {}
    name = ""
    for line in memory_map.splitlines():
        alone = _NAME.match(line)
        if alone:
            name = alone.group(1)
            continue
        match = _SECTION.match(line)
        if match:
            section = match.group(1) or name
            member = _MEMBER.search(match.group(3))
            if member and section.startswith((".text", ".rodata", ".data", ".ARM.ex")):
                library, source = member.groups()
                if library == "atto":
                    part = cache.setdefault(source, part_of(source))
                elif section.endswith("_bytes"):
                    continue
                else:
                    part = "embedded model"
                parts[part] = parts.get(part, 0) + int(match.group(2), 16)
        name = ""
    if not parts:
        raise ValueError(f"{map_file}: nothing of atto in it")
    return dict(sorted(parts.items()))


def table(columns: dict[str, dict[str, int]]) -> str:
    """A Markdown table: parts by images, sums last."""
    parts = sorted({part for column in columns.values() for part in column})
    lines = [
        "| bytes | " + " | ".join(columns) + " |",
        "| --- |" + " ---: |" * len(columns),
    ]
    for part in parts:
        cells = (f"{column.get(part, 0):,}" for column in columns.values())
        lines.append(f"| `{part}` | " + " | ".join(cells) + " |")
    sums = (f"{sum(column.values()):,}" for column in columns.values())
    lines.append("| all | " + " | ".join(sums) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("maps", nargs="+", metavar="NAME=FILE.map")
    parser.add_argument("--check", type=Path, metavar="BUDGET")
    arguments = parser.parse_args()
    try:
        columns = {
            name: sizes(Path(file))
            for name, _, file in (entry.partition("=") for entry in arguments.maps)
        }
        print(table(columns))
        if arguments.check:
            budgets = json.loads(arguments.check.read_text())
            status = 0
            for name, parts in columns.items():
                size = sum(parts.values())
                if size > budgets.get(name, 0):
                    print(f"{name}: {size} bytes, the budget is {budgets.get(name, 0)}")
                    status = 1
            return status
    except (OSError, ValueError) as error:
        print(f"firmware_size.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
