"""Leadership on SQLite."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from tickbird.domain.errors import TermEndedError
from tickbird.domain.leadership import (
    MAX_TERMS,
    Election,
    Leader,
    LeaderLease,
    LeaderTerm,
    no_leader,
    not_in_term,
    term_by_force,
)
from tickbird.domain.time.instants import from_micros, to_micros
from tickbird.domain.workers import Worker
from tickbird.store.protocol.leadership import LeadershipStore
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.database.connection import Connection, Session
from tickbird.store.sqlite.database.database import Database, NounStore, read_transaction, write_transaction
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL, NamedRow, fetch_named
from tickbird.store.sqlite.database.transactions import read, write
from tickbird.store.sqlite.rows import dump

T = TypeVar("T")


class SqliteLeadership(NounStore, LeadershipStore):
    """Elect and renew have a connection of their own; it waits for the write lock of the file, but not for a thread."""

    def __init__(self, database: Database, connection: Connection) -> None:
        super().__init__(database)
        self._connection = connection

    async def elect(self, worker: Worker, timeout: float, *, now: datetime | None = None) -> Election:
        def peek(db: Session) -> Election | None:
            at, lease = read_clock(now), read_lease(db)
            if lease is None or lease.worker == worker.id or not lease.is_live(at):
                return None
            return Election(at, lease, elected=False)

        other = await self._run(lambda db: read(db, lambda: peek(db)))
        if other is not None:
            return other
        return await self._run(lambda db: write(db, lambda: _elect(db, worker, timeout, read_clock(now))))

    async def renew(
        self, term: int, worker_id: str, *, runs: int = 0, skips: int = 0, now: datetime | None = None
    ) -> LeaderLease | None:
        def work(db: Session) -> LeaderLease | None:
            counts = {"term": term, "runs": runs, "skips": skips}
            values = {**counts, "worker": worker_id, "now": to_micros(read_clock(now))}
            rows = fetch_named(db, "renew_lease", values)
            if not rows:
                return None
            db.execute(SQL["count_planned"], counts)
            return _to_lease(rows[0])

        return await self._run(lambda db: write(db, lambda: work(db)))

    async def resign(
        self, term: int, worker_id: str, *, note: str = "", runs: int = 0, skips: int = 0, now: datetime | None = None
    ) -> LeaderTerm | None:
        def work(db: Session) -> LeaderTerm | None:
            if not db.execute(SQL["delete_lease"], {"term": term, "worker": worker_id}).fetchall():
                return None
            return _end(db, term, note, read_clock(now), runs=runs, skips=skips)

        ended = await self._run(lambda db: write(db, lambda: work(db)))
        self._db.call_for_heartbeats()
        return ended

    async def end(
        self, namespace: str, actor: str, *, term: int | None = None, note: str = "", now: datetime | None = None
    ) -> LeaderTerm:
        ended = await self._end(namespace, actor, term, note, now)
        self._db.call_for_heartbeats()
        return ended

    @write_transaction
    def _end(
        self, db: Session, namespace: str, actor: str, term: int | None, note: str, now: datetime | None
    ) -> LeaderTerm:
        at, lease = read_clock(now), read_lease(db)
        if lease is None:
            raise no_leader()
        if term is not None and term != lease.term:
            raise not_in_term(term, lease.term)
        db.execute(SQL["delete_lease"], {"term": lease.term, "worker": None}).fetchall()
        ended = _end(db, lease.term, f"requested by {actor}" + (f": {note}" if note else ""), at)
        detail = {"term": lease.term, "worker": lease.worker, "note": note}
        write_audit(db, at, actor, "resign_leader", namespace, detail=detail)
        return ended or term_by_force(lease, at)

    @read_transaction
    def get(self, db: Session, *, limit: int = 100, now: datetime | None = None) -> Leader:
        terms = fetch_named(db, "list_terms", {"limit": limit})
        return Leader(read_clock(now), read_lease(db), [_to_term(row) for row in terms])

    async def close(self) -> None:
        """Close its connection."""
        if self._connection is not self._db.writer:
            await self._connection.close()

    async def _run(self, work: Callable[[Session], T]) -> T:
        if self._db.writer.is_open:
            await self._connection.open()
        return await self._connection.run(work)


def in_term(db: Session, term: int | None, work: Callable[[], T]) -> T:
    """Plan in this term, inside a write transaction; raises TermEndedError if it has ended. None: no leader mode."""
    if term is None:
        return work()
    if db.execute(SQL["has_term"], {"term": term}).fetchone() is None:
        raise TermEndedError(f"term {term} has ended.", hint="`tickbird leader` shows the current leader.")
    db.execute(SQL["set_planning_term"], {"term": term})
    result = work()
    db.execute(SQL["delete_planning_term"])
    return result


def _elect(db: Session, worker: Worker, timeout: float, now: datetime) -> Election:
    values = {"worker": worker.id, "now": to_micros(now)}
    ended = [row[0] for row in db.execute(SQL["delete_expired_lease"], values).fetchall()]
    other = read_lease(db)
    if other is not None:
        return Election(now, other, elected=False)
    db.execute(SQL["close_terms"], {**values, "ended": dump(ended)})
    [(term,)] = db.execute(SQL["issue_term"]).fetchall()
    term_values = {"host": worker.host, "pid": worker.pid, "namespace": worker.namespace, "app": worker.app}
    db.execute(SQL["begin_term"], {**values, **term_values, "term": term})
    db.execute(SQL["insert_lease"], {**values, "term": term, "timeout": round(timeout * 1_000_000)})
    db.execute(SQL["prune_terms"], {"term": term - MAX_TERMS})
    lease = LeaderLease(term=term, worker=worker.id, heartbeat_at=now, timeout=timeout)
    return Election(now, lease, elected=True)


def _end(db: Session, term: int, note: str, now: datetime, *, runs: int = 0, skips: int = 0) -> LeaderTerm | None:
    values = {"term": term, "note": note, "now": to_micros(now), "runs": runs, "skips": skips}
    rows = fetch_named(db, "end_term", values)
    db.execute(SQL["call_for_heartbeats"])
    return _to_term(rows[0]) if rows else None


def read_lease(db: Session) -> LeaderLease | None:
    rows = fetch_named(db, "read_lease", {})
    return _to_lease(rows[0]) if rows else None


def _to_lease(row: NamedRow) -> LeaderLease:
    return LeaderLease(
        term=row["term"],
        worker=row["worker"],
        heartbeat_at=from_micros(row["heartbeat_at"]),
        timeout=row["timeout"] / 1_000_000,
    )


def _to_term(row: NamedRow) -> LeaderTerm:
    return LeaderTerm(
        term=row["term"],
        worker=row["worker"],
        host=row["host"],
        pid=row["pid"],
        namespace=row["namespace"],
        app=row["app"],
        began_at=from_micros(row["began_at"]),
        ended_at=from_micros(row["ended_at"]),
        end_reason=row["end_reason"],
        note=row["note"],
        runs=row["runs"],
        skips=row["skips"],
    )
