"""Pings on PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tickbird.domain.ledger.shadow_report import MAX_PINGS
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.database.database import NounStore, transaction
from tickbird.store.protocol.pings import PingStore


class PostgresPings(NounStore, PingStore):
    @transaction
    async def add(
        self, db: Session, schedule_id: int, at: datetime | None = None, *, now: datetime | None = None
    ) -> datetime:
        [(moment,)] = await db.fetch("ping", schedule_id=schedule_id, at=at, now=now)
        await db.execute("trim_pings", schedule_id=schedule_id, maximum=MAX_PINGS)
        assert isinstance(moment, datetime)
        return moment

    async def list(
        self, schedule_id: int, first: datetime, last: datetime, *, after: datetime | None = None, limit: int = 1_000
    ) -> Sequence[datetime]:
        bounds = {"schedule_id": schedule_id, "first": first, "last": last, "after": after, "limit": limit}
        return [at for (at,) in await self._db.fetch("list_pings", **bounds)]
