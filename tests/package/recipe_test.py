"""The firmware recipes of README.md and docs/firmware.md, word for word, in a project
that has atto as a folder; a core and a board of one's own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BOARDS = ROOT / "firmware_examples" / "boards"
QEMU = shutil.which("qemu-system-arm")

if not shutil.which("arm-none-eabi-g++"):
    raise unittest.SkipTest("arm-none-eabi-g++ is not installed")


def section(page: str, heading: str) -> str:
    """The text under a heading of the second level."""
    text = (ROOT / page).read_text()
    return re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.M | re.S)[1]


def blocks(text: str, language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
    return [block for of, block in found if of == language]


def commands(text: str) -> list[list[str]]:
    """The lines of blocks that begin with a prompt."""
    lines = "".join(blocks(text, "")).splitlines()
    return [line[2:].split() for line in lines if line.startswith("$ ")]


README = section("README.md", "On a microcontroller")
PROJECT = section("docs/firmware.md", "In your CMake project")
OWN = section(
    "docs/firmware.md", "Three lines to your own core, five to your own board"
)


class Recipe(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        (self.folder / "atto").symlink_to(ROOT)

    def write(self, name: str, text: str) -> None:
        file = self.folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)

    def call(self, *command: str, status: int = 0) -> str:
        """What the command prints."""
        environment = {
            **os.environ,
            "CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count()),
            **({"CMAKE_GENERATOR": "Ninja"} if shutil.which("ninja") else {}),
        }
        result = subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.assertEqual(result.returncode != 0, status != 0, result.stdout)
        return result.stdout

    def configure(self, *options: str, status: int = 0) -> str:
        """On one line: CMake wraps its messages."""
        output = self.call("cmake", "-B", "other", *options, status=status)
        return " ".join(output.split())

    def test_recipes_build_images_that_run(self) -> None:
        project = blocks(PROJECT, "cmake")[0]
        self.write("main.cc", blocks(PROJECT, "cpp")[0])
        head = project[: project.index("add_subdirectory")]
        self.write("CMakeLists.txt", head + blocks(README, "cmake")[0])
        self.assertEqual(len(commands(README)), 2)
        for command in commands(README):
            self.call(*command)
        self.assertTrue((self.folder / "build" / "app.elf").is_file())

        # The longer one, and the same on a board of one's own.
        board = blocks(OWN, "cmake")[1]
        self.write("boards/mine.cmake", board)
        shutil.copyfile(BOARDS / "cmsdk.c", self.folder / "boards" / "device.c")
        mine = re.sub(r"\bapp\b", "mine", project[project.index("atto_add_firmware") :])
        mine = mine.replace("mps2-an386", "boards/mine.cmake")
        self.write("CMakeLists.txt", project + mine)
        self.write(
            "typed.txt", "WINNER!! claim ur free prize now\nsee you at 5\nquit\n"
        )
        self.write("expected.txt", "^spam$\n^ham$\n")
        for command in commands(PROJECT):
            output = self.call(*command)
        self.assertRegex(output, r"100% tests passed, 0 tests failed out of 2")
        if not QEMU:
            self.skipTest("qemu-system-arm is not installed: images are built alone")

    def test_core_of_ones_own(self) -> None:
        text = blocks(OWN, "cmake")[0].replace("path/to/atto", str(ROOT))
        self.write("core.cmake", text)
        self.write(
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.22)\nproject(app LANGUAGES C CXX)\n",
        )
        self.configure("-DCMAKE_TOOLCHAIN_FILE=core.cmake")

    @unittest.skipUnless(shutil.which("clang-19"), "clang-19 is not installed")
    def test_core_that_gcc_does_not_know(self) -> None:
        self.write(
            "core.cmake",
            "set(ATTO_CPU_FLAGS -mcpu=cortex-m999)\nset(ATTO_USE_CLANG ON)\n"
            f"include({ROOT}/toolchains/arm-none-eabi.cmake)\n",
        )
        self.write(
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.22)\nproject(app LANGUAGES C CXX)\n",
        )
        self.assertRegex(
            self.configure("-DCMAKE_TOOLCHAIN_FILE=core.cmake", status=1),
            "does not take ATTO_CPU_FLAGS '-mcpu=cortex-m999': .*cortex-m999",
        )

    def configure_atto(self, board: str, status: int = 0) -> str:
        return self.configure(
            *("-S", "atto", "-DATTO_BUILD_FIRMWARE=ON", "-DATTO_BUILD_TESTS=ON"),
            "-DCMAKE_TOOLCHAIN_FILE=toolchains/cortex-m4.cmake",
            *("-DCMAKE_BUILD_TYPE=MinSizeRel", f"-DATTO_BOARD={board}"),
            status=status,
        )

    def test_atto_with_tests_for_a_board_of_ones_own(self) -> None:
        board = self.folder / "boards" / "mine.cmake"
        self.write("boards/mine.cmake", blocks(OWN, "cmake")[1])
        self.assertRegex(
            self.configure_atto(str(board), status=1),
            "mine.cmake: no board_device 'device.c'",
        )
        shutil.copyfile(BOARDS / "cmsdk.c", self.folder / "boards" / "device.c")
        self.configure_atto(str(board))
        # More memory for tests, and the same device.
        ram = "RAM (rwx) : ORIGIN = 0x21000000, LENGTH = 16M"
        self.write(
            "boards/mine.cmake", f'{board.read_text()}set(board_test_ram "{ram}")\n'
        )
        self.configure_atto(str(board))
        script = self.folder / "other" / "boards" / "mine-large.ld"
        self.assertIn("0x21000000", script.read_text())


if __name__ == "__main__":
    unittest.main()
