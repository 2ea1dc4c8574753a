"""The atto command line with sound: files of all kinds, streams, pictures."""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import wave
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tools.reference.model import EncoderConfig
from tools.reference.model_writer import read_model, write_model
from tools.reference.random_model import random_model
from tools.reference.spotter import Spotter

ATTO = Path(os.environ["ATTO_BUILD_DIR"]) / "atto"
RATE = 16000
LABELS = ["yes", "no", "unknown", "silence"]
CONFIG = EncoderConfig(
    context_length=48,
    embedding_length=16,
    input_length=160,
    block_count=1,
    head_count=2,
    feed_forward_length=16,
    classes=len(LABELS),
    input="audio",
)

Samples = npt.NDArray[np.int16]


def sounds(seconds: float, seed: int = 1) -> Samples:
    """Tones and noise that come and go."""
    rng = np.random.default_rng(seed)
    t = np.arange(int(seconds * RATE))
    level = 4000 * (1 + np.sin(t / 2500.0)) * (np.sin(t / 9001.0) > -0.3)
    tone = np.sin(t * (0.05 + 0.2 * (1 + np.sin(t / 7000.0))))
    return np.rint(level * tone + rng.normal(0, 50, t.size)).astype(np.int16)


def write_wav(path: Path, pcm: Samples, rate: int = RATE, channels: int = 1) -> Path:
    """16-bit WAV; pcm [samples] or [samples, channels]."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(pcm.astype("<i2").tobytes())
    return path


def write_float_wav(path: Path, values: npt.NDArray[np.float32]) -> Path:
    """32-bit float WAV, which the standard library cannot write."""
    data = values.astype("<f4").tobytes()
    form = struct.pack("<HHIIHH", 3, 1, RATE, RATE * 4, 4, 32)
    body = b"WAVEfmt " + struct.pack("<I", len(form)) + form
    body += b"data" + struct.pack("<I", len(data)) + data
    path.write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)
    return path


class AudioCliTest(unittest.TestCase):
    """Runs the program on a random model; its labels mean nothing."""

    folder: tempfile.TemporaryDirectory[str]

    @classmethod
    def setUpClass(cls) -> None:
        """Writes the model and a clip."""
        cls.folder = tempfile.TemporaryDirectory()
        cls.dir = Path(cls.folder.name)
        cls.model = cls.dir / "model.gguf"
        model = random_model(CONFIG, seed=3)
        model.keys["atto.labels"] = LABELS
        thresholds = np.array([9000, 9000, 65535, 65535], np.uint16)
        model.keys["atto.audio.spot.thresholds"] = thresholds
        model.keys["atto.audio.spot.refractory"] = np.uint32(300)
        write_model(cls.model, model)
        cls.reference = Spotter(read_model(cls.model))
        cls.pcm = sounds(1.0)
        cls.clip = write_wav(cls.dir / "clip.wav", cls.pcm)

    @classmethod
    def tearDownClass(cls) -> None:
        """Removes the files."""
        cls.folder.cleanup()

    def atto(
        self, *arguments: Any, status: int = 0, stdin: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        """Runs it and checks the exit status."""
        result = subprocess.run(
            [ATTO, *map(str, arguments)], input=stdin, capture_output=True, timeout=250
        )
        self.assertEqual(result.returncode, status, result.stderr.decode())
        return result

    def lines(self, *arguments: Any, stdin: bytes = b"") -> list[dict[str, Any]]:
        """The JSON objects that it prints."""
        output = self.atto(*arguments, "--json", stdin=stdin).stdout
        return [json.loads(line) for line in output.splitlines()]

    def logits(self, path: Path) -> list[int]:
        """The logits of one file."""
        return list(self.lines("classify", self.model, path)[0]["logits"].values())

    def test_classify_gives_the_logits_of_the_reference(self) -> None:
        """Mono, stereo, float: the same samples, the same numbers."""
        wanted = self.reference.clip_logits(self.pcm).tolist()
        self.assertEqual(self.logits(self.clip), wanted)
        stereo = np.repeat(self.pcm[:, None], 2, axis=1)
        path = write_wav(self.dir / "stereo.wav", stereo, channels=2)
        self.assertEqual(self.logits(path), wanted)
        values = (self.pcm / 32768).astype(np.float32)
        path = write_float_wav(self.dir / "float.wav", values)
        self.assertEqual(self.logits(path), wanted)
        text = self.atto("classify", self.model, self.clip).stdout.decode()
        self.assertRegex(text, r"clip\.wav")
        self.assertRegex(text, r"times faster than real time")

    def test_other_sample_rates_are_converted(self) -> None:
        """A tone sounds the same at 8, 16, 44.1 and 48 kHz."""
        found = []
        for rate in (16000, 8000, 44100, 48000):
            t = np.arange(rate) / rate
            pcm = np.rint(8000 * np.sin(2 * np.pi * 700 * t)).astype(np.int16)
            path = write_wav(self.dir / f"{rate}.wav", pcm, rate)
            line = self.lines("classify", self.model, path)[0]
            self.assertAlmostEqual(line["seconds"], 1.0, places=2)
            found.append(line["logits"].values())
        for other in found[1:]:
            for a, b in zip(found[0], other):
                self.assertLess(abs(a - b), 256)

    def test_short_and_strange_clips_have_an_answer(self) -> None:
        """One sample, silence, a square wave, a file that is too long."""
        for name, pcm in (
            ("one", np.array([77])),
            ("zeros", np.zeros(RATE)),
            ("square", np.where(np.arange(RATE) % 40 < 20, 32767, -32768)),
        ):
            path = write_wav(self.dir / f"{name}.wav", pcm.astype(np.int16))
            wanted = self.reference.clip_logits(pcm).tolist()
            self.assertEqual(self.logits(path), wanted, name)
        path = write_wav(self.dir / "long.wav", sounds(2.5))
        line = self.lines("classify", self.model, path)[0]
        self.assertAlmostEqual(line["cut_seconds"], 1.5, places=3)
        text = self.atto("classify", self.model, path).stdout.decode()
        self.assertIn("only the first 1.00 s", text)
        empty = write_wav(self.dir / "empty.wav", np.zeros(0, np.int16))
        line = self.lines("classify", self.model, empty)[0]
        self.assertIsNone(line["label"])
        self.assertEqual(line["error"], "empty_input")

    def test_bad_files_are_refused_with_a_sentence(self) -> None:
        """What was wrong, with the file's name."""
        data = self.clip.read_bytes()
        truncated = self.dir / "truncated.wav"
        truncated.write_bytes(data[:30])
        noise = self.dir / "noise.wav"
        noise.write_bytes(bytes(range(256)))
        nan = np.zeros(100, np.float32)
        nan[60] = np.nan
        infinite = np.full(10, np.inf, np.float32)
        for path, expected in (
            (truncated, "truncated.wav: "),
            (noise, "noise.wav: "),
            (self.dir / "missing.wav", "missing.wav: no such file"),
            (self.dir, "is a folder"),
            (write_float_wav(self.dir / "nan.wav", nan), "sample 60 is not a finite"),
            (
                write_float_wav(self.dir / "inf.wav", infinite),
                "sample 0 is not a finite",
            ),
        ):
            with self.subTest(path=path.name):
                for command in ("classify", "listen"):
                    result = self.atto(command, self.model, path, status=1)
                    self.assertIn(expected, result.stderr.decode())

    def test_a_wav_that_ends_early_is_read_as_far_as_it_goes(self) -> None:
        """The header promises more samples than there are."""
        path = self.dir / "early.wav"
        path.write_bytes(self.clip.read_bytes()[: 44 + 2 * 4000])
        wanted = self.reference.clip_logits(self.pcm[:4000]).tolist()
        self.assertEqual(self.logits(path), wanted)

    def test_listen_reports_the_events_of_the_reference(self) -> None:
        """From a file and from raw samples on standard input."""
        pcm = sounds(7.0, seed=5)
        path = write_wav(self.dir / "stream.wav", pcm)
        heard = np.concatenate([pcm, np.zeros(self.reference.window, np.int16)])
        wanted = self.reference.events(heard)
        self.assertGreater(len(wanted), 1)
        for stdin, file in ((b"", path), (pcm.astype("<i2").tobytes(), "-")):
            lines = self.lines("listen", self.model, file, stdin=stdin)
            self.assertEqual(
                [
                    (
                        l["word"],
                        l["start_sample"],
                        l["end_sample"],
                        l["detected_sample"],
                    )
                    for l in lines
                ],
                [(LABELS[e.word], e.start, e.end, e.detected) for e in wanted],
            )
            for line, event in zip(lines, wanted):
                self.assertAlmostEqual(line["score"], event.score / 32768, places=5)
        text = self.atto("listen", self.model, path).stdout.decode()
        self.assertIn(f"7.0 s heard, {len(wanted)} events", text)
        lines = self.lines("listen", self.model, path, "--threshold", "1")
        self.assertEqual(lines, [])
        looks = self.lines("listen", self.model, path, "--looks", "--hop", "500")
        self.assertEqual(sum("look" in line for line in looks), 15)

    def test_listen_takes_the_format_of_raw_samples(self) -> None:
        """48 kHz stereo on standard input."""
        pcm = np.repeat(sounds(2.0)[:, None], 2, axis=1)
        raw = np.repeat(pcm, 3, axis=0).astype("<i2").tobytes()
        options = ("--rate", "48000", "--channels", "2")
        text = self.atto("listen", self.model, *options, stdin=raw).stdout.decode()
        self.assertIn("2.0 s heard", text)
        text = self.atto("listen", self.model).stdout.decode()
        self.assertIn("0.0 s heard, 0 events", text)

    def test_listen_takes_constant_memory(self) -> None:
        """Twenty minutes take no more than ten seconds."""

        def peak(seconds: int) -> int:
            raw = np.tile(sounds(1.0), seconds).astype("<i2").tobytes()
            program = [str(ATTO), "listen", str(self.model), "--hop", "1000"]
            script = (
                "import resource, subprocess, sys;"
                "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
                "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
            )
            result = subprocess.run(
                [sys.executable, "-c", script, *program],
                input=raw,
                capture_output=True,
                check=True,
                timeout=250,
            )
            return int(result.stdout)

        self.assertLess(peak(1200), 1.3 * peak(10) + 1000)

    def test_eval_counts_by_folder(self) -> None:
        """Keywords, other words, silence and words apart."""
        root = self.dir / "words"
        counts = {"yes": 3, "no": 2, "tree": 4, "_silence_": 1, "on": 2}
        for word, clips in counts.items():
            (root / word).mkdir(parents=True)
            for i in range(clips):
                seed = 10 * len(word) + i
                write_wav(root / word / f"{i}.wav", sounds(1.0, seed))
        (root / "yes" / "notes.txt").write_text("no sound")
        (root / "nothing").mkdir()
        result = self.lines("eval", self.model, root, "--apart", "on")[0]
        self.assertEqual(result["accuracy"]["n"], 10)
        self.assertEqual(result["keywords"]["n"], 5)
        self.assertEqual(result["other words"]["n"], 4)
        self.assertEqual(result["silence"]["n"], 1)
        self.assertEqual(result["words apart called a keyword"]["n"], 2)
        rows = [sum(row) for row in result["confusion"]]
        self.assertEqual(rows, [3, 2, 4, 1])
        diagonal = sum(row[i] for i, row in enumerate(result["confusion"]))
        self.assertEqual(result["accuracy"]["count"], diagonal)
        right = 0
        for word, index in (("yes", 0), ("no", 1), ("tree", 2), ("_silence_", 3)):
            for i in range(counts[word]):
                clip = sounds(1.0, 10 * len(word) + i)
                logits = self.reference.clip_logits(clip)
                right += int(np.argmax(logits) == index)
        self.assertEqual(right, diagonal)
        text = self.atto("eval", self.model, root, "--apart", "on").stdout.decode()
        self.assertRegex(text, r"on +2 .*apart")
        self.assertIn("confusion", text)
        result = self.atto("eval", self.model, self.dir / "nowhere", status=1)
        self.assertIn("nowhere", result.stderr.decode())

    def test_names_that_are_not_utf8(self) -> None:
        """JSON has U+FFFD for what is not; neither it nor a table has controls."""
        root = self.dir / "names"
        folder = root / os.fsdecode(b"w\xff\x1b\xe2\x80\xae")
        folder.mkdir(parents=True)
        clip = write_wav(folder / os.fsdecode(b"c\xe9.wav"), self.pcm)
        line = self.lines("classify", self.model, clip)[0]
        self.assertTrue(line["file"].endswith("c\ufffd.wav"))
        words = self.lines("eval", self.model, root)[0]["words"]
        self.assertEqual(list(words), ["w\ufffd\x1b\u202e"])
        text = self.atto("eval", self.model, root).stdout.decode()
        self.assertRegex(text, "\n  w\ufffd  +1  ")
        clip.write_bytes(b"noise")
        error = self.atto("eval", self.model, root, status=1).stderr.decode()
        self.assertIn("names/w\ufffd /c\ufffd.wav: ", error)

    def test_eval_sorts_words_by_how_often_they_are_taken_for_a_keyword(self) -> None:
        """A word without a sample in between changes nothing."""
        root = self.dir / "sorted"
        # The model takes the square wave for silence, silence for "no".
        for word, pcm in (
            ("a", np.where(np.arange(RATE) % 40 < 20, 32767, -32768)),
            ("b", np.zeros(0)),
            ("c", np.zeros(RATE)),
        ):
            (root / word).mkdir(parents=True)
            write_wav(root / word / "0.wav", pcm.astype(np.int16))
        text = self.atto("eval", self.model, root).stdout.decode()
        table = text[text.index("other words ") :]
        found = re.findall(r"^  (\w) +\d+  (\S+)", table, re.M)
        self.assertEqual(found, [("c", "1.0000"), ("a", "0.0000"), ("b", "-")])

    def test_features_draws_a_picture(self) -> None:
        """A PNG of the right size."""
        png = self.dir / "out.png"
        arguments = ("features", self.clip, "--png", png, "--model")
        text = self.atto(*arguments, self.model).stdout.decode()
        self.assertIn("98 frames of 40 bins", text)
        data = png.read_bytes()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(struct.unpack(">II", data[16:24]), (98 * 4, 40 * 6 + 6))
        result = self.atto(*arguments, self.dir / "none.gguf", status=1)
        self.assertIn("--model", result.stderr.decode())

    def test_attention_over_time(self) -> None:
        """The words are times."""
        text = self.atto("attention", self.model, self.clip).stdout.decode()
        self.assertIn("0.00s", text)
        self.assertIn("0.94s", text)
        html = self.dir / "page.html"
        self.atto("attention", self.model, self.clip, "--html", html)
        self.assertIn("0.10s", html.read_text(encoding="utf-8"))

    def test_wrong_usage(self) -> None:
        """No files; a hop that the model cannot have; no share."""
        self.atto("classify", self.model, status=2)
        self.atto("listen", self.model, self.clip, "--hop", "1", status=2)
        for number in ("nan", "inf", "1.5"):
            arguments = ("listen", self.model, self.clip, "--threshold", number)
            self.assertIn(b"--threshold", self.atto(*arguments, status=2).stderr)

    def test_inspect_says_what_it_hears(self) -> None:
        """The front end's shape and the spotter's memory."""
        found = self.lines("inspect", self.model)[0]
        self.assertEqual(found["audio"]["window_samples"], self.reference.window)
        self.assertGreater(found["audio"]["spotter_arena_bytes"], found["arena_bytes"])
        text = self.atto("inspect", self.model).stdout.decode()
        self.assertIn("a look sees 1.00 s", text)


if __name__ == "__main__":
    unittest.main()
