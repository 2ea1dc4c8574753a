#!/usr/bin/env python3
"""Makes tools/demo/spoken.flac: words that espeak-ng says, with gaps, over a little noise.

    build/venv/bin/python tools/demo/make_spoken.py tools/demo/spoken.flac

Wants espeak-ng (1.51 made the kept file) and the Python packages soundfile and SciPy.
"""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import soundfile
from scipy.signal import resample_poly

RATE = 16000
WORDS = ("yes", "happy", "left", "marvin", "up", "right", "house", "no", "go")
VOICE = "en-us+f3"
GAP_SECONDS = 0.7


def say(word: str) -> np.ndarray:
    """The word, without the silence around it."""
    command = ["espeak-ng", "-v", VOICE, "-s", "150", "--stdout", word]
    sound = subprocess.run(command, capture_output=True, check=True).stdout
    samples, rate = soundfile.read(io.BytesIO(sound))
    samples = 0.5 * resample_poly(samples, RATE, rate)
    loud = np.flatnonzero(np.abs(samples) > 0.003)
    return samples[loud[0] : loud[-1] + 1]


def main() -> int:
    """Writes the file that the first argument names."""
    if len(sys.argv) != 2:
        print("usage: make_spoken.py FILE.flac", file=sys.stderr)
        return 2
    gap = np.zeros(int(GAP_SECONDS * RATE))
    stream = np.concatenate([gap] + [x for word in WORDS for x in (say(word), gap)])
    stream += np.random.default_rng(1).normal(0, 0.00012, stream.size)
    soundfile.write(Path(sys.argv[1]), stream, RATE, subtype="PCM_16")
    return 0


if __name__ == "__main__":
    sys.exit(main())
