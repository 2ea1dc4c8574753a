"""The device's own audio front end for Python, through the shared library.

Training reads its features from here, so that they are those of the device. The
library is build/host/libatto_audio.so, or the file that the environment variable
ATTO_AUDIO_LIB names. Definition: docs/audio.md.

    front_end = DeviceFrontEnd(AudioParams())
    features = front_end.features(pcm)            # int16 [samples] -> int8 [frames, bins]
    batch = front_end.features(many)              # [clips, samples] -> [clips, frames, bins]
    rows = patches(features, front_end.params)    # [.., frames, bins] -> [.., n, T * bins]
"""

from __future__ import annotations

import ctypes
import math
import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tools.audio.params import AudioParams, Int8Array, check_params, patches

__all__ = ["AudioParams", "DeviceFrontEnd", "patches"]


def library_path() -> Path:
    """Where the shared library should be."""
    named = os.environ.get("ATTO_AUDIO_LIB")
    if named:
        return Path(named)
    root = Path(__file__).resolve().parents[2]
    return root / "build" / "host" / "libatto_audio.so"


def load_library() -> ctypes.CDLL:
    """Loads the shared library and declares its functions."""
    path = library_path()
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is missing: build the project, or set ATTO_AUDIO_LIB"
        )
    library = ctypes.CDLL(str(path))
    size, pointer, number = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int32
    library.atto_audio_features.restype = ctypes.c_bool
    library.atto_audio_features.argtypes = [
        *(pointer, pointer, pointer),
        *(number, number, number, number, number, number),
        *(pointer, size, size, pointer),
    ]
    return library


class DeviceFrontEnd:
    """Computes features as the device does. Calls release the GIL and share nothing,
    so several threads may use one object."""

    def __init__(self, params: AudioParams = AudioParams()) -> None:
        """Checks the parameters, ValueError, and makes the tables."""
        check_params(params)
        self._library = load_library()
        self.params = params
        tensors = params.tensors()
        self._tables = [np.ascontiguousarray(table) for table in tensors.values()]

    def features(self, pcm: npt.ArrayLike) -> Int8Array:
        """pcm int16 [.., samples] -> int8 [.., frames, bins].

        A clip shorter than a frame gives no frames. RuntimeError when
        ATTO_FORCE_BACKEND names a backend that this machine has not.
        """
        samples = np.ascontiguousarray(pcm)
        if samples.dtype != np.int16:
            raise TypeError(f"int16 samples expected, found {samples.dtype}")
        params = self.params
        shape = samples.shape[:-1]
        length = samples.shape[-1]
        y = np.empty((*shape, params.frames(length), params.bins), np.int8)
        done = self._library.atto_audio_features(
            *(table.ctypes.data for table in self._tables),
            *(params.frame_length, params.hop_length, params.fft_length, params.bins),
            *(params.log_multiplier, params.log_offset),
            *(samples.ctypes.data, math.prod(shape), length, y.ctypes.data),
        )
        if not done:
            raise RuntimeError("ATTO_FORCE_BACKEND: this machine has no such backend")
        return y
