"""Log lines and progress of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tickbird.domain.runs.logs import LogLine, Progress


class LogStore(Protocol):
    async def write(self, lines: Sequence[LogLine], progress: Sequence[Progress]) -> None:
        """Store lines, each once, and the latest progress of each run.

        Raises InvalidError, and stores nothing, if a value can never be stored.
        """

    async def read(self, run_id: int, *, after: tuple[int, int] = (0, 0), limit: int = 1_000) -> Sequence[LogLine]:
        """The lines of a run in order, after this attempt and number."""

    async def read_progress(self, run_id: int) -> Progress | None:
        """The last progress that a run reported."""
