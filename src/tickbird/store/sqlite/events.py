"""Events on SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from tickbird.domain.events.event import Event, NewEvent, event_rows
from tickbird.domain.events.groups import retention_reason
from tickbird.domain.events.stamping import StampResult
from tickbird.domain.events.topics import matches
from tickbird.domain.time.instants import from_micros, to_micros
from tickbird.store.protocol.events import EventStore
from tickbird.store.shared.json_columns import decode
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import Database, NounStore, read_transaction, write_transaction
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL, NamedRow, fetch_named
from tickbird.store.sqlite.planning.events import insert_events, publish_queued

# Events that one statement reads while it looks for topics that match.
_CHUNK: Final = 1_000


class SqliteEvents(NounStore, EventStore):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        # The number of positions at the last pass.
        self._positions = 0

    async def publish(
        self, namespace: str, events: Sequence[NewEvent], *, source: str, actor: str, now: datetime | None = None
    ) -> Sequence[UUID]:
        ids = await self._publish(namespace, events, source, actor, now)
        self._db.signal()
        return [UUID(event_id) for event_id in ids]

    @write_transaction
    def _publish(
        self, db: Session, namespace: str, events: Sequence[NewEvent], source: str, actor: str, now: datetime | None
    ) -> list[str]:
        rows = event_rows(events)
        ids = insert_events(db, namespace, rows, source=source, actor=actor, now=read_clock(now))
        db.execute(SQL["wake_others"])
        return ids

    @write_transaction
    def add_stream(self, db: Session, namespace: str) -> None:
        db.execute(SQL["add_event_stream"], {"namespace": namespace})

    async def add_streams(self) -> int:
        """Nothing: the writing transaction creates them."""
        return 0

    async def stamp(self, since: str | None = None, *, limit: int = 10_000, now: datetime | None = None) -> StampResult:
        at = read_clock(now)
        [(positions, has_queued)] = await self._db.fetch("find_published", now=to_micros(at))
        published = await self._publish_queued(at) if has_queued else 0
        # Events have positions already. The caller has to know of new ones, also of those that this process published.
        new, self._positions = positions - self._positions, positions
        return StampResult(stamped=max(new, 0), published=published, more=published > 0)

    @write_transaction
    def _publish_queued(self, db: Session, now: datetime) -> int:
        return publish_queued(db, self._db.revisions, now)

    async def stop_polling(self) -> None:
        """Nothing: publishers always send wake-ups."""

    @read_transaction
    def read(
        self,
        db: Session,
        namespace: str,
        after: int = 0,
        *,
        topics: Sequence[str] = (),
        key: str | None = None,
        limit: int = 100,
    ) -> Sequence[Event]:
        found: list[Event] = []
        chunk = max(limit, _CHUNK) if topics else limit
        while len(found) < limit:
            values = {"namespace": namespace, "after": after, "key": key, "limit": chunk}
            rows = fetch_named(db, "read_events", values)
            found += [to_event(row) for row in rows if not topics or matches(row["topic"], topics)]
            if len(rows) < chunk:
                break
            after = rows[-1]["position"]
        return found[:limit]

    @write_transaction
    def prune(
        self,
        db: Session,
        *,
        older_than: float,
        max_events: int | None = None,
        limit: int = 1_000,
        now: datetime | None = None,
    ) -> int:
        at = read_clock(now)
        cutoff = to_micros(at - timedelta(seconds=older_than))
        bounds = {"cutoff": cutoff, "max_events": max_events, "limit": limit}
        pruned = 0
        for namespace, until in db.execute(SQL["prunable_events"], bounds).fetchall():
            values = {"namespace": namespace, "until": until, "now": to_micros(at)}
            for group, position in db.execute(SQL["groups_behind_retention"], values).fetchall():
                reason = retention_reason(position, until)
                db.execute(SQL["note_lost_events"], {**values, "name": group, "position": position, "reason": reason})
            db.execute(SQL["keep_event_versions"], values)
            pruned += db.execute(SQL["prune_events"], values).rowcount
            db.execute(SQL["note_pruned_events"], values)
        return pruned

    @read_transaction
    def get(self, db: Session, namespace: str, event_id: UUID) -> Event | None:
        rows = fetch_named(db, "read_event", {"namespace": namespace, "event_id": str(event_id)})
        return to_event(rows[0]) if rows else None

    @read_transaction
    def head(self, db: Session, namespace: str) -> int:
        [(position,)] = db.execute(SQL["read_event_head"], {"namespace": namespace}).fetchall()
        return int(position)


def to_event(row: NamedRow) -> Event:
    return Event(
        id=UUID(row["event_id"]),
        namespace=row["namespace"],
        topic=row["topic"],
        type=row["type"],
        source=row["source"],
        time=from_micros(row["time"]),
        data=decode(row["data"]),
        key=row["key"],
        headers=decode(row["headers"]) or {},
        tenant=row["tenant"],
        published_at=from_micros(row["published_at"]),
        # The writing transaction assigns the position.
        stamped_at=from_micros(row["published_at"]),
        partition=row["partition"],
        run_id=row["run_id"],
        position=row["position"],
        incarnation=row["incarnation"],
        version=row["version"],
        transaction_id=None if row["transaction_id"] is None else UUID(row["transaction_id"]),
        ordinal=row["ordinal"],
        count=row["count"],
    )
