"""Events on PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import psycopg

from tickbird.domain.errors import ConflictError
from tickbird.domain.events.event import Event, NewEvent, event_rows
from tickbird.domain.events.groups import retention_reason
from tickbird.domain.events.stamping import StampResult
from tickbird.domain.events.topics import pattern_regex
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.database.database import Database, NounStore, transaction
from tickbird.store.postgres.leases import release_waiting
from tickbird.store.postgres.rows import json_text, numbers, texts
from tickbird.store.protocol.events import EventStore

_CONFLICT: Final = "TB409"
# Queued runs whose events are published in one transaction.
_MAX_RUNS: Final = 500


class PostgresEvents(NounStore, EventStore):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        # Namespaces of which this process knows that they have a stream.
        self._streams: set[str] = set()
        # Namespaces that this process has stamped since `stop_polling`.
        self._stamped: set[str] = set()

    async def publish(
        self, namespace: str, events: Sequence[NewEvent], *, source: str, actor: str, now: datetime | None = None
    ) -> Sequence[UUID]:
        rows = json_text(event_rows(events))
        if namespace not in self._streams:
            await self._add_streams([namespace])
        try:
            published = await self._db.connections.transact(
                lambda db: db.fetch("publish_events", namespace=namespace, source=source, actor=actor, events=rows),
                begin=False,
            )
        except psycopg.Error as error:
            if error.sqlstate == _CONFLICT:
                raise ConflictError(f"{error.diag.message_primary}.", hint=error.diag.message_hint or "") from None
            raise self._db.translate(error) from None
        return [event_id for (event_id,) in published]

    async def add_stream(self, namespace: str) -> None:
        await self._add_streams([namespace])

    async def add_streams(self) -> int:
        return await self._add_streams([])

    async def _add_streams(self, namespaces: Sequence[str]) -> int:
        added = await self._db.execute("add_event_streams", namespaces=texts(namespaces))
        self._streams.update(namespaces)
        return added

    async def stamp(self, since: str | None = None, *, limit: int = 10_000, now: datetime | None = None) -> StampResult:
        if since is None:
            await self._add_streams([])
        published = 0
        [(snapshot, namespaces, polls_for, has_queued)] = await self._db.fetch("find_unstamped", since=since)
        if has_queued:
            published = await self._publish_runs(now)
            [(snapshot, namespaces, polls_for, _)] = await self._db.fetch("find_unstamped", since=since)
        stamped, more, is_complete = 0, published >= _MAX_RUNS, True
        for namespace in namespaces:
            rows = await self._db.fetch("stamp_events", namespace=namespace, since=since, limit=limit)
            if not rows:
                # Another session is stamping; its pass may not see all that this one would.
                is_complete = False
                continue
            [(count, _, is_whole)] = rows
            self._stamped.add(namespace)
            stamped += count
            more, is_complete = more or not is_whole, is_complete and is_whole
        if stamped:
            self._db.notifier.notify()
        others = polls_for if polls_for is not None and polls_for > 0 and not self._stamped else None
        return StampResult(stamped, published, more, snapshot if is_complete else since, others)

    @transaction
    async def _publish_runs(self, db: Session, now: datetime | None) -> int:
        ids = [row[0] for row in await db.fetch("queued_event_runs", limit=_MAX_RUNS, now=now)]
        if not ids:
            return 0
        [(at, done, freed, watched, *keys)] = await db.fetch("publish_runs", ids=numbers(ids), now=now)
        await release_waiting(db, self._db.revisions, at, freed, watched, *keys)
        return len(done)

    async def stop_polling(self) -> None:
        if self._stamped:
            namespaces, self._stamped = sorted(self._stamped), set()
            await self._db.execute("stop_polling", namespaces=texts(namespaces))

    async def prune(
        self,
        *,
        older_than: float,
        max_events: int | None = None,
        limit: int = 1_000,
        now: datetime | None = None,
    ) -> int:
        values = {"older_than": older_than, "max_events": max_events, "limit": limit, "now": now}
        rows = await self._db.fetch("prunable_events", **values)
        return sum([await self._prune(namespace, after, until) for namespace, after, until in rows])

    @transaction
    async def _prune(self, db: Session, namespace: str, after: int, until: int) -> int:
        for name, position in await db.fetch("find_unread_groups", namespace=namespace, until=until):
            reason = retention_reason(position, until)
            await db.execute("lose_events", namespace=namespace, name=name, position=position, reason=reason)
        # The stamper reads the last position from the log, or from here.
        await db.execute("note_pruned_events", namespace=namespace, until=until)
        await db.execute("keep_event_versions", namespace=namespace, after=after, until=until)
        return await db.execute("prune_events", namespace=namespace, after=after, until=until)

    async def read(
        self,
        namespace: str,
        after: int = 0,
        *,
        topics: Sequence[str] = (),
        key: str | None = None,
        limit: int = 100,
    ) -> Sequence[Event]:
        rows = await self._db.fetch_named(
            "read_events",
            namespace=namespace,
            after=after,
            topics=texts([pattern_regex(pattern) for pattern in topics]) if topics else None,
            key=key,
            limit=limit,
        )
        return [to_event(row) for row in rows]

    async def get(self, namespace: str, event_id: UUID) -> Event | None:
        rows = await self._db.fetch_named("read_event", namespace=namespace, event_id=event_id)
        return to_event(rows[0]) if rows else None

    async def head(self, namespace: str) -> int:
        [(position,)] = await self._db.fetch("read_event_head", namespace=namespace)
        return int(position)


def to_event(row: dict[str, Any]) -> Event:
    """An event from its columns."""
    return Event(
        id=row["event_id"],
        namespace=row["namespace"],
        topic=row["topic"],
        type=row["type"],
        source=row["source"],
        time=row["time"],
        data=row["data"],
        key=row["key"],
        headers=row["headers"] or {},
        tenant=row["tenant"],
        published_at=row["published_at"],
        partition=row["partition"],
        run_id=row["run_id"],
        position=row["position"],
        incarnation=row["incarnation"],
        stamped_at=row.get("stamped_at"),
        version=row["version"],
        transaction_id=row["transaction_id"],
        ordinal=row["ordinal"],
        count=row["count"],
    )
