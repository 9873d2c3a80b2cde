"""The store behind a server as a whole: its workers, clock, place, zone rules, and who did what."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from tickbird.client.http.base import Remote, segment
from tickbird.client.system import System, check_days
from tickbird.domain.doctor.finding import Finding
from tickbird.domain.ledger.activity import AuditEntry
from tickbird.domain.planning.zone_impact import ZoneImpact, is_zoned, iter_zone_impacts, sort_by_instant
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.store_identity import StoreIdentity
from tickbird.domain.text import check_text
from tickbird.domain.time.instants import to_seconds
from tickbird.domain.time.zone_data import ZoneRecord, Zones
from tickbird.domain.workers import Worker, no_such_worker
from tickbird.wire.decode import parts
from tickbird.wire.decode.schedules import read_row
from tickbird.wire.decode.system import (
    read_audit_record,
    read_finding,
    read_identity,
    read_moves,
    read_zone_record,
    read_zones,
)
from tickbird.wire.decode.workers import read_worker

_PAGE = 1_000
# It looks at everything.
_DOCTOR = 60.0


class RemoteSystem(Remote, System):
    """The verbs about all of a store."""

    async def workers(self) -> Sequence[Worker]:
        """The live workers."""
        found: list[Worker] = []
        while page := await self._pages("/workers", read_worker, _PAGE, found[-1].id if found else None):
            found += page
            if len(page) < _PAGE:
                break
        return found

    async def drain_worker(self, worker_id: str, *, actor: str, note: str = "") -> Worker:
        """Ask a live worker to take nothing new, finish what it executes and end; nothing takes that back."""
        check_text(worker_id, "worker", minimum=1, maximum=1_000)
        if "/" in worker_id:
            raise no_such_worker(worker_id)
        return await self._post(f"/workers/{segment(worker_id, 'worker')}/drain", read_worker, {"note": note})

    async def doctor(self) -> Sequence[Finding]:
        """Everything that was looked at in the store: how it is, and what to do about it."""
        return await self._fetch("/doctor", lambda found: [*map(read_finding, found["items"])], patience=_DOCTOR)

    async def identity(self) -> StoreIdentity:
        """Where the store is, and whether it is a copy."""
        return await self._fetch("/system/identity", read_identity)

    async def accept_copy(self, *, actor: str) -> StoreIdentity:
        """Let a copy of a store go on where it is: from now on it plans and executes as a store of its own."""
        return await self._post("/system/accept-copy", read_identity)

    async def zone_data(self) -> Zones:
        """The zone rules of the server's process beside those that the store goes by."""
        return await self._fetch("/system/zone-data", read_zones)

    async def zone_data_history(self, *, limit: int = 100) -> Sequence[ZoneRecord]:
        """The zone rules that the store has gone by, newest first."""
        return await self._fetch(
            "/system/zone-data/history", lambda found: [*map(read_zone_record, found["items"])], {"limit": limit}
        )

    async def adopt_zone_data(self, *, actor: str) -> Zones:
        """Let the store go by the zone rules of the server's process, also by older ones; workers then follow."""
        return await self._post("/system/zone-data/adopt", read_zones)

    async def zone_impact(self, days: int = 400, against: str | Path | None = None) -> Sequence[ZoneImpact]:
        """The ticks that a change of zone rules moves, from the stored next ones to those of the server's process.

        With `against`, a folder of zone files of this machine: every tick within so many days that its rules move.
        """
        check_days(days)
        if against is None:
            return await self._fetch("/system/zone-data/impact", lambda found: [*map(read_moves, found["items"])])
        since = to_seconds(await self.now())
        schedules: list[Schedule] = []
        after: str | None = ""
        while rows := await self._pages("/schedules", read_row, _PAGE, after):
            schedules += [row.schedule for row in rows if is_zoned(row.schedule)]
            after = rows[-1].schedule.name
        return sort_by_instant(iter_zone_impacts(schedules, against, since, since + days * 86_400))

    async def audit(
        self, *, schedule: str | None = None, before: int | None = None, limit: int = 100
    ) -> Sequence[AuditEntry]:
        """Who did what, newest first."""
        return await self._pages("/audit", read_audit_record, limit, before, {"schedule": schedule})

    async def now(self) -> datetime:
        """The store's clock."""
        return await self._fetch("/now", lambda found: parts.instant(found["now"]))
