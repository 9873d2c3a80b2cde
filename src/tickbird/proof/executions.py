"""Executions: calls of task functions by the journals, with the intervals in which their process did not run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Final

from tickbird.proof.journal import Entry

ENDINGS: Final = ("done", "raised", "stopped")
# Seconds within which a process that was frozen must have stopped an attempt that it lost.
_MAX_STOP_DELAY: Final = 1.0


@dataclass
class Execution:
    """One call of a task's function, in monotonic seconds."""

    run: int
    attempt: int
    schedule: str | None
    tick: int | None
    pid: int
    began: float
    detail: Any
    ended: float = inf
    # One of ENDINGS, or the event that ended the process; empty if there is neither.
    ending: str = ""

    @property
    def lease_checked(self) -> float:
        """When its process last checked its lease before the call."""
        return min(self.began, self.detail.get("lease_checked_at") or self.began)


@dataclass
class Executions:
    """All executions, in the order in which they began."""

    all: list[Execution]
    # Entries of an attempt that had already begun.
    duplicates: list[Entry]
    # Intervals in which a process was frozen or stalled, by pid.
    _stalls: dict[int, list[tuple[float, float]]]

    def by_run(self) -> dict[int, list[Execution]]:
        runs: dict[int, list[Execution]] = defaultdict(list)
        for execution in self.all:
            runs[execution.run].append(execution)
        return runs

    def is_excused(self, execution: Execution) -> bool:
        """True if its process stalled after the lease check and stopped the call soon after: that cannot be avoided."""
        return any(
            end >= execution.lease_checked and begin <= execution.ended <= end + _MAX_STOP_DELAY
            for begin, end in self._stalls.get(execution.pid, ())
        )

    def started_late(self, execution: Execution) -> bool:
        """True if its process stalled between the lease check and the first line of the function."""
        return any(execution.lease_checked <= end <= execution.began for _, end in self._stalls.get(execution.pid, ()))


def read_executions(entries: Sequence[Entry]) -> Executions:
    executions: dict[tuple[int, int], Execution] = {}
    duplicates: list[Entry] = []
    stalls: dict[int, list[tuple[float, float]]] = defaultdict(list)
    frozen: dict[int, float] = {}
    draining: set[int] = set()

    def end_process(entry: Entry) -> None:
        for execution in executions.values():
            if execution.pid == entry.pid and not execution.ending:
                execution.ended, execution.ending = entry.at, entry.event

    for entry in entries:
        key = entry.run or 0, entry.attempt or 0
        if entry.event == "began":
            if key in executions:
                duplicates.append(entry)
            else:
                executions[key] = Execution(*key, entry.schedule, entry.tick, entry.pid, entry.at, entry.detail)
        elif entry.event in ENDINGS and key in executions and executions[key].pid == entry.pid:
            executions[key].ended, executions[key].ending = entry.at, entry.event
        elif entry.event == "frozen":
            frozen[entry.pid] = entry.at
        elif entry.event == "thawed" and entry.pid in frozen:
            stalls[entry.pid].append((frozen.pop(entry.pid), entry.at))
        elif entry.event == "stalled":
            stalls[entry.pid].append((entry.detail["since"], entry.detail["until"]))
        elif entry.event in ("killed", "exited"):
            end_process(entry)
        elif entry.event == "draining":
            # A worker that gets a second SIGTERM exits at once.
            if entry.pid in draining:
                end_process(entry)
            draining.add(entry.pid)
    for pid, since in frozen.items():
        stalls[pid].append((since, inf))
    return Executions(list(executions.values()), duplicates, stalls)
