"""The atto command line as a user sees it: output, JSON, errors, exit status."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

from tools.reference.model import EncoderConfig
from tools.reference.model_writer import write_model
from tools.reference.random_model import random_model
from tools.text.device_text import DeviceTokenizer, TextParams

ATTO = Path(os.environ["ATTO_BUILD_DIR"]) / "atto"
CONFIG = EncoderConfig(context_length=16, vocabulary=256)
MESSAGES = [
    "Your parcel is waiting: pay the fee at http://parcel.example now",
    "see you at the pool at six?",
    "C\u0430ll 0900 123 456 to cl\u0430im",
]


def write_text_model(path: Path, config: EncoderConfig = CONFIG) -> None:
    """A random model with the labels class0 and class1; weights mean nothing."""
    params = TextParams(buckets=config.vocabulary)
    model = random_model(config, seed=7)
    for key, value in params.metadata().items():
        model.keys[key] = np.uint32(value)
    table = DeviceTokenizer(params).fold_table
    model.tensors["text.fold_table"] = np.frombuffer(table, np.uint8)
    write_model(path, model)


class Page(HTMLParser):
    """Collects what a page loads and the data that it holds."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.data = ""
        self._in_data = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes addresses, and whether the data begins."""
        values = dict(attrs)
        self.loads += [v for k, v in attrs if k in ("src", "href") and v]
        self._in_data = tag == "script" and values.get("id") == "data"

    def handle_data(self, data: str) -> None:
        """Keeps the data."""
        if self._in_data:
            self.data += data

    def handle_endtag(self, tag: str) -> None:
        """Notes the end of the data."""
        self._in_data = False


class CommandLine(unittest.TestCase):
    """Runs the built program on a small random model."""

    @classmethod
    def setUpClass(cls) -> None:
        """Writes the model once."""
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = Path(cls.folder.name)
        cls.model = str(cls.path / "model.gguf")
        write_text_model(Path(cls.model))

    @classmethod
    def tearDownClass(cls) -> None:
        """Removes everything."""
        cls.folder.cleanup()

    def atto(
        self, *arguments: str, status: int = 0, stdin: str | bytes = b""
    ) -> subprocess.CompletedProcess[str]:
        """Runs atto and checks its exit status."""
        data = stdin.encode() if isinstance(stdin, str) else stdin
        raw = subprocess.run([ATTO, *arguments], input=data, capture_output=True)
        result = subprocess.CompletedProcess(
            raw.args, raw.returncode, raw.stdout.decode(), raw.stderr.decode()
        )
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def classify_json(self, *arguments: str, **options: str | bytes) -> list[dict]:
        """The objects that `atto classify --json` prints."""
        result = self.atto("classify", self.model, "--json", *arguments, **options)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def test_version_and_help(self) -> None:
        """They go to standard output with status 0."""
        self.assertRegex(self.atto("--version").stdout, r"^atto \d+\.\d+\.\d+ ")
        text = self.atto("--help").stdout
        for command in ("classify", "eval", "inspect", "attention"):
            self.assertIn(command, text)
            self.assertIn("MODEL", self.atto(command, "--help").stdout)

    def test_classify_json(self) -> None:
        """One object a message, scores sum to 1, the label has the largest."""
        rows = self.classify_json(*MESSAGES)
        self.assertEqual(len(rows), len(MESSAGES))
        for row in rows:
            self.assertEqual(set(row["scores"]), {"class0", "class1"})
            self.assertAlmostEqual(sum(row["scores"].values()), 1.0, places=3)
            self.assertEqual(row["score"], max(row["scores"].values()))
            self.assertEqual(row["scores"][row["label"]], row["score"])
            self.assertGreater(row["tokens"], 0)
            self.assertGreater(row["microseconds"], 0)

    def test_inputs_are_alike(self) -> None:
        """Arguments, a file and standard input give the same answers."""

        def answers(rows: list[dict]) -> list[tuple]:
            return [(row["label"], row["scores"], row["tokens"]) for row in rows]

        file = self.path / "messages.txt"
        file.write_text("\r\n".join(MESSAGES), "utf-8")
        expected = answers(self.classify_json(*MESSAGES))
        text = "\n".join(MESSAGES)
        self.assertEqual(answers(self.classify_json(str(file))), expected)
        self.assertEqual(answers(self.classify_json("-", stdin=text)), expected)
        self.assertEqual(answers(self.classify_json(stdin=text)), expected)

    def test_classify_strange_messages(self) -> None:
        """Long, empty and ill-formed messages are answered and counted."""
        long, empty, broken = self.classify_json(
            stdin=b"word " * 1000 + b"\n\nab\xffc\xc3\n"
        )
        self.assertEqual(long["tokens"], CONFIG.context_length)
        self.assertEqual(long["cut_tokens"], 1000 - CONFIG.context_length)
        self.assertIsNone(empty["label"])
        self.assertEqual(empty["error"], "empty_input")
        self.assertEqual(broken["invalid_utf8"], 2)

    def test_classify_for_people(self) -> None:
        """A line a message, control characters made harmless, then the costs."""
        output = self.atto("classify", self.model, "one\x1b[31m two").stdout
        self.assertIn("one [31m two", output)
        self.assertNotIn("\x1b", output)
        self.assertRegex(output, r"latency +\d")
        self.assertRegex(output, r"arena [\d,]+ bytes")

    def test_threshold(self) -> None:
        """The positive label needs exactly the threshold."""
        for index, positive in enumerate(("class0", "class1")):
            score = self.classify_json(MESSAGES[0])[0]["scores"][positive]
            options = ("--positive", positive, "--threshold")
            at = self.classify_json(MESSAGES[0], *options, str(score))
            self.assertEqual(at[0]["label"], positive)
            above = self.classify_json(MESSAGES[0], *options, str(score + 1e-4))
            self.assertEqual(above[0]["label"], f"class{1 - index}")

    def test_eval(self) -> None:
        """The confusion matrix counts the answers of classify."""
        answers = [row["label"] for row in self.classify_json(*MESSAGES)]
        labels = [answers[0], answers[1], f"class{1 - int(answers[2][-1])}"]
        file = self.path / "labelled.tsv"
        lines = zip(labels, MESSAGES)
        file.write_text("".join(f"{a}\t{b}\n" for a, b in lines), "utf-8")
        result = json.loads(self.atto("eval", self.model, str(file), "--json").stdout)
        keys = "n accuracy precision recall f1 mcc auc recall_at_fpr_0.001"
        keys += " recall_at_fpr_0.005 confusion"
        self.assertLessEqual(set(keys.split()), set(result))
        expected = [[0, 0], [0, 0]]
        for truth, answer in zip(labels, answers):
            expected[int(truth[-1])][int(answer[-1])] += 1
        self.assertEqual(result["confusion"], expected)
        self.assertEqual(result["n"], 3)
        self.assertAlmostEqual(result["accuracy"], 2 / 3)
        self.assertEqual(result["positive"], "class1")
        text = self.atto("eval", self.model, str(file), "--positive", "class0").stdout
        self.assertRegex(text, r"accuracy +0\.6667")
        self.assertIn("positive label 'class0'", text)

    def test_inspect(self) -> None:
        """Shape, sizes that add up, the arena, for people and as JSON."""
        result = json.loads(self.atto("inspect", self.model, "--json").stdout)
        size = Path(self.model).stat().st_size
        self.assertEqual(sum(result["tensor_bytes"].values()), size)
        self.assertEqual(result["file_bytes"], size)
        self.assertEqual(result["shape"]["d_model"], CONFIG.embedding_length)
        end = max(b["offset"] + b["bytes"] for b in result["arena"])
        self.assertTrue(end <= result["arena_bytes"] < end + 16)
        text = self.atto("inspect", self.model).stdout
        self.assertIn(f"{size:,} bytes", text)
        self.assertIn("residual stream", text)
        self.assertIn(result["checksum"], text)

    def test_attention_in_the_terminal(self) -> None:
        """All heads of the last block, or the chosen one."""
        text = self.atto("attention", self.model, MESSAGES[1]).stdout
        for head in range(1, CONFIG.head_count + 1):
            self.assertIn(f"block 2, head {head}:", text)
        self.assertIn("█", text)
        one = self.atto(
            *("attention", self.model, MESSAGES[1], "--block", "1", "--head", "2")
        ).stdout
        self.assertIn("block 1, head 2:", one)
        self.assertNotIn("head 1", one)

    def test_attention_page(self) -> None:
        """The page loads nothing; its rows are shares of one."""
        html = self.path / "page.html"
        message = MESSAGES[1] + " </script>"
        self.atto("attention", self.model, message, "--html", str(html))
        page = Page()
        page.feed(html.read_text("utf-8"))
        self.assertEqual(page.loads, [])
        data = json.loads(page.data)
        n = len(data["tokens"])
        self.assertEqual(len(data["blocks"]), CONFIG.block_count)
        for block in data["blocks"]:
            self.assertEqual(len(block), CONFIG.head_count)
            for head in block:
                rows = np.array(head).reshape(n, n).sum(axis=1) / data["unit"]
                self.assertLess(np.abs(rows - 1).max(), 0.02)

    def test_attention_of_the_class_token(self) -> None:
        """The last block works out the class token's row alone: one row is shown."""
        for norm in ("pre", "post"):
            model = self.path / f"class_{norm}.gguf"
            config = dataclasses.replace(CONFIG, pooling="class", norm=norm)
            write_text_model(model, config)
            html = self.path / "class.html"
            self.atto("attention", str(model), MESSAGES[1], "--html", str(html))
            page = Page()
            page.feed(html.read_text("utf-8"))
            data = json.loads(page.data)
            n = len(data["tokens"])
            for block, rows in zip(data["blocks"], (n, 1), strict=True):
                for head in block:
                    sums = np.array(head).reshape(rows, n).sum(axis=1) / data["unit"]
                    self.assertLess(np.abs(sums - 1).max(), 0.02)
            for block, rows in (("1", n), ("2", 1)):
                text = self.atto(
                    *("attention", str(model), MESSAGES[1], "--block", block)
                ).stdout
                matrix = text[text.index("(column)") :]
                numbered = re.findall(r"^  \S+ +(\d+)  ", matrix, re.M)
                self.assertEqual(numbered, [str(i + 1) for i in range(rows)])

    def test_failures_are_one_sentence(self) -> None:
        """Status 1; the sentence names the file and the culprit."""
        data = Path(self.model).read_bytes()
        damaged, empty = self.path / "damaged.gguf", self.path / "empty.gguf"
        damaged.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        empty.write_bytes(b"")
        no_tab = self.path / "no_tab.tsv"
        no_tab.write_text("class0\tfine\nbroken\n")
        no_label = self.path / "no_label.tsv"
        no_label.write_text("class0\tfine\nclass9\tfine\n")
        red = self.path / "red.tsv"
        red.write_bytes(b"\x1b[31mclass0\xe2\x81\xa6\xff\tfine\n")
        cases: list[tuple[tuple[str, ...], str]] = [
            (("inspect", "/no/such.gguf"), r"/no/such\.gguf: No such file"),
            (("inspect", self.folder.name), r"is a folder"),
            (("classify", str(damaged), "hi"), r"damaged\.gguf: .*checksum"),
            (("classify", str(empty), "hi"), r"empty\.gguf: "),
            (("eval", self.model, "/no/such.tsv"), r"/no/such\.tsv: No such file"),
            (("eval", self.model, str(no_tab)), r"no_tab\.tsv:2: expected 'label TAB"),
            (("eval", self.model, str(no_label)), r"no_label\.tsv:2: .*'class9'"),
            (("eval", self.model, str(red)), r"red\.tsv:1: .*' \[31mclass0\ufffd'"),
            (("classify", self.model, "hi", "--positive", "x"), r"no label 'x'"),
            (("attention", self.model, " "), r"no token"),
            (
                ("attention", self.model, "hi", "--html", "/no/such/page.html"),
                r"/no/such/page\.html: ",
            ),
        ]
        for arguments, expected in cases:
            with self.subTest(arguments=arguments):
                result = self.atto(*arguments, status=1)
                self.assertRegex(result.stderr, expected)
                self.assertTrue(result.stderr.startswith("atto: "))
                self.assertEqual(result.stderr.count("\n"), 1)

    def test_every_refusal_names_the_file(self) -> None:
        """Status 1 from every command that loads a model, for many damages."""
        data = Path(self.model).read_bytes()
        damages = {
            "magic": b"ggml" + data[4:],
            "cut": data[:-7],
            "version": data[:4] + b"\2" + data[5:],
            "key": data.replace(b"atto.norm", b"atto.worm"),
            "tensor": data.replace(b"head.bias", b"head.bits"),
            "value": data.replace(b"\4\0\0\0\0\0\0\0gelu", b"\4\0\0\0\0\0\0\0glue"),
        }
        for name, damaged in damages.items():
            path = self.path / f"{name}.gguf"
            path.write_bytes(damaged)
            for command in (("inspect",), ("classify", "hi"), ("attention", "hi")):
                with self.subTest(damage=name, command=command):
                    self.assertNotEqual(damaged, data)
                    result = self.atto(command[0], str(path), *command[1:], status=1)
                    self.assertTrue(result.stderr.startswith(f"atto: {path}: "))
                    self.assertEqual(result.stderr.count("\n"), 1)

    def test_a_large_file_of_garbage_is_not_read(self) -> None:
        """A sparse file of 100 MB, of which little may become resident."""
        path = self.path / "garbage.gguf"
        with path.open("wb") as file:
            file.write(Path(self.model).read_bytes()[:2000])
            file.truncate(100 << 20)
        process = subprocess.Popen([ATTO, "inspect", path], stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 1)
        if not os.environ.get("ATTO_SANITIZE"):
            # Some 40 MB are Python's own, from before the program took over.
            self.assertLess(usage.ru_maxrss, 64 << 10, "KiB")

    def test_wrong_usage(self) -> None:
        """Status 2, and the option at fault is named."""
        cases: list[tuple[tuple[str, ...], str]] = [
            ((), r"(?i)subcommand"),
            (("dance",), r"dance|subcommand"),
            (("classify",), r"MODEL"),
            (("classify", self.model, "hi", "--threshold", "2"), r"--threshold"),
            (("classify", self.model, "hi", "--threshold", "nan"), r"--threshold.*nan"),
            (("classify", self.model, "hi", "--threshold", "inf"), r"--threshold.*inf"),
            (("eval", self.model, "x.tsv", "--threshold", "-NAN"), r"--threshold"),
            (("attention", self.model, "hi", "--head", "5"), r"--head.*1 to 4"),
        ]
        for arguments, expected in cases:
            with self.subTest(arguments=arguments):
                self.assertRegex(self.atto(*arguments, status=2).stderr, expected)


if __name__ == "__main__":
    unittest.main()
