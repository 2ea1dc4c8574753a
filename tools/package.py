#!/usr/bin/env python3
"""Lays out atto for build systems that want a tree of their own.

  package.py arduino FOLDER    an Arduino library: FOLDER/atto
  package.py cmsis FOLDER      a CMSIS-Pack: FOLDER/atto.VERSION.pack and its
                               description

Both hold the portable sources with the scalar kernels, nothing else.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENDOR = "atto"


def version() -> str:
    """As runtime/version.h has it."""
    text = (ROOT / "runtime" / "version.h").read_text()
    numbers = re.findall(r"^#define ATTO_VERSION_\w+ (\d+)", text, re.MULTILINE)
    return ".".join(numbers)


def sources() -> list[Path]:
    """What to compile: as cmake/AttoSources.cmake, and the list of backends."""
    patterns = (
        *("ops/backend.cc", "ops/backends_ref.cc", "ops/base/*.cc"),
        *("ops/*/*_ref.cc", "runtime/*.cc", "runtime/*/*.cc"),
    )
    found = {path for pattern in patterns for path in ROOT.glob(pattern)}
    return sorted(path for path in found if not path.name.startswith("float_"))


def headers() -> list[Path]:
    """All headers that these sources may include."""
    found = [*ROOT.glob("ops/**/*.h"), *ROOT.glob("runtime/**/*.h")]
    return sorted(
        path
        for path in found
        if not re.search(r"-inl\.h$|_f32\.h$|/float_", path.as_posix())
    )


def copy_files(files: list[Path], folder: Path) -> None:
    """Copies files with their paths in the project."""
    for path in files:
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def arduino(folder: Path) -> Path:
    """Makes the library folder."""
    library = folder / "atto"
    copy_files([*sources(), *headers()], library / "src")
    copy_files([ROOT / "library.properties", ROOT / "LICENSE"], library)
    return library


def pack_description() -> ElementTree.Element:
    """The .pdsc of the pack."""
    package = ElementTree.Element("package", schemaVersion="1.7.7")

    def add(parent: ElementTree.Element, tag: str, text: str = "", **attributes: str):
        element = ElementTree.SubElement(parent, tag, attributes)
        element.text = text or None
        return element

    add(package, "vendor", VENDOR)
    add(package, "name", "atto")
    add(package, "description", "Tiny integer transformer encoders without a heap")
    note = " Packs require an address; this one is a placeholder. "
    package.append(ElementTree.Comment(note))
    add(package, "url", "https://example.invalid/atto/")
    add(package, "license", "LICENSE")
    releases = add(package, "releases")
    add(releases, "release", "See CHANGELOG.md", version=version())
    conditions = add(package, "conditions")
    condition = add(conditions, "condition", id="Cortex-M")
    for core in ("Cortex-M0", "Cortex-M0+", "Cortex-M3", "Cortex-M4", "Cortex-M7"):
        add(condition, "accept", Dcore=core)
    for core in ("Cortex-M23", "Cortex-M33", "Cortex-M55", "Cortex-M85"):
        add(condition, "accept", Dcore=core)
    components = add(package, "components")
    component = add(
        components,
        "component",
        Cclass="Machine Learning",
        Cgroup="atto",
        Cversion=version(),
        condition="Cortex-M",
    )
    add(component, "description", "Text and keyword classifiers, scalar kernels")
    files = add(component, "files")
    add(files, "file", category="include", name="./")
    for path in [*headers(), *sources()]:
        category = "header" if path.suffix == ".h" else "sourceCpp"
        add(files, "file", category=category, name=path.relative_to(ROOT).as_posix())
    return package


def cmsis(folder: Path) -> Path:
    """Makes the description and the pack."""
    folder.mkdir(parents=True, exist_ok=True)
    description = folder / f"{VENDOR}.atto.pdsc"
    tree = ElementTree.ElementTree(pack_description())
    ElementTree.indent(tree)
    tree.write(description, encoding="utf-8", xml_declaration=True)
    pack = folder / f"{VENDOR}.atto.{version()}.pack"
    with zipfile.ZipFile(pack, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(description, description.name)
        for path in [*sources(), *headers(), ROOT / "LICENSE"]:
            archive.write(path, path.relative_to(ROOT))
    return pack


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=("arduino", "cmsis"))
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    try:
        make = arduino if arguments.kind == "arduino" else cmsis
        print(make(arguments.folder))
    except OSError as error:
        print(f"package.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
