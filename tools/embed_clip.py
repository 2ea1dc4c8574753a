#!/usr/bin/env python3
"""Turns a WAV file (16 bits, mono) into C constants: NAME.h and NAME.c."""

import argparse
import array
import re
import sys
import wave
from pathlib import Path

_HEADER = """\
/* {source}, embedded. Generated: do not edit. */
#ifndef {guard}
#define {guard}

#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

#define {name}_rate {rate}
#define {name}_size {size}
extern const int16_t {name}_samples[{name}_size];

#ifdef __cplusplus
}}
#endif

#endif
"""

_SOURCE = """\
/* {source}, embedded. Generated: do not edit. */
#include "{name}.h"

const int16_t {name}_samples[{name}_size] = {{
{samples}}};
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clip", type=Path, help="a WAV file")
    parser.add_argument("--name", required=True, help="C identifier, file name")
    parser.add_argument("--out", type=Path, required=True, help="folder")
    arguments = parser.parse_args()
    name = arguments.name
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        parser.error(f"--name: '{name}' is no C identifier")
    try:
        with wave.open(str(arguments.clip)) as clip:
            if (clip.getnchannels(), clip.getsampwidth()) != (1, 2):
                raise wave.Error("must be mono with 16 bits a sample")
            rate = clip.getframerate()
            samples = array.array("h", clip.readframes(clip.getnframes()))
    except (OSError, EOFError, wave.Error) as error:
        print(f"{arguments.clip}: {error}", file=sys.stderr)
        return 1
    if sys.byteorder == "big":
        samples.byteswap()
    fields = {
        "source": arguments.clip.name,
        "guard": name.upper() + "_H_",
        "name": name,
        "rate": rate,
        "size": len(samples),
        "samples": "".join(
            ",".join(map(str, samples[i : i + 16])) + ",\n"
            for i in range(0, len(samples), 16)
        ),
    }
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / f"{name}.h").write_text(_HEADER.format(**fields))
    (arguments.out / f"{name}.c").write_text(_SOURCE.format(**fields))
    return 0


if __name__ == "__main__":
    sys.exit(main())
