"""PyTorch, NumPy and C++ give the same logits for the shipped keyword models, from the
samples on, bit for bit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
import wave
from pathlib import Path

import numpy as np

ROOT = Path(os.environ.get("ATTO_SOURCE_DIR", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("ATTO_BUILD_DIR", ROOT / "build" / "host"))
sys.path.insert(0, str(ROOT))

try:
    from tools.reference.model_writer import read_model
except ImportError as error:
    raise unittest.SkipTest(f"{error}: run tools/dev setup") from error

from tools.reference import audio  # noqa: E402
from tools.reference.encoder import Encoder  # noqa: E402
from tools.reference.model import BLOCK_MATMULS  # noqa: E402

MODELS = [
    path
    for path in (
        ROOT / "models" / "keywords.gguf",
        ROOT / "models" / "keywords-micro.gguf",
    )
    if path.is_file()
]
ATTO = BUILD / "atto"
TEST_SET = ROOT.parent / "shared" / "data" / "keywords"
RATE = 16000
CLIPS = 24

if not MODELS:
    raise unittest.SkipTest(f"{ROOT / 'models'} has no keyword model")
if not ATTO.is_file():
    raise unittest.SkipTest(f"{ATTO} is missing: the tools are not built")


def made_clips() -> list[np.ndarray]:
    """Sweeps, noise, silence and the extremes."""
    rng = np.random.default_rng(1)
    t = np.arange(RATE) / RATE
    clips = [np.zeros(RATE), np.tile([32767.0, -32768.0], RATE // 2)]
    while len(clips) < CLIPS:
        first, last = rng.uniform(100, 4000, 2)
        phase = 2 * np.pi * (first * t + (last - first) / 2 * t**2)
        clips.append(
            np.sin(phase) * np.hanning(RATE) * 10 ** rng.uniform(1, 4.5)
            + rng.normal(0, 10 ** rng.uniform(0, 3), RATE)
        )
    return [np.clip(np.rint(x), -32768, 32767).astype(np.int16) for x in clips]


def spoken_clips() -> list[np.ndarray]:
    """Clips of the test set; none, visibly, without it."""
    try:
        from tools.train.clips import ClipFolder
    except ImportError as error:
        print(f"skipped: spoken clips: {error}")
        return []
    if not TEST_SET.is_dir():
        print(f"skipped: spoken clips: {TEST_SET} is missing")
        return []
    sources = ClipFolder(TEST_SET, Path("unused")).sources("test")
    return [source.samples() for source in sources[:: len(sources) // CLIPS]]


class KeywordsParityTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        spoken = [np.pad(x, (0, RATE))[:RATE] for x in spoken_clips()]
        cls.clips = made_clips() + spoken
        cls.models = {path: read_model(path) for path in MODELS}
        cls.rows, cls.logits = {}, {}
        for path, model in cls.models.items():
            front_end = audio.FrontEnd.of_model(model.keys, model.tensors)
            rows = [
                audio.rows(front_end, audio.features(front_end, clip))
                for clip in cls.clips
            ]
            encoder = Encoder(model)
            cls.rows[path] = rows
            cls.logits[path] = [encoder.logits_of_rows(y).tolist() for y in rows]

    def test_clips_differ(self) -> None:
        for path, logits in self.logits.items():
            distinct = {tuple(one) for one in logits}
            self.assertGreater(len(distinct), len(self.clips) * 3 // 4, path.name)

    def test_device_equals_reference(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for i, clip in enumerate(self.clips):
                files.append(str(Path(folder) / f"{i}.wav"))
                with wave.open(files[-1], "wb") as file:
                    file.setnchannels(1)
                    file.setsampwidth(2)
                    file.setframerate(RATE)
                    file.writeframes(clip.astype("<i2").tobytes())
            for path, logits in self.logits.items():
                run = subprocess.run(
                    [ATTO, "classify", path, *files, "--json"],
                    capture_output=True,
                    check=True,
                )
                found = [json.loads(line) for line in run.stdout.splitlines()]
                device = [list(one["logits"].values()) for one in found]
                self.assertEqual(device, logits, path.name)

    def test_pytorch_equals_reference(self) -> None:
        try:
            import torch
        except ImportError as error:
            raise unittest.SkipTest(f"PyTorch is missing: {error}") from error
        from tests.support.loaded_encoder import loaded_encoder
        from tools.train.qat import Batch

        torch.set_num_threads(1)
        for path, logits in self.logits.items():
            rows = np.stack(self.rows[path]).astype(np.float32)
            count, tokens, width = rows.shape
            batch = Batch(
                lengths=torch.full((count,), tokens, dtype=torch.int64),
                features=torch.from_numpy(rows.reshape(count * tokens, width)),
            )
            found = loaded_encoder(self.models[path]).integer_logits(batch)
            np.testing.assert_array_equal(found, logits, path.name)

    def test_neighbouring_weights_can_be_multiplied_as_pairs(self) -> None:
        for path, model in self.models.items():
            names = [
                name
                for name in model.tensors
                if name.endswith(".weight") and not name.endswith("_embd.weight")
            ]
            self.assertGreaterEqual(len(names), 2 + len(BLOCK_MATMULS))
            for name in names:
                weight = np.abs(model.tensors[name].astype(np.int64))
                even = weight.shape[1] // 2 * 2
                pairs = weight[:, :even].reshape(len(weight), -1, 2).sum(2)
                self.assertLessEqual(int(pairs.max()), 128, f"{path.name}: {name}")


if __name__ == "__main__":
    unittest.main()
