"""What runs say while they execute, on PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence

from tickbird.domain.runs.logs import LogLine, Progress
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.rows import json_text, numbers, texts


async def write_logs(db: Session, lines: Sequence[LogLine], progress: Sequence[Progress]) -> None:
    """Add lines, and the newest progress of each run."""
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
            ids=numbers(one.run_id for one in progress),
            attempts=numbers(one.attempt for one in progress),
            at=numbers(one.at.timestamp() for one in progress),
            values=texts([json_text(one.value) for one in progress]),
        )
