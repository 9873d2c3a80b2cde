"""Leadership on PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import datetime
from typing import Any, TypeVar

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
from tickbird.domain.workers import Worker
from tickbird.store.postgres.audit import write_audit
from tickbird.store.postgres.database.connection import Connection, Session
from tickbird.store.postgres.database.database import Database, NounStore, transaction
from tickbird.store.postgres.database.errors import unusable_schedules
from tickbird.store.postgres.rows import numbers
from tickbird.store.protocol.leadership import LeadershipStore

T = TypeVar("T")


class PostgresLeadership(NounStore, LeadershipStore):
    """Its connection is not in the pool, so that planning cannot use it up."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._stack: AsyncExitStack | None = None
        self._connection: Connection | None = None
        self._lock: asyncio.Lock | None = None

    async def elect(self, worker: Worker, timeout: float, *, now: datetime | None = None) -> Election:
        election = await self._run(lambda db: _read(db, now))
        if election is not None and election.lease.worker != worker.id and election.lease.is_live(election.now):
            return election
        return await self._run(lambda db: _elect(db, worker, timeout, now), begin=True)

    async def renew(
        self, term: int, worker_id: str, *, runs: int = 0, skips: int = 0, now: datetime | None = None
    ) -> LeaderLease | None:
        values = {"term": term, "worker": worker_id, "runs": runs, "skips": skips, "now": now}
        rows = await self._run(lambda db: db.fetch_named("renew_lease", **values))
        return _to_lease(rows[0]) if rows else None

    async def resign(
        self, term: int, worker_id: str, *, note: str = "", runs: int = 0, skips: int = 0, now: datetime | None = None
    ) -> LeaderTerm | None:
        async def work(db: Session) -> LeaderTerm | None:
            await db.execute("lock_leader_counter")
            if not await db.fetch("delete_lease", term=term, worker=worker_id):
                return None
            return await _end(db, term, note, now, runs=runs, skips=skips)

        return await self._run(work, begin=True)

    @transaction
    async def end(
        self,
        db: Session,
        namespace: str,
        actor: str,
        *,
        term: int | None = None,
        note: str = "",
        now: datetime | None = None,
    ) -> LeaderTerm:
        await db.execute("lock_leader_counter")
        election = await _read(db, now)
        if election is None:
            raise no_leader()
        current = election.lease.term
        if term is not None and term != current:
            raise not_in_term(term, current)
        await db.execute("delete_lease", term=current, worker=None)
        ended = await _end(db, current, f"requested by {actor}" + (f": {note}" if note else ""), now)
        detail = {"term": current, "worker": election.lease.worker, "note": note}
        await write_audit(db, election.now, actor, "resign_leader", namespace, detail=detail)
        return ended or term_by_force(election.lease, election.now)

    async def get(self, *, limit: int = 100, now: datetime | None = None) -> Leader:
        [row] = await self._db.fetch_named("read_lease", now=now)
        terms = await self._db.fetch_named("list_terms", limit=limit)
        return Leader(row["now"], to_lease(row), [LeaderTerm(**term) for term in terms])

    async def close(self) -> None:
        """Close its connection."""
        stack, self._stack, self._connection, self._lock = self._stack, None, None, None
        if stack is not None:
            await stack.aclose()

    async def _run(self, work: Callable[[Session], Awaitable[T]], *, begin: bool = False) -> T:
        """Run work on the connection, which is replaced after any error."""
        self._lock = self._lock or asyncio.Lock()
        async with self._lock:
            with self._db.translating():
                try:
                    connection = await self._connected()
                    session = Session(connection, self._db.connections.schema)
                    if not begin:
                        return await work(session)
                    async with connection.transaction():
                        return await work(session)
                except BaseException as error:
                    await self._disconnect()
                    if isinstance(error, Exception) and (
                        unusable := unusable_schedules(error, self._db.connections.display_name)
                    ):
                        raise unusable from None
                    raise

    async def _connected(self) -> Connection:
        if self._connection is None:
            self._stack = AsyncExitStack()
            self._connection = await self._stack.enter_async_context(self._db.connections.dedicated())
        return self._connection

    async def _disconnect(self) -> None:
        stack, self._stack, self._connection = self._stack, None, None
        if stack is not None:
            await stack.aclose()


async def _read(db: Session, now: datetime | None) -> Election | None:
    """The lease; None if there is none."""
    [row] = await db.fetch_named("read_lease", now=now)
    lease = to_lease(row)
    return None if lease is None else Election(row["now"], lease, elected=False)


async def _elect(db: Session, worker: Worker, timeout: float, now: datetime | None) -> Election:
    await db.execute("lock_leader_counter")
    ended = [row[0] for row in await db.fetch("delete_expired_lease", worker=worker.id, now=now)]
    other = await _read(db, now)
    if other is not None:
        return other
    await db.execute("close_terms", ended=numbers(ended), worker=worker.id, now=now)
    [row] = await db.fetch_named(
        "begin_term",
        worker=worker.id,
        host=worker.host,
        pid=worker.pid,
        namespace=worker.namespace,
        app=worker.app,
        timeout=timeout,
        now=now,
    )
    await db.execute("prune_terms", term=row["term"] - MAX_TERMS)
    return Election(row["now"], _to_lease(row), elected=True)


async def _end(
    db: Session, term: int, note: str, now: datetime | None, *, runs: int = 0, skips: int = 0
) -> LeaderTerm | None:
    rows = await db.fetch_named("end_term", term=term, note=note, runs=runs, skips=skips, now=now)
    await db.execute("call_for_heartbeats")
    return LeaderTerm(**rows[0]) if rows else None


def to_lease(row: dict[str, Any]) -> LeaderLease | None:
    """The lease of a row of `read_lease`; None if there is none."""
    return None if row["term"] is None else _to_lease(row)


def _to_lease(row: dict[str, Any]) -> LeaderLease:
    return LeaderLease(term=row["term"], worker=row["worker"], heartbeat_at=row["heartbeat_at"], timeout=row["timeout"])
