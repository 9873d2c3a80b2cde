"""Log lines and progress of runs on SQLite."""

from __future__ import annotations

from collections.abc import Sequence

from tickbird.domain.runs.logs import LogLine, Progress
from tickbird.domain.time.instants import from_micros, to_micros
from tickbird.store.protocol.logs import LogStore
from tickbird.store.shared.json_columns import decode
from tickbird.store.shared.unstorable_values import refusing_values
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import NounStore, read_transaction
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.database.transactions import write
from tickbird.store.sqlite.rows import dump


class SqliteLogs(NounStore, LogStore):
    async def write(self, lines: Sequence[LogLine], progress: Sequence[Progress]) -> None:
        with refusing_values():
            await self._db.writer.run(lambda db: write(db, lambda: _write(db, lines, progress)))

    @read_transaction
    def read(
        self, db: Session, run_id: int, *, after: tuple[int, int] = (0, 0), limit: int = 1_000
    ) -> Sequence[LogLine]:
        attempt, number = after
        rows = db.execute(SQL["read_lines"], {"id": run_id, "attempt": attempt, "number": number, "limit": limit})
        return [LogLine(run, tried, line, from_micros(at), level, text) for run, tried, line, at, level, text in rows]

    @read_transaction
    def read_progress(self, db: Session, run_id: int) -> Progress | None:
        row = db.execute(SQL["read_progress"], {"id": run_id}).fetchone()
        return None if row is None else Progress(row[0], row[1], from_micros(row[2]), decode(row[3]))


def _write(db: Session, lines: Sequence[LogLine], progress: Sequence[Progress]) -> None:
    db.executemany(
        SQL["write_line"],
        [(line.run_id, line.attempt, line.number, to_micros(line.at), line.level, line.text) for line in lines],
    )
    db.executemany(
        SQL["write_progress"],
        [(report.run_id, report.attempt, to_micros(report.at), dump(report.value)) for report in progress],
    )
