"""Log lines and progress of runs on PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence

from tickbird.domain.runs.logs import LogLine, Progress
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.database.database import NounStore
from tickbird.store.postgres.rows import json_text, numbers, texts
from tickbird.store.protocol.logs import LogStore


class PostgresLogs(NounStore, LogStore):
    async def write(self, lines: Sequence[LogLine], progress: Sequence[Progress]) -> None:
        await self._db.record(lambda db: _write(db, lines, progress))

    async def read(self, run_id: int, *, after: tuple[int, int] = (0, 0), limit: int = 1_000) -> Sequence[LogLine]:
        attempt, number = after
        rows = await self._db.fetch("read_lines", id=run_id, attempt=attempt, number=number, limit=limit)
        return [LogLine(*row) for row in rows]

    async def read_progress(self, run_id: int) -> Progress | None:
        rows = await self._db.fetch("read_progress", id=run_id)
        return Progress(*rows[0]) if rows else None


async def _write(db: Session, lines: Sequence[LogLine], progress: Sequence[Progress]) -> None:
    if lines:
        await db.execute(
            "write_lines",
            ids=numbers(line.run_id for line in lines),
            attempts=numbers(line.attempt for line in lines),
            numbers=numbers(line.number for line in lines),
            at=numbers(line.at.timestamp() for line in lines),
            levels=numbers(line.level for line in lines),
            texts=texts([line.text for line in lines]),
        )
    if progress:
        await db.execute(
            "write_progress",
            ids=numbers(report.run_id for report in progress),
            attempts=numbers(report.attempt for report in progress),
            at=numbers(report.at.timestamp() for report in progress),
            values=texts([json_text(report.value) for report in progress]),
        )
