"""Spoken clips: finds them, splits them by speaker, decodes them to 16 kHz int16.

Three layouts, all with one folder a word, files `.wav`, `.flac`, `.opus` or `.ogg`:

- parts: `train`, `val` and `test`, each a folder of words or a tar file of one, and
  `background_noise`, a folder or a tar file of long recordings;
- Speech Commands as it is downloaded: words, `_background_noise_`,
  `validation_list.txt` and `testing_list.txt`;
- any folder of words, with or without `_background_noise_`: a hash of the speaker (the
  file name up to `_nohash_`, else all of it) puts a tenth each into val and test, as
  the makers of Speech Commands do (Warden, arXiv 1804.03209).
"""

from __future__ import annotations

import hashlib
import io
import math
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import soundfile
from scipy.signal import resample_poly
from tqdm import tqdm

RATE = 16000
SUFFIXES = (".wav", ".flac", ".opus", ".ogg")
PARTS = ("train", "val", "test")
SILENCE_FOLDER = "_silence_"
NOISE_NAMES = ("background_noise", "_background_noise_")
UNKNOWN, SILENCE = "unknown", "silence"

Pcm = npt.NDArray[np.int16]


@dataclass(frozen=True)
class Clips:
    """Clips of one part, in the order of their names."""

    pcm: Pcm  # [n, RATE], zeros after the end
    lengths: npt.NDArray[np.int64]  # [n] samples
    words: list[str]  # names of the folders


def decode(data: bytes, name: str) -> Pcm:
    """The samples of an audio file, mixed to one channel, at 16 kHz.

    Raises ValueError if it is no audio file.
    """
    try:
        samples, rate = soundfile.read(io.BytesIO(data), dtype="float32")
    except soundfile.LibsndfileError as error:
        raise ValueError(f"{name}: {error}") from error
    if samples.ndim == 2:
        samples = samples.mean(1)
    if rate != RATE:
        divisor = math.gcd(rate, RATE)
        samples = resample_poly(samples, RATE // divisor, rate // divisor)
    return np.clip(np.rint(samples * 32768), -32768, 32767).astype(np.int16)


@dataclass(frozen=True)
class Source:
    """One audio file, not yet read."""

    name: str  # WORD/FILE
    read: Callable[[], bytes]

    @property
    def word(self) -> str:
        return self.name.split("/")[0]

    def samples(self) -> Pcm:
        """All of its samples; raises as decode does."""
        return decode(self.read(), self.name)


def _in_folder(folder: Path) -> Iterator[Source]:
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in SUFFIXES:
            yield Source(path.relative_to(folder).as_posix(), path.read_bytes)


def _in_tar(path: Path) -> Iterator[Source]:
    """The clips of a tar file, without the folder that it may wrap them in."""

    def reader(offset: int, size: int) -> Callable[[], bytes]:
        def read() -> bytes:
            with path.open("rb") as file:
                file.seek(offset)
                return file.read(size)

        return read

    # "r:": not compressed, so that the bytes of a clip lie in the file as they are.
    with tarfile.open(path, "r:") as archive:
        members = sorted(archive.getmembers(), key=lambda member: member.name)
    for member in members:
        if member.isfile() and member.name.lower().endswith(SUFFIXES):
            name = member.name.removeprefix("./").removeprefix(f"{path.stem}/")
            yield Source(name, reader(member.offset_data, member.size))


def _in_either(folder: Path, name: str) -> list[Source]:
    if (folder / name).is_dir():
        return list(_in_folder(folder / name))
    if (folder / f"{name}.tar").is_file():
        return list(_in_tar(folder / f"{name}.tar"))
    return []


def part_of_speaker(name: str) -> str:
    """The part of a clip WORD/FILE, by a hash of its speaker."""
    speaker = Path(name).stem.split("_nohash_")[0]
    share = int(hashlib.sha1(speaker.encode()).hexdigest(), 16) % 100
    return "val" if share < 10 else "test" if share < 20 else "train"


def _split(folder: Path) -> dict[str, list[Source]]:
    """The clips of each part."""
    parts = {part: _in_either(folder, part) for part in PARTS}
    if parts["train"]:
        return parts
    sources = [
        source for source in _in_folder(folder) if source.word not in NOISE_NAMES
    ]
    lists = {"val": "validation_list.txt", "test": "testing_list.txt"}
    listed: dict[str, str] = {}
    for part, file in lists.items():
        if (folder / file).is_file():
            for name in (folder / file).read_text("utf-8").split():
                listed[name] = part
    for source in sources:
        part = listed.get(source.name, "train")
        parts[part if listed else part_of_speaker(source.name)].append(source)
    return parts


def _read(sources: Sequence[Source], what: str) -> Clips:
    pcm = np.zeros((len(sources), RATE), np.int16)
    lengths = np.zeros(len(sources), np.int64)
    bar = tqdm(sources, desc=what, unit="clip", disable=None)
    for i, source in enumerate(bar):
        samples = source.samples()[:RATE]
        pcm[i, : len(samples)] = samples
        lengths[i] = len(samples)
    return Clips(pcm, lengths, [source.word for source in sources])


def _cached(path: Path, make: Callable[[], Clips]) -> Clips:
    """What make gives, from path if it is there already."""
    if not path.is_file():
        clips = make()
        part = path.with_suffix(".part.npz")
        np.savez(part, pcm=clips.pcm, lengths=clips.lengths, words=clips.words)
        part.rename(path)
    with np.load(path) as file:
        return Clips(file["pcm"], file["lengths"], file["words"].tolist())


class ClipFolder:
    """The clips of a folder, decoded once into cache."""

    def __init__(self, folder: Path, cache: Path) -> None:
        """Raises ValueError if the folder has no clips to train on."""
        self._cache = cache
        self._parts = _split(folder)
        self._noise = [
            source for name in NOISE_NAMES for source in _in_either(folder, name)
        ]
        self._folder = folder
        if not self._parts["train"]:
            raise ValueError(f"{folder}: no WORD/*.wav, .flac or .opus to train on")

    def sources(self, part: str) -> list[Source]:
        """The files of train, val or test."""
        return self._parts[part]

    def part(self, part: str) -> Clips:
        """The clips of train, val or test."""
        sources = self._parts[part]
        return _cached(self._cache / f"{part}.npz", lambda: _read(sources, part))

    def noise(self) -> list[Pcm]:
        """The long recordings of background noise, at least a few seconds each."""
        recordings = [source.samples() for source in self._noise]
        return [samples for samples in recordings if len(samples) >= 4 * RATE]

    def fingerprint(self) -> str:
        """SHA-256 over names and bytes of the training clips."""
        digest = hashlib.sha256()
        for source in self._parts["train"]:
            digest.update(source.name.encode() + b"\0")
            digest.update(hashlib.sha256(source.read()).digest())
        return digest.hexdigest()


def class_names(words: Sequence[str], heard: Sequence[str], silence: bool) -> list[str]:
    """Labels of a model for the words, given the words that training hears.

    Raises ValueError for a word that training never hears.
    """
    missing = [word for word in words if word not in heard]
    if missing:
        raise ValueError(f"no clips of {', '.join(missing)} to train on")
    others = any(word not in words for word in heard if word != SILENCE_FOLDER)
    return [*words, *([UNKNOWN] if others else []), *([SILENCE] if silence else [])]


def label_numbers(words: Sequence[str], labels: Sequence[str]) -> npt.NDArray[np.int64]:
    """Places of the clips' words among the labels; -1: none of them stands for it."""
    place = {label: i for i, label in enumerate(labels)}
    unknown, silence = place.get(UNKNOWN, -1), place.get(SILENCE, -1)
    place[SILENCE_FOLDER] = silence
    return np.array([place.get(word, unknown) for word in words], np.int64)
