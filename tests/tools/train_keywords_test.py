"""Keyword training on words that are tones: folders, copies, the command as a whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from pathlib import Path

import numpy as np

ROOT = Path(os.environ.get("ATTO_SOURCE_DIR", Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(ROOT))

try:
    import gguf  # noqa: F401
    import scipy  # noqa: F401
    import soundfile
    import torch  # noqa: F401
except ImportError as error:
    raise unittest.SkipTest(f"{error}: run tools/dev setup train") from error

from tools.audio.device_audio import (  # noqa: E402
    AudioParams,
    DeviceFrontEnd,
    library_path,
)
from tools.reference.model_writer import read_model  # noqa: E402
from tools.reference.spotter import NEVER, SCORE_ONE  # noqa: E402
from tools.train.clip_augment import (  # noqa: E402
    MARGIN,
    CopyMaker,
    MadeCounts,
    distort,
    find_sounds,
    held_out_silence,
    join,
    slide,
)
from tools.train.clips import (  # noqa: E402
    RATE,
    ClipFolder,
    Clips,
    class_names,
    label_numbers,
    part_of_speaker,
)

from tools.train.keyword_recipe import Copies, KeywordRecipe, mix  # noqa: E402
from tools.train.train_keywords import (  # noqa: E402
    HEARD,
    HEARD_OF_EACH,
    word_thresholds,
)

if not library_path().is_file():
    raise unittest.SkipTest(f"{library_path()} is missing: the tools are not built")

WORDS = {"yes": (300, 900), "no": (900, 300), "up": (500, 500), "cat": (2500, 1500)}
COMMAND = (sys.executable, str(ROOT / "tools" / "train" / "train_keywords.py"))


def tone(rng: np.random.Generator, first: float, last: float) -> np.ndarray:
    """A sweep between two frequencies, as float samples."""
    length = int(rng.integers(9000, RATE + 1))
    frequency = np.linspace(first, last, length) * rng.uniform(0.9, 1.1)
    phase = 2 * np.pi * np.cumsum(frequency) / RATE
    return np.sin(phase) * np.hanning(length) * rng.uniform(0.05, 0.5)


def write_words(folder: Path, count: int, suffix: str = ".wav") -> None:
    """`count` clips of each word, each by another speaker, and some noise."""
    rng = np.random.default_rng(1)
    for word, ends in WORDS.items():
        (folder / word).mkdir(parents=True)
        for i in range(count):
            path = folder / word / f"{i:08x}_nohash_0{suffix}"
            soundfile.write(path, tone(rng, *ends), RATE)
    noise = folder / "_background_noise_"
    noise.mkdir()
    soundfile.write(noise / "hiss.wav", rng.normal(0, 0.02, 12 * RATE), RATE)


class Folders(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = Path(temporary.name)
        self.folder, self.cache = self.root / "clips", self.root / "cache"
        self.cache.mkdir()

    def test_speakers_stay_together(self) -> None:
        self.assertEqual(
            part_of_speaker("yes/0a1b_nohash_0.wav"),
            part_of_speaker("no/0a1b_nohash_3.flac"),
        )
        parts = [part_of_speaker(f"yes/{i:08x}_nohash_0.wav") for i in range(2000)]
        for part, share in (("train", 0.8), ("val", 0.1), ("test", 0.1)):
            self.assertAlmostEqual(parts.count(part) / 2000, share, delta=0.03)

    def test_lists_decide_where_they_are(self) -> None:
        write_words(self.folder, 3)
        (self.folder / "validation_list.txt").write_text("yes/00000000_nohash_0.wav\n")
        (self.folder / "testing_list.txt").write_text("no/00000001_nohash_0.wav\n")
        clips = ClipFolder(self.folder, self.cache)
        self.assertEqual(clips.part("val").words, ["yes"])
        self.assertEqual(clips.part("test").words, ["no"])
        self.assertEqual(len(clips.part("train").words), 3 * len(WORDS) - 2)
        self.assertEqual(len(clips.noise()), 1)

    def test_parts_as_tar_files(self) -> None:
        write_words(self.root / "train", 2, ".flac")
        self.folder.mkdir()
        with tarfile.open(self.folder / "train.tar", "w") as archive:
            archive.add(self.root / "train", "train")
        train = ClipFolder(self.folder, self.cache).part("train")
        self.assertEqual(sorted({*train.words} & {*WORDS}), sorted(WORDS))

    def test_rate_and_channels(self) -> None:
        write_words(self.folder, 1)
        t = np.arange(48000) / 48000
        stereo = np.stack([np.sin(2 * np.pi * 440 * t), np.zeros(48000)], 1)
        soundfile.write(self.folder / "yes" / "a.wav", stereo, 48000)
        (self.folder / "validation_list.txt").write_text("yes/a.wav\n")
        val = ClipFolder(self.folder, self.cache).part("val")
        wanted = 0.5 * np.sin(2 * np.pi * 440 * np.arange(RATE) / RATE)
        self.assertEqual(val.lengths.tolist(), [RATE])
        error = np.abs(val.pcm[0, 100:-100] / 32768 - wanted[100:-100])
        self.assertLess(error.max(), 0.01)

    def test_bad_folders(self) -> None:
        self.folder.mkdir()
        with self.assertRaisesRegex(ValueError, "to train on"):
            ClipFolder(self.folder, self.cache)
        (self.folder / "yes").mkdir()
        (self.folder / "yes" / "broken.wav").write_bytes(b"RIFF")
        (self.folder / "validation_list.txt").write_text("no/x.wav\n")
        with self.assertRaisesRegex(ValueError, "broken.wav"):
            ClipFolder(self.folder, self.cache).part("train")


class Labels(unittest.TestCase):
    def test_names(self) -> None:
        heard = ["cat", "no", "yes"]
        self.assertEqual(
            class_names(("yes", "no"), heard, True), ["yes", "no", "unknown", "silence"]
        )
        self.assertEqual(class_names(heard, heard, False), heard)
        with self.assertRaisesRegex(ValueError, "up"):
            class_names(("up",), heard, True)

    def test_numbers(self) -> None:
        labels = ["yes", "unknown", "silence"]
        words = ["cat", "yes", "_silence_"]
        self.assertEqual(label_numbers(words, labels).tolist(), [1, 0, 2])
        self.assertEqual(label_numbers(words, labels[:1]).tolist(), [-1, 0, -1])


class Thresholds(unittest.TestCase):
    def setUp(self) -> None:
        self.labels = ["yes", "no", "unknown"]
        self.truth = np.repeat([0, 1, 2], [200, 200, 40])
        self.scores = np.linspace(0.55, 0.999, 200)

    def thresholds(self, called: int) -> np.ndarray:
        """All words have the same scores; other words are called `called`, at 0.58."""
        wanted = np.concatenate([self.scores, self.scores, np.full(40, 0.58)])
        logits = np.zeros((440, 3))
        place = np.where(self.truth == 2, called, self.truth)
        logits[np.arange(440), place] = np.log(wanted / (1 - wanted) * 2)
        return word_thresholds(logits, self.truth, self.labels, np.full(440, 1 / 40))

    def heard(self, threshold: int) -> float:
        return float((self.scores * SCORE_ONE >= threshold).mean())

    def test_strict_where_others_are_taken_for_a_word(self) -> None:
        for called in (0, 1):
            found = self.thresholds(called)
            self.assertGreater(found[called], found[1 - called])
            shares = [self.heard(found[0]), self.heard(found[1])]
            self.assertGreaterEqual(np.mean(shares), HEARD)
            self.assertGreaterEqual(min(shares), HEARD_OF_EACH)
            self.assertEqual(found[2], NEVER)

    def test_as_strict_as_recall_allows(self) -> None:
        found = self.thresholds(2)
        shares = [self.heard(found[0]), self.heard(found[1])]
        self.assertAlmostEqual(np.mean(shares), HEARD, delta=0.03)
        self.assertGreaterEqual(np.mean(shares), HEARD)


class Augmentation(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        rng = np.random.default_rng(3)
        pcm = np.zeros((4, RATE), np.int16)
        lengths = []
        for row in pcm:
            samples = tone(rng, 400, 800)
            row[: len(samples)] = np.rint(samples * 32767)
            lengths.append(len(samples))
        cls.clips = Clips(pcm, np.array(lengths), ["yes"] * 4)
        cls.noise = [rng.integers(-900, 900, 8 * RATE).astype(np.int16)]

    def copy(self, number: int) -> np.ndarray:
        maker = CopyMaker(
            DeviceFrontEnd(AudioParams()),
            *(self.clips, np.arange(4), self.noise, MadeCounts(3, 6), 5),
        )
        with tempfile.TemporaryDirectory() as folder:
            return maker.render(number, Path(folder) / "copy.npy")

    def test_copies(self) -> None:
        copy = self.copy(0)
        frames = AudioParams().frames(RATE)
        self.assertEqual(copy.shape, (4 + 3 + 6, frames + 2 * MARGIN, 40))
        np.testing.assert_array_equal(copy, self.copy(0))
        self.assertFalse(np.array_equal(copy, self.copy(1)))

    def test_made_sounds_of_held_out_clips(self) -> None:
        maker = CopyMaker(
            DeviceFrontEnd(AudioParams()),
            *(self.clips, np.arange(4), self.noise, MadeCounts(0, 20), 5),
        )
        made = maker.made_unknown()
        self.assertEqual(made.shape, (20, AudioParams().frames(RATE), 40))
        self.assertGreater(len({one.tobytes() for one in made}), 18)

    def test_finds_the_vowel_and_the_hiss(self) -> None:
        rng = np.random.default_rng(7)
        clip = np.zeros(RATE, np.float32)
        clip[2000:6000] = 3000 * np.sin(0.1 * np.arange(4000))
        self.assertIsNone(find_sounds(clip).hiss)
        clip[8000:11200] = 300 * rng.standard_normal(3200)
        sounds = find_sounds(clip)
        self.assertAlmostEqual(sounds.vowel_end, 6000, delta=320)
        self.assertIsNotNone(sounds.hiss)
        self.assertAlmostEqual(sounds.hiss[0], 8000, delta=320)
        self.assertAlmostEqual(sounds.hiss[1], 11200, delta=320)

    def test_joins_without_a_step(self) -> None:
        joined = join(np.ones(1000, np.float32), -np.ones(500, np.float32))
        self.assertEqual(len(joined), 1000 + 500 - 128)
        self.assertLess(np.abs(np.diff(joined)).max(), 0.05)
        self.assertEqual(len(join(np.ones(3), np.ones(0))), 3)

    def test_slides_and_fills_with_what_is_quiet(self) -> None:
        rng = np.random.default_rng(1)
        clip = np.full((118, 40), -90, np.int8)
        clip[50:70] = np.arange(20)[:, None]
        for _ in range(20):
            slid = slide(clip, rng)
            first = int(np.flatnonzero(slid[:, 0] > -90)[0])
            np.testing.assert_array_equal(slid[first : first + 20], clip[50:70])
            self.assertTrue(10 <= abs(first - 50) <= 35)
            self.assertEqual((slid[:, 0] > -90).sum(), 20)

    def test_distortion_shifts_and_blanks(self) -> None:
        ramp = np.arange(118, dtype=np.int8)[None, :, None].repeat(40, 2) - 60
        ramp = ramp.astype(np.int8).repeat(50, 0)
        y = distort(ramp, 98, np.random.default_rng(1), band=0, stretch=0)
        self.assertEqual(y.shape, (50, 98, 40))
        # Bin by bin a row still rises by one a frame, where it is not clamped.
        self.assertTrue(np.all(np.diff(y[:, :, 20], axis=1) == 1))
        self.assertGreater(len(set(y[:, 0, 20].tolist())), 10)
        blanked = distort(ramp, 98, np.random.default_rng(1))
        self.assertFalse(np.array_equal(y, blanked))

    def test_held_out_silence_is_the_end(self) -> None:
        recording = np.zeros(20 * RATE, np.int16)
        recording[18 * RATE :] = 100
        pcm = held_out_silence([recording], 10, 1)
        self.assertEqual(pcm.shape, (10, RATE))
        self.assertTrue(np.all(pcm[::2] == 100))


class Epochs(unittest.TestCase):
    def test_other_words_do_not_outweigh(self) -> None:
        # 60 clips of two words, 300 of others, 40 seconds of silence, 30 made sounds.
        labels = np.repeat([0, 1, 2, 3, 2], [30, 30, 300, 40, 30])
        shape = (len(labels), 8 + 2 * MARGIN, 4)
        recipe = KeywordRecipe()
        copies = Copies(
            recipe,
            [np.zeros(shape, np.int8), np.ones(shape, np.int8)],
            *(labels, 360, 2, 3),
        )
        batches = list(copies.epoch(8, np.random.default_rng(1)))
        self.assertEqual(len(batches), copies.steps(8))
        seen = np.concatenate([batch[1].numpy() for batch in batches])
        counts = np.bincount(seen)
        self.assertLessEqual(60 - counts[:2].sum(), 7)
        most = round(60 * recipe.unknown_share) + round(60 * recipe.made_share)
        self.assertLessEqual(counts[2], most)
        self.assertGreater(counts[2], most / 2)
        self.assertLessEqual(counts[3], 6)
        self.assertEqual(batches[0][0].shape, (8, 8, 4))

    def test_rare_words_are_drawn_more_often(self) -> None:
        # 100 clips of a word, then 90 of one other word and 10 of another.
        labels = np.repeat([0, 1], [100, 100])
        words = ["yes"] * 100 + ["cat"] * 90 + ["dog"] * 10
        copies = Copies(
            KeywordRecipe(unknown_share=1.0, unknown_power=0.0),
            [np.arange(200, dtype=np.int8).repeat(28 * 4).reshape(200, 28, 4)],
            *(labels, 200, 1, -1, words),
        )
        order = copies._order(np.random.default_rng(1))
        rare = (order >= 190).sum()
        self.assertEqual(len(order), 200)
        self.assertAlmostEqual(rare, 50, delta=20)

    def test_mixtures_and_what_is_wanted_of_them(self) -> None:
        torch.manual_seed(1)
        x = torch.arange(64.0)[:, None, None].expand(64, 5, 3)
        labels = torch.arange(64)
        same, wanted = mix(x, labels, 64, share=0.0, smoothing=0.0)
        torch.testing.assert_close(same, x)
        torch.testing.assert_close(wanted, torch.eye(64))
        mixed, wanted = mix(x, labels, 64, share=1.0, smoothing=0.0)
        # The wanted share of each clip is its share of the sound.
        torch.testing.assert_close(wanted @ torch.arange(64.0), mixed[:, 0, 0])
        self.assertTrue(torch.all(wanted.argmax(1) == labels))


class Command(unittest.TestCase):
    """One command from clips to model and card; killed, it goes on."""

    @classmethod
    def setUpClass(cls) -> None:
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.root = Path(temporary.name)
        write_words(cls.root / "clips", 30)

    def command(self, name: str, *more: str) -> list[str]:
        return [
            *(*COMMAND, str(self.root / "clips"), "--words", "yes", "no", "up"),
            *("--output", str(self.root / name / "tones.gguf")),
            *("--work", str(self.root / f"{name}.work")),
            *("--copies", "1", "--teacher-epochs", "6", "--epochs", "12"),
            *("--integer-epochs", "3", "--blocks", "1", "--embedding-length", "16"),
            *("--heads", "2", "--feed-forward-length", "32", "--patch-stride", "8"),
            *("--batch-size", "16", "--test", *more),
        ]

    def run_command(self, name: str, *more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(name, *more), capture_output=True, text=True, check=False
        )

    def test_train_and_resume(self) -> None:
        whole = self.run_command("whole")
        self.assertEqual(whole.returncode, 0, whole.stderr)
        self.assertIn("the file's logits are those of training", whole.stdout)
        path = self.root / "whole" / "tones.gguf"
        model = read_model(path)
        labels = ["yes", "no", "up", "unknown", "silence"]
        self.assertEqual(list(model.keys["atto.labels"]), labels)
        card = path.with_suffix(".md").read_text("utf-8")
        self.assertIn("| val, int8 |", card)
        self.assertIn("| test, float twin |", card)

        killed = subprocess.Popen(
            self.command("killed"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        checkpoint = self.root / "killed.work" / "encoder.checkpoint"
        while killed.poll() is None and not checkpoint.is_file():
            time.sleep(0.02)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        again = self.run_command("killed")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(
            (self.root / "killed" / "tones.gguf").read_bytes(), path.read_bytes()
        )

        other = self.run_command("killed", "--seed", "2")
        self.assertEqual(other.returncode, 1)
        self.assertIn("other settings", other.stderr)


if __name__ == "__main__":
    unittest.main()
