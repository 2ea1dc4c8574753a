"""Packages for other build systems: each is parsed, and lists what compiles for a
Cortex-M0 without any library but the compiler's."""

from __future__ import annotations

import fnmatch
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools import package  # noqa: E402

COMPILER = shutil.which("arm-none-eabi-g++")


def project_path(path: str) -> str:
    return Path(path).resolve().relative_to(ROOT).as_posix()


SOURCES = sorted(path.relative_to(ROOT).as_posix() for path in package.sources())


def run_cmake_script(text: str) -> str:
    """The messages of a CMake script."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.cmake"
        script.write_text(text)
        result = subprocess.run(
            ["cmake", "-P", script], capture_output=True, text=True, check=False
        )
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return result.stderr


def listed_sources(messages: str) -> list[str]:
    """The .cc files that a script's messages name."""
    return sorted(project_path(path) for path in re.findall(r"\S+\.cc\b", messages))


class Manifests(unittest.TestCase):
    def test_versions_agree(self) -> None:
        version = package.version()
        self.assertRegex(version, r"^\d+\.\d+\.\d+$")
        platformio = json.loads((ROOT / "library.json").read_text())
        self.assertEqual(platformio["version"], version)
        idf = yaml.safe_load((ROOT / "idf_component.yml").read_text())
        self.assertEqual(idf["version"], version)
        self.assertIn(f"version={version}\n", (ROOT / "library.properties").read_text())

    def test_sources_are_those_of_cmake(self) -> None:
        messages = run_cmake_script(
            f"include({ROOT}/cmake/AttoSources.cmake)\n"
            'foreach(file IN LISTS atto_sources)\nmessage("${file}")\nendforeach()\n'
        )
        self.assertEqual(
            sorted([*listed_sources(messages), "ops/backends_ref.cc"]), SOURCES
        )

    def test_platformio(self) -> None:
        """srcFilter: patterns are added and removed in order; * is no slash."""
        manifest = json.loads((ROOT / "library.json").read_text())
        self.assertTrue((ROOT / manifest["headers"]).is_file())
        files = [p.relative_to(ROOT).as_posix() for p in ROOT.glob("*/**/*.cc")]
        chosen: set[str] = set()
        for rule in manifest["build"]["srcFilter"]:
            action, pattern = re.fullmatch(r"([+-])<(.*)>", rule).groups()
            matching = {
                file
                for file in files
                if pattern == "*"
                or (
                    file.count("/") == pattern.count("/")
                    and fnmatch.fnmatchcase(file, pattern)
                )
            }
            chosen = chosen | matching if action == "+" else chosen - matching
        self.assertEqual(sorted(chosen), SOURCES)

    def test_esp_idf(self) -> None:
        messages = run_cmake_script(
            "set(ESP_PLATFORM 1)\n"
            'function(idf_component_register)\nmessage("${ARGN}")\nendfunction()\n'
            f"include({ROOT}/CMakeLists.txt)\n"
        ).replace(";", "\n")
        self.assertEqual(listed_sources(messages), SOURCES)
        self.assertIn(f"INCLUDE_DIRS\n{ROOT}", messages)

    def test_zephyr(self) -> None:
        module = ROOT / "cmake" / "packaging"
        manifest = yaml.safe_load((module / "zephyr" / "module.yml").read_text())
        self.assertEqual(manifest["name"], "atto")
        self.assertTrue((module / manifest["build"]["kconfig"]).is_file())
        functions = "".join(
            f'function({name})\nmessage("{name} ${{ARGN}}")\nendfunction()\n'
            for name in (
                "zephyr_library_named",
                "zephyr_library_sources",
                "zephyr_include_directories",
            )
        )
        script = module / manifest["build"]["cmake"] / "CMakeLists.txt"
        messages = run_cmake_script(
            f"set(CONFIG_ATTO y)\n{functions}include({script})\n"
        ).replace(";", "\n")
        self.assertEqual(listed_sources(messages), SOURCES)
        self.assertEqual(
            run_cmake_script(f"{functions}include({script})\n").strip(), ""
        )

    def test_cmsis_pack(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            pack = package.cmsis(Path(folder))
            with zipfile.ZipFile(pack) as archive:
                names = set(archive.namelist())
                description = ElementTree.fromstring(archive.read("atto.atto.pdsc"))
        files = description.findall("components/component/files/file")
        listed = {file.get("name") for file in files}
        self.assertEqual(listed - names, {"./"})
        self.assertEqual(
            sorted(f.get("name") for f in files if f.get("category") == "sourceCpp"),
            SOURCES,
        )
        self.assertEqual(
            description.find("releases/release").get("version"), package.version()
        )
        conditions = {c.get("id") for c in description.findall("conditions/condition")}
        used = {c.get("condition") for c in description.findall("components/component")}
        self.assertLessEqual(used, conditions)

    @unittest.skipUnless(COMPILER, "arm-none-eabi-g++ is not installed")
    def test_arduino_library_compiles_for_cortex_m0(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            library = package.arduino(Path(folder))
            properties = dict(
                line.split("=", 1)
                for line in (library / "library.properties").read_text().splitlines()
                if not line.startswith("#")
            )
            for key in (
                *("name", "version", "author", "maintainer", "sentence"),
                *("paragraph", "category", "url", "architectures"),
            ):
                self.assertTrue(properties[key], key)
            source_folder = library / "src"
            self.assertTrue((source_folder / properties["includes"]).is_file())
            compiled = sorted(source_folder.rglob("*.cc"))
            self.assertEqual(
                [path.relative_to(source_folder).as_posix() for path in compiled],
                SOURCES,
            )
            subprocess.run(
                [
                    *(COMPILER, "-mcpu=cortex-m0", "-mthumb", "-std=gnu++17"),
                    *("-fno-exceptions", "-fno-rtti", "-Wall", "-Werror"),
                    *("-fsyntax-only", "-I", source_folder, *compiled),
                ],
                check=True,
            )


if __name__ == "__main__":
    unittest.main()
