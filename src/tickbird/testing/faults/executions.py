"""What processes really executed, from their ledgers: from when to when, and what may excuse two at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from tickbird.testing.faults.ledger import Note

ENDINGS = ("done", "raised", "stopped")
# Seconds within which a process that stood still must have stopped what it may not go on with.
_SOON = 1.0


@dataclass
class Execution:
    """One call of a task's function."""

    run: int
    attempt: int
    schedule: str | None
    tick: int | None
    pid: int
    began: float
    began_wall: float
    detail: Any
    ended: float = inf
    ending: str = ""

    @property
    def checked(self) -> float:
        """When its process last looked at its lease before it began."""
        return min(self.began, self.detail.get("lease_checked_at") or self.began)


@dataclass
class Executions:
    """All of them, in the order in which they began."""

    all: list[Execution]
    # Notes of one run and attempt that was begun twice.
    twice: list[Note]
    # Stretches in which a process stood still, by its id.
    _still: dict[int, list[tuple[float, float]]]

    def of_runs(self) -> dict[int, list[Execution]]:
        """By run."""
        found: dict[int, list[Execution]] = defaultdict(list)
        for execution in self.all:
            found[execution.run].append(execution)
        return found

    def stood_still(self, one: Execution) -> bool:
        """Did its process stand still after it looked at its lease, and then end it soon?

        Nobody can stop what does not know.
        """
        return any(
            end >= one.checked and begin <= one.ended <= end + _SOON for begin, end in self._still.get(one.pid, ())
        )

    def started_late(self, one: Execution) -> bool:
        """Did its process stand still between that look and the first line of the function? Nobody can prevent that."""
        return any(one.checked <= end <= one.began for _, end in self._still.get(one.pid, ()))


def read_executions(notes: Sequence[Note]) -> Executions:
    """From the notes of all processes, oldest first."""
    found: dict[tuple[int, int], Execution] = {}
    twice: list[Note] = []
    still: dict[int, list[tuple[float, float]]] = defaultdict(list)
    frozen: dict[int, float] = {}
    draining: set[int] = set()

    def end(note: Note) -> None:
        for execution in found.values():
            if execution.pid == note.pid and not execution.ending:
                execution.ended, execution.ending = note.at, note.event

    for note in notes:
        key = note.run or 0, note.attempt or 0
        if note.event == "began":
            if key in found:
                twice.append(note)
            else:
                found[key] = Execution(*key, note.schedule, note.tick, note.pid, note.at, note.wall, note.detail)
        elif note.event in ENDINGS and key in found and found[key].pid == note.pid:
            found[key].ended, found[key].ending = note.at, note.event
        elif note.event == "frozen":
            frozen[note.pid] = note.at
        elif note.event == "thawed" and note.pid in frozen:
            still[note.pid].append((frozen.pop(note.pid), note.at))
        elif note.event == "stalled":
            still[note.pid].append((note.detail["since"], note.detail["until"]))
        elif note.event in ("killed", "left"):
            end(note)
        elif note.event == "told to drain":
            # Told twice, a worker ends at once.
            if note.pid in draining:
                end(note)
            draining.add(note.pid)
    for pid, since in frozen.items():
        still[pid].append((since, inf))
    return Executions(list(found.values()), twice, still)
