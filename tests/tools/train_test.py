"""Training: augmentation, the pair limit of weights, and the command as a whole."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

ROOT = Path(os.environ.get("ATTO_SOURCE_DIR", Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(ROOT))

try:
    import gguf  # noqa: F401
    import sklearn  # noqa: F401
    import torch
except ImportError as error:
    raise unittest.SkipTest(f"{error}: run tools/dev setup train") from error

from tools.train import augment  # noqa: E402
from tools.train.attack import ATTACKS, attack_text  # noqa: E402
from tools.train.crossval import best_threshold  # noqa: E402
from tools.train.metrics import binary_metrics  # noqa: E402
from tools.train.qat import (  # noqa: E402
    EncoderConfig,
    FloatEncoder,
    QuantEncoder,
    collate,
)
from tools.train.train import group_of  # noqa: E402
from tools.train.tsv import read_folds, read_tsv  # noqa: E402

torch.set_num_threads(1)


class PairLimitTest(unittest.TestCase):
    """Neighbouring weights can be multiplied as pairs, whatever their distribution."""

    def test_random_weights(self) -> None:
        rng = np.random.default_rng(5)
        largest = 0
        for shape, widths in enumerate(((16, 8, 24), (18, 7, 25), (24, 16, 31))):
            d, e, f = widths
            config = EncoderConfig(
                embedding_length=d,
                input_length=e,
                feed_forward_length=f,
                head_count=2,
                block_count=1,
                vocabulary=50,
            )
            for power in (1, 3, 9):
                torch.manual_seed(shape)
                encoder = FloatEncoder(config)
                with torch.no_grad():
                    for name, parameter in encoder.named_parameters():
                        if parameter.ndim == 2 and name != "table":
                            # Flat to heavy-tailed: the higher the power, the fewer
                            # the large weights. The spread stays.
                            thin = parameter * torch.rand_like(parameter) ** (power - 1)
                            parameter.copy_(thin * (parameter.std() / thin.std()))
                quantised = QuantEncoder(encoder)
                batch = collate([rng.integers(0, 50, (9, 6)).tolist()])
                quantised.calibrate([batch])
                model = quantised.export_integers("pairs", ["a", "b"])
                for name, tensor in model.tensors.items():
                    if name.endswith("_embd.weight") or tensor.ndim != 2:
                        continue
                    weight = np.abs(tensor.astype(np.int64))
                    weight = np.pad(weight, ((0, 0), (0, weight.shape[1] % 2)))
                    pairs = weight.reshape(len(weight), -1, 2).sum(2)
                    largest = max(largest, int(pairs.max()))
                    self.assertLessEqual(int(pairs.max()), 128, name)
        self.assertGreaterEqual(largest, 126)  # the range is used


class AugmentTest(unittest.TestCase):
    TEXT = "Call 09061234567 now to claim your free holiday, code 80155"

    def test_digits(self) -> None:
        varied = augment.vary_digits(self.TEXT, random.Random(1), 1.0)
        self.assertNotEqual(varied, self.TEXT)
        self.assertEqual(len(varied), len(self.TEXT))
        self.assertRegex(varied, r"^Call 0\d{10} now .* code 8\d{4}$")
        self.assertEqual(
            augment.vary_digits(self.TEXT, random.Random(1), 0.0), self.TEXT
        )

    def test_obfuscation_is_reproducible(self) -> None:
        copies = [augment.obfuscate(self.TEXT, random.Random(i)) for i in range(20)]
        again = [augment.obfuscate(self.TEXT, random.Random(i)) for i in range(20)]
        self.assertEqual(copies, again)
        self.assertGreater(len(set(copies)), 15)

    def test_composed_texts_use_the_given_words(self) -> None:
        by_label = [["one two three four five"], ["six seven eight nine ten"]]
        near = {"two": ["pair"]}
        made = augment.compose_many(by_label, 200, near, "seed")
        self.assertEqual(made, augment.compose_many(by_label, 200, near, "seed"))
        words = {word for text in made for word in text.split()}
        allowed = set(" ".join(by_label[0] + by_label[1]).split()) | {"pair"}
        self.assertEqual(words, allowed)
        self.assertGreater(len(set(made)), 100)

    def test_attacks_change_words_and_nothing_else(self) -> None:
        for kind in ATTACKS:
            with self.subTest(kind=kind):
                changed = attack_text(self.TEXT, kind, random.Random(3), 1.0, 1.0)
                self.assertNotEqual(changed, self.TEXT)
                self.assertIn("09061234567", changed)
                unchanged = attack_text(self.TEXT, kind, random.Random(3), 0.0, 1.0)
                self.assertEqual(unchanged, self.TEXT)


class FiguresTest(unittest.TestCase):
    def test_best_threshold_finds_the_gap(self) -> None:
        rng = np.random.default_rng(1)
        truth = rng.random(2000) < 0.2
        margins = np.where(truth, 2.5, -0.5) + rng.normal(0, 0.5, 2000)
        self.assertAlmostEqual(best_threshold(truth, margins), 1.1, delta=0.35)

    def test_metrics_by_hand(self) -> None:
        truth = np.array([True, True, True, False, False])
        found = binary_metrics(truth, np.array([3.0, 2.0, -1.0, 1.0, -2.0]))
        self.assertAlmostEqual(found["f1"], 2 / 3)
        self.assertAlmostEqual(found["auc"], 5 / 6)
        self.assertEqual(found["false_positives"], 1)
        self.assertAlmostEqual(found["recall_at_fpr_0.005"], 2 / 3)

    def test_groups_keep_near_duplicates_together(self) -> None:
        self.assertEqual(
            group_of("You have WON 1000 pounds, call 111"),
            group_of("you have won £2000 pounds! Call 222 or text 333"),
        )
        self.assertEqual(
            {group_of(f"{word} is here") for word in "abcdefghijklmnopq"},
            set(range(5)),
        )


def made_up_messages(count: int, seed: int) -> str:
    """Lines of two labels that differ in their words, and in none else."""
    rng = random.Random(seed)
    kinds = {
        "chat": "tea later home dinner sister bus garden rain book sunny".split(),
        "offer": "prize claim winner cash voucher urgent reply free text code".split(),
    }
    lines = []
    for _ in range(count):
        label = rng.choice(list(kinds))
        words = rng.choices(kinds[label], k=rng.randint(3, 8))
        lines.append(f"{label}\t{' '.join(words)}\n")
    return "".join(lines)


class CommandTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.train = self.folder / "train.tsv"
        self.train.write_text(made_up_messages(240, 1), "utf-8")
        self.test = self.folder / "test.tsv"
        self.test.write_text(made_up_messages(80, 2), "utf-8")

    def run_script(
        self, script: str, *arguments: object
    ) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, ROOT / "tools" / "train" / script, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
        )

    def small(self, name: str, *more: object) -> subprocess.CompletedProcess:
        return self.run_script(
            "train.py",
            *(self.train, "--output", self.folder / name, "--test", self.test),
            *("--labels", "chat", "offer", "--epochs", 10, "--integer-epochs", 1),
            *("--buckets", 128, "--input-length", 8, "--embedding-length", 16),
            *("--heads", 2, "--ffn", 24, "--teacher", "ngrams", "--composed", 100),
            *more,
        )

    def test_trains_a_model_reproducibly(self) -> None:
        from tools.reference.model_writer import read_model

        run = self.small("a.gguf")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("give the logits of training", run.stdout)
        model = read_model(self.folder / "a.gguf")
        self.assertEqual(model.keys["atto.labels"], ["chat", "offer"])
        self.assertEqual(model.tensors["token_embd.weight"].shape, (128, 8))
        figures = [line for line in run.stdout.splitlines() if "int8" in line]
        self.assertRegex(figures[0], r"accuracy (1\.0|0\.9)")
        card = (self.folder / "a.md").read_text("utf-8")
        for part in ("test.tsv, int8", "float twin", "240 messages", "train.py"):
            self.assertIn(part, card)
        self.assertEqual(self.small("b.gguf", "--name", "a").returncode, 0)
        self.assertEqual(
            (self.folder / "a.gguf").read_bytes(),
            (self.folder / "b.gguf").read_bytes(),
        )

    def test_more_than_two_labels(self) -> None:
        third = "".join(
            f"other\t{word} list {word}\n" for word in "abcdefghijklmnopqrstuvwxyz"
        )
        self.train.write_text(made_up_messages(200, 3) + third, "utf-8")
        run = self.small("c.gguf", "--labels", "offer", "chat", "other")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("macro F1", run.stdout)

    def test_plain_errors(self) -> None:
        missing = self.folder / "missing.tsv"
        bad = self.folder / "bad.tsv"
        bad.write_text("no tab here\n", "utf-8")
        few = self.folder / "few.tsv"
        few.write_text("a\tone thing\nb\tanother thing\n", "utf-8")
        output = self.folder / "x.gguf"
        cases = (
            ((missing, "--output", output), "missing.tsv"),
            ((bad, "--output", output), "expected 'label TAB text'"),
            ((self.train, "--output", output, "--heads", 5), "no multiple"),
            ((self.train, "--output", output, "--labels", "a", "b"), "among a, b"),
            ((self.train, "--output", output, "--ngram-min", 6), "ngram"),
            ((self.train, "--output", self.folder / "x.bin"), "must end in .gguf"),
            ((few, "--output", output, "--teacher", "ngrams"), "--teacher none"),
        )
        for arguments, expected in cases:
            with self.subTest(expected=expected):
                run = self.run_script("train.py", *arguments)
                self.assertIn(run.returncode, (1, 2))
                self.assertIn(expected, run.stderr)
                self.assertNotIn("Traceback", run.stderr)
                self.assertFalse(output.exists())

    def test_cross_validation(self) -> None:
        folds = self.folder / "folds.tsv"
        folds.write_text(
            "".join(
                f"{part}\t{line}\t{line % 2}\n"
                for part, lines in (("train", 240), ("test", 80))
                for line in range(1, lines + 1)
            ),
            "utf-8",
        )
        self.assertEqual(len(read_folds(folds)[1]), 320)
        self.assertEqual(read_folds(folds, ["test"])[1], read_tsv(self.test)[1])
        run = self.run_script(
            "crossval.py",
            *(folds, "--positive", "offer", "--teacher", "none", "--also", self.test),
            *("--epochs", 3, "--integer-epochs", 1, "--buckets", 128, "--heads", 2),
            *("--input-length", 8, "--embedding-length", 16, "--ffn", 24),
        )
        self.assertEqual(run.returncode, 0, run.stderr)
        for part in ("mean", "deviation", "all messages", "test.tsv", "320 messages"):
            self.assertIn(part, run.stdout)


if __name__ == "__main__":
    unittest.main()
