"""The device's log-mel features against librosa's, in decibels and in int8 steps.

    build/venv/bin/pip install librosa
    build/venv/bin/python tools/audio/compare_librosa.py [FILE.flac...]

librosa is told what docs/audio.md says: a periodic Hann window of 480 samples,
512 points, HTK's mel scale, no norm, no padding. What is compared is the int8
feature, whose rounding alone is half a step, 0.19 dB; only filters within 60 dB of
the frame's loudest count, since below some 90 dB the device hears its own rounding.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import librosa
import numpy as np
import soundfile

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.audio.device_audio import AudioParams, DeviceFrontEnd  # noqa: E402

SPOKEN = Path(__file__).resolve().parents[1] / "demo" / "spoken.flac"


def librosa_steps(pcm: np.ndarray, params: AudioParams) -> np.ndarray:
    """int16 [samples] -> the feature as a real number, [frames, bins]."""
    # librosa centres the window in the FFT's frame; atto starts both together.
    shift = (params.fft_length - params.frame_length) // 2
    padded = np.pad(pcm.astype(np.float64), (shift, params.fft_length))
    power = librosa.feature.melspectrogram(
        y=padded / 32768,
        sr=params.sample_rate,
        n_fft=params.fft_length,
        win_length=params.frame_length,
        hop_length=params.hop_length,
        window="hann",
        center=False,
        power=2.0,
        n_mels=params.bins,
        fmin=params.low_hz,
        fmax=params.high_hz,
        htk=True,
        norm=None,
        dtype=np.float64,
    ).T[: params.frames(pcm.size)]
    unit = (32768 * 2.0**15 / params.fft_length) ** 2 * 32768
    octaves = np.log2(np.maximum(power * unit, 1e-9))
    return (octaves - params.log_offset / 32768) * params.log_multiplier / 64


def sounds(files: list[str]) -> Iterator[tuple[str, np.ndarray]]:
    """Names and int16 samples: made noise, then the files."""
    rng = np.random.default_rng(1)
    for level in (3000, 30):
        noise = rng.normal(0, level, 160000)
        yield f"noise {level}", np.clip(np.rint(noise), -32768, 32767).astype(np.int16)
    for file in files or [str(SPOKEN)]:
        pcm, _ = soundfile.read(file, dtype="int16")
        yield Path(file).name, pcm


def main() -> None:
    params = AudioParams()
    front_end = DeviceFrontEnd(params)
    step = 64 / params.log_multiplier * 10 * math.log10(2)
    print(f"librosa {librosa.__version__}; a step of the int8 feature is {step:.3f} dB")
    print("sound              filters compared   largest error          rms")
    for name, pcm in sounds(sys.argv[1:]):
        wanted = librosa_steps(pcm, params)
        near = wanted > wanted.max(axis=1, keepdims=True) - 60 / step
        near &= np.abs(wanted) < 127
        error = np.abs(front_end.features(pcm) - wanted)[near]
        rms = math.sqrt(float((error**2).mean()))
        print(
            f"{name:18} {near.sum():8,} of {near.size:8,}   "
            f"{error.max():.2f} steps, {error.max() * step:.2f} dB   "
            f"{rms * step:.3f} dB"
        )


if __name__ == "__main__":
    main()
