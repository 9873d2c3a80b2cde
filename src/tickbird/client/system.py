"""The store as a whole: its workers, clock, place, zone rules, and who did what."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from tickbird.client.base import ClientBase, page_size
from tickbird.cpu_threads import compute
from tickbird.domain.doctor.checks.registry import run_checks
from tickbird.domain.doctor.finding import Finding
from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.domain.ledger.activity import AuditEntry
from tickbird.domain.planning.zone_impact import (
    ZoneImpact,
    is_zoned,
    iter_zone_impacts,
    next_zone_impact,
    sort_by_instant,
)
from tickbird.domain.store_identity import StoreIdentity
from tickbird.domain.text import check_text
from tickbird.domain.time.instants import to_seconds
from tickbird.domain.time.zone_data import ZoneRecord, Zones
from tickbird.domain.workers import Worker


class System(ClientBase):
    """The verbs about all of a store."""

    async def workers(self) -> Sequence[Worker]:
        """The live workers."""
        return await self._store.workers.list(self._namespace)

    async def drain_worker(self, worker_id: str, *, actor: str, note: str = "") -> Worker:
        """Ask a live worker to take nothing new, finish what it executes and end; nothing takes that back."""
        check_text(actor, "actor", minimum=1, maximum=200)
        check_text(note, "note")
        worker_id = check_text(worker_id, "worker", minimum=1, maximum=1_000)
        return await self._store.workers.drain(self._namespace, worker_id, actor, note=note)

    async def doctor(self) -> Sequence[Finding]:
        """Everything that was looked at in the store: how it is, and what to do about it."""
        return run_checks(await self._store.inspect(self._namespace))

    async def identity(self) -> StoreIdentity:
        """Where the store is, and whether it is a copy."""
        return await self._store.identity.check()

    async def accept_copy(self, *, actor: str) -> StoreIdentity:
        """Let a copy of a store go on where it is: from now on it plans and executes as a store of its own."""
        check_text(actor, "actor", minimum=1, maximum=200)
        if not (await self._store.identity.check()).copy_reason:
            raise ConflictError("this store is no copy;", hint="there is nothing to accept.")
        return await self._store.identity.accept_copy(self._namespace, actor)

    async def zone_data(self) -> Zones:
        """The zone rules of this process beside those that the store goes by."""
        return await self._store.zone_data.check()

    async def zone_data_history(self, *, limit: int = 100) -> Sequence[ZoneRecord]:
        """The zone rules that the store has gone by, newest first."""
        return await self._store.zone_data.list(limit=page_size(limit))

    async def adopt_zone_data(self, *, actor: str) -> Zones:
        """Let the store go by the zone rules of this process, also by older ones; workers then follow."""
        check_text(actor, "actor", minimum=1, maximum=200)
        zones = await self._store.zone_data.check(adopt=True, actor=actor)
        if not zones.adopted:
            raise ConflictError("the store goes by these zone rules already;", hint="there is nothing to adopt.")
        return zones

    async def zone_impact(self, days: int = 400, against: str | Path | None = None) -> Sequence[ZoneImpact]:
        """The ticks that a change of zone rules moves, from the stored next ones to those of today.

        With `against`, a folder of zone files: every tick within so many days that its rules move.
        """
        check_days(days)
        since = to_seconds(await self._store.now())
        schedules, after = [], ""
        while rows := await self._store.schedules.list(self._namespace, after=after, limit=1_000):
            schedules += [row.schedule for row in rows if is_zoned(row.schedule)]
            after = rows[-1].schedule.name
        if against is None:
            return await compute(lambda: sort_by_instant(map(next_zone_impact, schedules)))
        return await compute(
            lambda: sort_by_instant(iter_zone_impacts(schedules, against, since, since + days * 86_400))
        )

    async def audit(
        self, *, schedule: str | None = None, before: int | None = None, limit: int = 100
    ) -> Sequence[AuditEntry]:
        """Who did what, newest first."""
        return await self._store.ledger.list_audit(self._namespace, schedule=schedule, before=before, limit=limit)

    async def now(self) -> datetime:
        """The store's clock."""
        return await self._store.now()


def check_days(days: int) -> None:
    """So far ahead ticks are compared."""
    if not 1 <= days <= 36_500:
        raise InvalidError("days: must be from 1 to 36500.", field="days")
