"""Journals: one file per process with its events, flushed line by line, so that a kill loses no complete entry."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tickbird.targets.protocol import Run


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a journal: an event of a process, at its monotonic (`at`) and its wall clock (`wall`)."""

    event: str
    pid: int
    at: float
    wall: float
    run: int | None = None
    attempt: int | None = None
    schedule: str | None = None
    tick: int | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


class Journal:
    """The journal of this process; a forked process must open its own."""

    def __init__(self, folder: Path, name: str = "") -> None:
        self._file = os.open(folder / f"{name or os.getpid()}.journal", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def write(self, event: str, run: Run | None = None, /, *, pid: int | None = None, **detail: Any) -> None:
        """Append an entry, which is on disk when this returns; pass `pid` if the entry is about another process."""
        line: dict[str, Any] = {"event": event, "pid": pid or os.getpid(), "at": time.monotonic(), "wall": time.time()}
        if run is not None:
            tick = run.scheduled_for
            line |= {"run": run.id, "attempt": run.attempt, "schedule": run.schedule}
            line["tick"] = None if tick is None else int(tick.timestamp())
            if event == "began":
                detail["lease_checked_at"] = run.lease_checked_at
        os.write(self._file, json.dumps({**line, "detail": detail}).encode() + b"\n")
        os.fsync(self._file)

    def close(self) -> None:
        os.close(self._file)


def read_journals(folder: Path) -> list[Entry]:
    """The entries of all journals of a folder, oldest first, without an incomplete last line."""
    lines = [line for file in folder.glob("*.journal") for line in file.read_bytes().split(b"\n")[:-1]]
    return sorted((Entry(**json.loads(line)) for line in lines), key=lambda entry: entry.at)
