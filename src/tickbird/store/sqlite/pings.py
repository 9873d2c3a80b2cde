"""Pings on SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tickbird.domain.ledger.shadow_report import MAX_PINGS
from tickbird.domain.time.instants import from_micros, to_micros
from tickbird.store.protocol.pings import PingStore
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import NounStore, read_transaction, write_transaction
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL


class SqlitePings(NounStore, PingStore):
    @write_transaction
    def add(
        self, db: Session, schedule_id: int, at: datetime | None = None, *, now: datetime | None = None
    ) -> datetime:
        moment = read_clock(at or now)
        db.execute(SQL["ping"], {"schedule_id": schedule_id, "at": to_micros(moment)})
        db.execute(SQL["trim_pings"], {"schedule_id": schedule_id, "maximum": MAX_PINGS})
        return moment

    @read_transaction
    def list(
        self,
        db: Session,
        schedule_id: int,
        first: datetime,
        last: datetime,
        *,
        after: datetime | None = None,
        limit: int = 1_000,
    ) -> Sequence[datetime]:
        bounds = {"first": to_micros(first), "last": to_micros(last), "after": to_micros(after), "limit": limit}
        return [from_micros(at) for (at,) in db.execute(SQL["list_pings"], {**bounds, "schedule_id": schedule_id})]
