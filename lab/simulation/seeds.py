"""Play many seeds in parallel on all cores, or replay one with its trace."""

from __future__ import annotations

import gc
import logging
import sys
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from lab.simulation import simulate
from lab.simulation.trace import describe, trace

_CHUNK = 20


@dataclass(frozen=True)
class Played:
    """The totals of a chunk of seeds."""

    seeds: int
    calls: int
    seconds: float
    failures: tuple[tuple[int, str], ...]


def play(seeds: range) -> Played:
    """Play some seeds, one after the other."""
    logging.disable(logging.CRITICAL)
    # A simulation creates many objects and keeps them to its end, so garbage collection in between is useless.
    gc.set_threshold(100_000, 20, 20)
    calls, seconds = 0, 0.0
    failures: list[tuple[int, str]] = []
    for seed in seeds:
        try:
            record, violations = simulate(seed)
        except Exception:  # noqa: BLE001 - a seed that breaks the simulation is a finding too
            failures.append((seed, traceback.format_exc()))
            continue
        calls += len(record.calls)
        seconds += record.scenario.span
        if violations:
            shown = [f"    {violation.promise}: {violation.text}" for violation in violations[:5]]
            failures.append((seed, "\n".join(shown)))
    return Played(len(seeds), calls, seconds, tuple(failures))


def replay(seed: int) -> int:
    """Play one seed and print its complete trace."""
    logging.disable(logging.CRITICAL)
    record, violations = simulate(seed)
    for line in describe(record):
        print(line)
    for line in trace(record, violations):
        print(line)
    for violation in violations:
        print(f"{violation.promise} in call {violation.call}: {violation.text}")
    print(f"seed {seed}: {len(violations)} broken promises, {len(record.calls)} store calls")
    return 1 if violations else 0


def chunks(first: int, count: int) -> list[range]:
    """Split this number of seeds into chunks that justify a process."""
    return [range(begin, min(begin + _CHUNK, first + count)) for begin in range(first, first + count, _CHUNK)]


def explain(seed: int, text: str) -> str:
    """The violations of a seed, and the command that replays it."""
    return f"seed {seed} breaks promises:\n{text}\n    replay it: ./dev simulation --seed {seed}"


def new_pool(processes: int) -> ProcessPoolExecutor:
    """A pool of processes that are not forked, because the caller may have threads."""
    return ProcessPoolExecutor(processes, get_context("spawn"))


def play_all(first: int, count: int, processes: int) -> int:
    """Play all seeds, and print the progress."""
    began = time.monotonic()
    seeds = calls = broken = 0
    years = 0.0
    for played in _results(chunks(first, count), processes):
        seeds += played.seeds
        calls += played.calls
        years += played.seconds / (365 * 86_400)
        for seed, text in played.failures:
            broken += 1
            print(f"\n{explain(seed, text)}", flush=True)
        rate = seeds / max(0.001, time.monotonic() - began)
        amount = f"{calls:,} store calls, {years:.1f} years"
        print(f"\r{seeds:,} of {count:,} seeds, {rate:.1f}/s, {amount}, {broken} broken", end="", file=sys.stderr)
    print(file=sys.stderr)
    return 1 if broken else 0


def _results(parts: list[range], processes: int) -> Iterator[Played]:
    if processes == 1:
        yield from map(play, parts)
        return
    with new_pool(processes) as pool:
        yield from pool.map(play, parts)
