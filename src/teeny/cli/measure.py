"""Comparing run times on a machine that does other things too: rounds in which all take turns, then medians."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping


def medians(jobs: Mapping[str, Callable[[], object]], seconds: float, rounds: int = 200) -> dict[str, float]:
    """Median seconds of each job, after one call that does not count.

    All jobs together get about `seconds`, and from 3 to `rounds` rounds.
    """
    for job in jobs.values():
        job()
    times: dict[str, list[float]] = {name: [] for name in jobs}
    end = time.perf_counter() + seconds
    for turn in range(rounds):
        if turn >= 3 and time.perf_counter() > end:
            break
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(found) for name, found in times.items()}
