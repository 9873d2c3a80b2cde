"""What a process itself saw: one file for each, flushed to the disk line by line, so that a kill takes nothing back."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tickbird.targets.protocol import Run


@dataclass(frozen=True, slots=True)
class Note:
    """One line: what happened, in which process, by the machine's steady clock and by what it took for the time."""

    event: str
    pid: int
    at: float
    wall: float
    run: int | None = None
    attempt: int | None = None
    schedule: str | None = None
    tick: int | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


class Ledger:
    """The file of this process; a fork must open its own."""

    def __init__(self, folder: Path, name: str = "") -> None:
        self._file = os.open(folder / f"{name or os.getpid()}.ledger", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(
        self,
        event: str,
        run: Run | None = None,
        /,
        *,
        pid: int | None = None,
        schedule: str | None = None,
        **detail: Any,
    ) -> None:
        """Write a line; it counts once this returns. `pid` is set when the line is about another process."""
        line: dict[str, Any] = {"event": event, "pid": pid or os.getpid(), "at": time.monotonic(), "wall": time.time()}
        line["schedule"] = schedule
        if run is not None:
            tick = run.scheduled_for
            line |= {"run": run.id, "attempt": run.attempt, "schedule": run.schedule}
            line["tick"] = None if tick is None else int(tick.timestamp())
            if event == "began":
                detail["lease_checked_at"] = run.lease_checked_at
        os.write(self._file, json.dumps({**line, "detail": detail}).encode() + b"\n")
        os.fsync(self._file)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)


def read_notes(folder: Path) -> list[Note]:
    """What all processes of a folder noted, oldest first; a line cut off by a kill is no note."""
    files: Iterable[Path] = folder.glob("*.ledger")
    found = [Note(**json.loads(line)) for file in files for line in file.read_bytes().split(b"\n")[:-1]]
    return sorted(found, key=lambda note: note.at)
