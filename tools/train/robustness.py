#!/usr/bin/env python3
"""Recall of a model on obfuscated messages, attack by attack.

Every message of the positive label is attacked by tools/train/attack.py with fixed
seeds; `atto eval` judges the result. Then the other messages are attacked instead:
a person's odd typing must not become an alarm.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.train.attack import ATTACKS, attack_text  # noqa: E402
from tools.train.tsv import read_tsv  # noqa: E402

KINDS = (*ATTACKS, "mixed")
WORD_RATE = CHAR_RATE = 0.5


def attacked(
    names: list[str], texts: list[str], kind: str, seed: int, chosen: list[bool]
) -> str:
    """The file's content with the chosen messages attacked, as attack.py does it."""
    lines = []
    for number, (name, text) in enumerate(zip(names, texts)):
        if chosen[number]:
            rng = random.Random(f"{seed}/{kind}/{number}")
            text = attack_text(text, kind, rng, WORD_RATE, CHAR_RATE)
        lines.append(f"{name}\t{text}\n")
    return "".join(lines)


def evaluate(atto: Path, model: Path, positive: str, content: str) -> tuple[float, int]:
    """(recall, false positives) by `atto eval`; raises ValueError if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "messages.tsv"
        path.write_text(content, "utf-8", newline="\n")
        run = subprocess.run(
            [atto, "eval", model, path, "--positive", positive, "--json"],
            capture_output=True,
            text=True,
            check=False,
        )
    if run.returncode:
        raise ValueError(run.stderr.strip() or f"{atto}: exit {run.returncode}")
    found = json.loads(run.stdout)
    place = found["labels"].index(positive)
    alarms = sum(row[place] for i, row in enumerate(found["confusion"]) if i != place)
    return found["recall"], alarms


def main() -> int:
    """Parses the arguments, prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="model file")
    parser.add_argument("messages", type=Path, help="label TAB text file")
    parser.add_argument("--positive", default="spam", help="the positive label (spam)")
    parser.add_argument("--seed", type=int, default=20240601)
    parser.add_argument(
        "--atto",
        type=Path,
        default=ROOT / "build" / "host" / "atto",
        help="the command line tool (build/host/atto)",
    )
    args = parser.parse_args()
    try:
        if not args.atto.is_file():
            raise ValueError(f"{args.atto} is missing: build it, or give --atto")
        names, texts = read_tsv(args.messages)
        positive = [name == args.positive for name in names]
        others = [not one for one in positive]
        if not any(positive):
            raise ValueError(f"{args.messages}: no message is '{args.positive}'")
        nobody = [False] * len(names)
        content = attacked(names, texts, "case", args.seed, nobody)
        clean, alarms = evaluate(args.atto, args.model, args.positive, content)
        print(f"{'attack':<12} {'recall':>7} {'change':>7} {'alarms':>7}")
        print(f"{'none':<12} {clean:7.4f} {'':>7} {alarms:>7}")
        for kind in KINDS:
            content = attacked(names, texts, kind, args.seed, positive)
            recall, _ = evaluate(args.atto, args.model, args.positive, content)
            content = attacked(names, texts, kind, args.seed, others)
            _, alarms = evaluate(args.atto, args.model, args.positive, content)
            print(f"{kind:<12} {recall:7.4f} {recall - clean:+7.4f} {alarms:>7}")
        print(
            f"recall: of the attacked '{args.positive}' messages; alarms: other "
            "messages called so when they are attacked themselves"
        )
    except (OSError, ValueError) as error:
        print(f"robustness: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
