"""Times of calls within Python."""

from __future__ import annotations

import gc
import statistics
import time
from typing import Callable


def time_calls(body: Callable[[], object], seconds: float) -> tuple[float, float]:
    """Least and median time of a call, in microseconds, over about `seconds`."""
    warm_up = time.perf_counter() + 0.1 * seconds
    while time.perf_counter() < warm_up:
        body()
    samples = []
    clock = time.perf_counter_ns
    gc.disable()
    end = clock() + int(1e9 * seconds)
    while not samples or clock() < end:
        start = clock()
        body()
        samples.append(clock() - start)
    gc.enable()
    return min(samples) / 1e3, statistics.median(samples) / 1e3
