"""Play many event logs in parallel on all cores."""

from __future__ import annotations

import sys
import time
import traceback
from dataclasses import dataclass
from itertools import repeat
from typing import Final

from lab.simulation.event_log import play_event_log
from lab.simulation.seeds import new_pool

STEPS: Final = 1_000
_CHUNK: Final = 5


@dataclass(frozen=True)
class PlayedLogs:
    """The totals of a chunk of seeds."""

    steps: int
    calls: int
    broken: tuple[str, ...]


def play_logs(seeds: range, steps: int = STEPS) -> PlayedLogs:
    """Play some seeds, one after the other."""
    calls = 0
    broken = []
    for seed in seeds:
        try:
            made, violations = play_event_log(seed, steps)
        except Exception:  # noqa: BLE001 - a seed that breaks the simulation is a finding too
            broken.append(f"event log {seed}:\n{traceback.format_exc()}")
            continue
        calls += made
        if violations:
            broken.append(f"event log {seed}:\n" + "\n".join(f"    {text}" for text in violations[:5]))
    return PlayedLogs(len(seeds) * steps, calls, tuple(broken))


def play_all_logs(first: int, steps: int, processes: int) -> int:
    """Play at least this many steps, and print the progress."""
    began = time.monotonic()
    count = -(-steps // STEPS)
    parts = [range(begin, min(begin + _CHUNK, first + count)) for begin in range(first, first + count, _CHUNK)]
    done = calls = broken = 0
    with new_pool(processes) as pool:
        for played in pool.map(play_logs, parts, repeat(STEPS)):
            done, calls, broken = done + played.steps, calls + played.calls, broken + len(played.broken)
            for text in played.broken:
                print(f"\n{text}", flush=True)
            rate = done / max(0.001, time.monotonic() - began)
            amount = f"{rate:,.0f}/s, {calls:,} store calls, {broken} broken"
            print(f"\r{done:,} of {count * STEPS:,} steps, {amount}", end="", file=sys.stderr)
    print(file=sys.stderr)
    return 1 if broken else 0
