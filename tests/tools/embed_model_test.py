"""tools/embed_model.py: the constants are the file, or the file for fewer tokens."""

import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

ROOT = Path(os.environ["ATTO_SOURCE_DIR"])
SPAM = ROOT / "models" / "spam.gguf"
READER = str(Path(os.environ["ATTO_BUILD_DIR"]) / "embed_parts")

sys.path.insert(0, str(ROOT))

from tools import embed_model  # noqa: E402


def embed(model: Path, folder: str, *options: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [
            *(sys.executable, ROOT / "tools" / "embed_model.py", model),
            *("--name", "model_x", "--out", folder, *options),
        ],
        capture_output=True,
        text=True,
        check=False,
    )


class EmbedModel(unittest.TestCase):
    def test_holds_the_bytes_and_the_shape(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(embed(SPAM, folder).returncode, 0)
            source = (Path(folder) / "model_x.cc").read_text()
            header = (Path(folder) / "model_x.h").read_text()
        array = re.search(r"model_x_bytes\[model_x_size\] = \{\n(.*?)\};", source, re.S)
        numbers = [int(n) for n in array.group(1).replace("\n", "").split(",") if n]
        self.assertEqual(bytes(numbers), SPAM.read_bytes())
        self.assertIn(f"#define model_x_size {SPAM.stat().st_size}\n", header)
        self.assertIn("/*tokens=*/64", header)
        self.assertIn("atto::Input::kText", header)

    def test_fewer_tokens_change_one_key_and_the_checksum(self) -> None:
        model = embed_model.read_model(SPAM.read_bytes())
        embed_model.limit_tokens(model, 20)
        short = embed_model.read_model(bytes(model.data))
        self.assertEqual(short.keys["atto.context_length"], 20)
        checksum = short.offsets["atto.checksum"]
        struct.pack_into("<I", short.data, checksum, 0)
        self.assertEqual(short.keys["atto.checksum"], zlib.crc32(short.data))
        changed = [
            i for i, (a, b) in enumerate(zip(model.data, SPAM.read_bytes())) if a != b
        ]
        self.assertLessEqual(len(changed), 8)

    def test_constants_are_those_of_the_reader(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            result = embed(SPAM, folder, "--reader", READER)
            self.assertEqual(result.returncode, 0, result.stderr)
            source = (Path(folder) / "model_x.cc").read_text()
            header = (Path(folder) / "model_x.h").read_text()
            plain = embed(SPAM, folder)
            self.assertEqual(plain.returncode, 0)
            plain_header = (Path(folder) / "model_x.h").read_text()
        self.assertIn(f"0x{zlib.crc32(SPAM.read_bytes()):08X}", source)
        self.assertIn("kModel = model_x_embedded;", header)
        self.assertNotIn("kModel", plain_header)

    def test_refuses_what_the_reader_refuses(self) -> None:
        model = embed_model.read_model(SPAM.read_bytes())
        cases = []
        for key, value, message in (
            ("atto.head.shift", 25, "atto.head.shift must be at most"),
            ("atto.text.buckets", 15, "atto.text.buckets must be at least"),
            ("atto.checksum", 0, "atto.checksum must be the CRC-32"),
        ):
            damaged = bytearray(model.data)
            struct.pack_into("<I", damaged, model.offsets[key], value)
            cases.append((damaged, message))
        # Behind all keys: the last byte of the last tensor, and one more.
        damaged = bytearray(model.data)
        damaged[-40] ^= 1
        cases.append((damaged, "atto.checksum must be the CRC-32"))
        cases.append((model.data + b"x", "tensor data must end the file"))
        for data, message in cases:
            with self.subTest(message), tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "damaged.gguf"
                path.write_bytes(data)
                result = embed(path, folder, "--reader", READER)
                self.assertEqual(result.returncode, 1)
                self.assertIn(f"{path}: {message}", result.stderr)
                self.assertFalse((Path(folder) / "model_x.h").exists())

    def test_refuses(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            short = Path(folder) / "short.gguf"
            short.write_bytes(SPAM.read_bytes()[:200])
            for model, options, message in (
                (Path(folder) / "none.gguf", (), "No such file"),
                (Path(__file__), (), "not a GGUF file"),
                (short, (), "damaged|ends within"),
                (SPAM, ("--tokens", "65"), "takes 1 to 64 tokens, not 65"),
                (SPAM, ("--tokens", "0"), "takes 1 to 64 tokens, not 0"),
            ):
                with self.subTest(message):
                    result = embed(model, folder, *options)
                    self.assertEqual(result.returncode, 1)
                    self.assertRegex(result.stderr, message)
            self.assertEqual(embed(SPAM, folder, "--name", "1x").returncode, 2)


if __name__ == "__main__":
    unittest.main()
