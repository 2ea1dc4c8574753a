#!/usr/bin/env python3
"""Measures a keyword model on streams: recall, false accepts an hour, latency.

Clips of a folder WORD/* are laid over noise, with random gaps between them, the loudest
third of a second of each at the given ratio to the noise. Two streams a ratio: one of all
keywords, for the recall; one of all other words and of noise alone, for false accepts.
`atto listen` hears them. The decisions are then taken again, by the reference of
docs/audio.md, with thresholds shifted up and down: the trade-off.

    build/venv/bin/python tools/train/stream_eval.py models/keywords.gguf \\
        --clips FOLDER/test --noise FOLDER/background_noise --output build/stream

Seeded: the same clips, noise and seed give the same streams.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Iterator, Sequence

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.reference import ops  # noqa: E402
from tools.reference.model_writer import read_model  # noqa: E402
from tools.reference.spotter import (  # noqa: E402
    SCORE_ONE,
    Event,
    EventDetector,
    SpotterParams,
)
from tools.train.clips import RATE, SUFFIXES, decode  # noqa: E402

Floats = npt.NDArray[np.float64]

GAP_SECONDS = (0.7, 2.0)
# Of speech without noise, of the loudest third of a second of each clip.
SPEECH_RMS = 2500.0
# A report counts for a word from its begin to this long after its end.
LATE_SECONDS = 1.0
NO_WORDS = ("unknown", "silence")


@dataclass(frozen=True)
class Spoken:
    """A word in a stream; positions in samples."""

    word: str
    start: int
    end: int


@dataclass(frozen=True)
class Look:
    """One look of the spotter."""

    start: int
    end: int
    scores: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Result:
    """What was found in a stream with one set of thresholds."""

    hits: int
    false: int  # accepts of no or another word
    latencies: list[float]  # seconds from word end to report


def speech_span(clip: Floats) -> tuple[int, int, float]:
    """Begin and end of what is spoken, and the rms of the loudest third of a second.

    Spoken are the frames of 20 ms within 25 dB of the loudest.
    """
    frame = RATE // 50
    count = max(1, clip.size // frame)
    padded = np.pad(clip, (0, max(0, count * frame - clip.size)))
    energy = (padded[: count * frame].reshape(count, frame) ** 2).mean(axis=1)
    loud = np.flatnonzero(energy > energy.max() * 10**-2.5)
    long = np.convolve(energy, np.ones(16) / 16)
    rms = math.sqrt(float(long.max()))
    if not loud.size:
        return 0, clip.size, rms
    return int(loud[0]) * frame, (int(loud[-1]) + 1) * frame, rms


def clips_of(folder: Path) -> list[Path]:
    """The sound files of WORD/*, sorted, without those of silence."""
    return [
        path
        for path in sorted(folder.glob("*/*"))
        if path.suffix.lower() in SUFFIXES and not path.parent.name.startswith("_")
    ]


def noise_track(
    recordings: Sequence[Floats], samples: int, rng: np.random.Generator
) -> Floats:
    """Pieces of 3 to 10 seconds of the recordings, each with an rms of 1."""
    track = np.empty(samples)
    at = 0
    while at < samples:
        recording = recordings[rng.integers(len(recordings))]
        size = min(int(rng.uniform(3, 10) * RATE), recording.size, samples - at)
        first = rng.integers(recording.size - size + 1)
        piece = recording[first : first + size]
        rms = math.sqrt(float((piece**2).mean()))
        track[at : at + size] = piece / max(rms, 1e-9)
        at += size
    return track


def make_stream(
    paths: Sequence[Path],
    recordings: Sequence[Floats],
    decibels: float,
    quiet_seconds: float,
    rng: np.random.Generator,
) -> tuple[npt.NDArray[np.int16], list[Spoken]]:
    """Clips in random order over noise, then noise alone for so long."""
    parts: list[Floats] = []
    spoken: list[Spoken] = []
    at = 0

    def add(part: Floats) -> None:
        nonlocal at
        parts.append(part)
        at += part.size

    add(np.zeros(RATE))
    for index in rng.permutation(len(paths)):
        path = paths[index]
        clip = decode(path.read_bytes(), str(path)).astype(np.float64)
        begin, end, rms = speech_span(clip)
        spoken.append(Spoken(path.parent.name, at + begin, at + end))
        add(clip * (SPEECH_RMS / max(rms, 1.0)))
        add(np.zeros(int(rng.uniform(*GAP_SECONDS) * RATE)))
    add(np.zeros(int(quiet_seconds * RATE)))
    speech = np.concatenate(parts)
    level = SPEECH_RMS * 10 ** (-decibels / 20)
    stream = speech + level * noise_track(recordings, speech.size, rng)
    return np.clip(np.rint(stream), -32768, 32767).astype(np.int16), spoken


def listen(atto: Path, model: Path, pcm: npt.NDArray[np.int16]) -> list[dict[str, Any]]:
    """What `atto listen` prints."""
    command = [str(atto), "listen", str(model), "-", "--json", "--looks"]
    run = subprocess.run(
        command, input=pcm.astype("<i2").tobytes(), capture_output=True, check=False
    )
    if run.returncode:
        raise RuntimeError(run.stderr.decode())
    return [json.loads(line) for line in run.stdout.splitlines()]


def looks_of(lines: Sequence[dict[str, Any]]) -> Iterator[Look]:
    """The looks with the scores that the device computes from their logits."""
    for line in lines:
        if "look" in line:
            yield Look(*line["look"], ops.scores(np.array(line["logits"])))


def decide(looks: Sequence[Look], params: SpotterParams) -> list[Event]:
    """The events of the looks."""
    detector = EventDetector(params, RATE)
    found = (detector.look(look.scores, look.start, look.end) for look in looks)
    return [event for event in found if event is not None]


def match(
    events: Sequence[Event], spoken: Sequence[Spoken], labels: Sequence[str]
) -> Result:
    """Each spoken word is found at most once; every other event is false."""
    left = list(spoken)
    hits, false, latencies = 0, 0, []
    for event in events:
        for word in left:
            late = word.end + LATE_SECONDS * RATE
            if word.word == labels[event.word] and word.start <= event.detected <= late:
                left.remove(word)
                hits += 1
                latencies.append((event.detected - word.end) / RATE)
                break
        else:
            false += 1
    return Result(hits, false, latencies)


def shifted(params: SpotterParams, nats: float) -> SpotterParams:
    """All thresholds moved by so much in the logit of the score; never stays never."""

    def move(threshold: int) -> int:
        if threshold > SCORE_ONE:
            return threshold
        share = min(max(threshold / SCORE_ONE, 1e-4), 1 - 1e-4)
        logit = math.log(share / (1 - share)) + nats
        return round(SCORE_ONE / (1 + math.exp(-logit)))

    return replace(params, thresholds=tuple(map(move, params.thresholds)))


def measure(
    arguments: argparse.Namespace, decibels: float, seed: int
) -> list[dict[str, float]]:
    """The figures at one ratio of speech to noise, a dictionary a shift."""
    model = read_model(arguments.model)
    labels: list[str] = list(model.keys["atto.labels"])
    params = SpotterParams.of_model(model.keys)
    keywords = [label for label in labels if label not in NO_WORDS]
    paths = clips_of(arguments.clips)
    rng = np.random.default_rng(seed)
    recordings = [
        decode(path.read_bytes(), str(path)).astype(np.float64)
        for path in sorted(arguments.noise.iterdir())
        if path.suffix.lower() in SUFFIXES
    ]
    wanted = [path for path in paths if path.parent.name in keywords]
    others = [path for path in paths if path.parent.name not in keywords]
    if arguments.limit:
        wanted = [wanted[i] for i in rng.permutation(len(wanted))[: arguments.limit]]
        others = [others[i] for i in rng.permutation(len(others))[: arguments.limit]]
    looks, spoken, hours, events = {}, {}, {}, {}
    for name, some, quiet in (
        ("keywords", wanted, 0.0),
        ("others", others, 3600 * arguments.quiet_hours),
    ):
        pcm, spoken[name] = make_stream(some, recordings, decibels, quiet, rng)
        lines = listen(arguments.atto, arguments.model, pcm)
        hours[name] = pcm.size / RATE / 3600
        looks[name] = list(looks_of(lines))
        events[name] = [line["start_sample"] for line in lines if "word" in line]
        again = [event.start for event in decide(looks[name], params)]
        if again != events[name]:
            raise RuntimeError("the reference decides otherwise than atto listen")
    rows = []
    for nats in np.arange(-4.0, 8.01, 0.25):
        moved = shifted(params, float(nats))
        found = match(decide(looks["keywords"], moved), spoken["keywords"], labels)
        false = len(decide(looks["others"], moved))
        rows.append(
            {
                "decibels": decibels,
                "shift_nats": float(nats),
                "recall": found.hits / max(1, len(wanted)),
                "false_accepts_per_hour": false / hours["others"],
                "false_accepts": false,
                "wrong_in_keywords_per_hour": found.false / hours["keywords"],
                "latency_median": float(np.median(found.latencies or [math.nan])),
                "latency_p95": float(np.quantile(found.latencies or [math.nan], 0.95)),
                "keywords": len(wanted),
                "other_words": len(others),
                "hours_of_others": hours["others"],
            }
        )
    return rows


def plot(rows: Sequence[dict[str, float]], path: Path, title: str) -> None:
    """Recall over false accepts an hour, a line a ratio."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "atto"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5))
    for decibels in sorted({row["decibels"] for row in rows}, reverse=True):
        some = [row for row in rows if row["decibels"] == decibels]
        x = [max(row["false_accepts_per_hour"], 0.1) for row in some]
        y = [100 * row["recall"] for row in some]
        (line,) = axes.plot(x, y, label=f"{decibels:.0f} dB")
        shipped = next(row for row in some if row["shift_nats"] == 0)
        axes.plot(
            max(shipped["false_accepts_per_hour"], 0.1),
            100 * shipped["recall"],
            "o",
            color=line.get_color(),
        )
    axes.set_xscale("log")
    axes.set_xlabel("false accepts an hour of other words and noise (at least 0.1)")
    axes.set_ylabel("recall of keywords, %")
    axes.set_title(f"{title}; dots: the model's thresholds")
    axes.grid(alpha=0.3)
    axes.legend(title="speech to noise")
    figure.tight_layout()
    # The same figures give the same bytes.
    date = {"Date": None} if path.suffix == ".svg" else None
    figure.savefig(path, dpi=120, metadata=date)


def print_table(rows: Sequence[dict[str, float]]) -> None:
    """The model's own thresholds, and the best with at most one false accept an hour."""
    print("| speech to noise | thresholds | recall | false accepts/h | latency |")
    print("| --- | --- | --- | --- | --- |")
    for decibels in sorted({row["decibels"] for row in rows}, reverse=True):
        some = [row for row in rows if row["decibels"] == decibels]
        shipped = [("the model's", r) for r in some if r["shift_nats"] == 0]
        strict = [row for row in some if row["false_accepts_per_hour"] <= 1]
        best = [
            (f"{row['shift_nats']:+.2f} nats", row)
            for row in [max(strict, key=lambda row: row["recall"], default=None)]
            if row is not None
        ]
        for name, row in (*shipped, *best):
            print(
                f"| {decibels:.0f} dB | {name} | {100 * row['recall']:.1f} % "
                f"| {row['false_accepts_per_hour']:.2f} "
                f"| median {row['latency_median']:.2f} s, "
                f"95 % within {row['latency_p95']:.2f} s |"
            )


def main() -> int:
    """Measures, prints a table, writes the figures and the plot."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path, help="audio model (.gguf)")
    parser.add_argument("--clips", type=Path, required=True, help="folder of WORD/*")
    parser.add_argument("--noise", type=Path, required=True, help="folder of noise")
    parser.add_argument("--output", type=Path, required=True, help="folder to fill")
    parser.add_argument(
        "--plot", type=Path, help="the picture, .png or .svg (OUTPUT/stream.png)"
    )
    parser.add_argument(
        "--decibels", default="20,10,5", help="speech to noise, comma between (20,10,5)"
    )
    parser.add_argument(
        "--quiet-hours", type=float, default=1.0, help="of noise without words (1)"
    )
    parser.add_argument("--limit", type=int, help="at most so many clips a stream")
    parser.add_argument("--seed", type=int, default=20240601)
    parser.add_argument("--atto", type=Path, default=ROOT / "build" / "host" / "atto")
    arguments = parser.parse_args()
    try:
        rows = []
        for decibels in map(float, arguments.decibels.split(",")):
            print(f"{decibels:.0f} dB ...", file=sys.stderr)
            rows += measure(arguments, decibels, arguments.seed)
    except (OSError, RuntimeError, ValueError) as error:
        print(f"stream_eval: {error}", file=sys.stderr)
        return 1
    arguments.output.mkdir(parents=True, exist_ok=True)
    figures = arguments.output / "stream.json"
    figures.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    picture = arguments.plot or arguments.output / "stream.png"
    plot(rows, picture, arguments.model.stem)
    print_table(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
