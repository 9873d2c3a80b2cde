"""The store itself: its clock, identity, health and time zone data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Annotated

from tickbird.client.base import ClientBase
from tickbird.cpu_threads import compute
from tickbird.domain.doctor.checks.registry import run_checks
from tickbird.domain.doctor.finding import Finding
from tickbird.domain.errors import ConflictError
from tickbird.domain.planning.zone_impact import (
    MAX_DAYS,
    ZoneImpact,
    is_zoned,
    iter_zone_impacts,
    next_zone_impact,
    sort_by_instant,
)
from tickbird.domain.store_identity import StoreIdentity
from tickbird.domain.time.instants import to_seconds
from tickbird.domain.time.zone_data import ZoneRecord, Zones
from tickbird.store.protocol.capabilities import missing_capabilities
from tickbird.wire.operations import store_admin, viewer
from tickbird.wire.parameters import Meta

Restored = Annotated[
    bool,
    Meta(description="Also if it is not a copy: it was restored from a backup in place, and gets a new incarnation."),
]


class System(ClientBase):
    """The store: its clock, identity, health and time zone data."""

    @store_admin.get("doctor", "/doctor", "Check the store", timeout=60)
    async def doctor(self) -> Sequence[Finding]:
        """Run every check of the store, as `tickbird doctor` does; a problem comes with its fix."""
        snapshot = await self._store.inspect(self._namespace)
        return run_checks(replace(snapshot, missing=missing_capabilities(self._store.capabilities)))

    @store_admin.get("identity", "/system/identity", "Get the identity of the store")
    async def identity(self) -> StoreIdentity:
        """Get the recorded and the current database of the store; `copy_reason` says why it counts as a copy."""
        return await self._store.identity.check()

    @store_admin.post("accept_copy", "/system/accept-copy", "Accept a copied store", audit="accept_copy")
    async def accept_copy(self, *, restored: Restored = False, actor: str) -> StoreIdentity:
        """Let a copied store plan and execute, with a new incarnation; 409 if it is not a copy."""
        if not restored and not (await self._store.identity.check()).copy_reason:
            raise ConflictError(
                "this store is not a copy.",
                hint="There is nothing to accept, unless it was restored in place: `tickbird doctor --restored`.",
            )
        return await self._store.identity.accept_copy(self._namespace, actor)

    @viewer.get("zone_data", "/system/zone-data", "Get the time zone data")
    async def zone_data(self) -> Zones:
        """Get the versions of time zone data that this process, or the server, and the store use."""
        return await self._store.zone_data.check()

    @viewer.get("zone_data_history", "/system/zone-data/history", "List the history of time zone data")
    async def zone_data_history(
        self, *, limit: Annotated[int, Meta(ge=1, le=1_000, description="The maximum number.")] = 100
    ) -> Sequence[ZoneRecord]:
        """List the versions of time zone data that the store has used, newest first."""
        return await self._store.zone_data.list(limit=limit)

    @store_admin.post("adopt_zone_data", "/system/zone-data/adopt", "Adopt time zone data", audit="adopt_zone_data")
    async def adopt_zone_data(self, *, actor: str) -> Zones:
        """Let the store use the time zone data of this process, even if it is older; 409 if it already does."""
        zones = await self._store.zone_data.check(adopt=True, actor=actor)
        if not zones.adopted:
            raise ConflictError("the store already uses this time zone data.", hint="There is nothing to adopt.")
        return zones

    @viewer.get(
        "zone_impact", "/system/zone-data/impact", "List the ticks that time zone data moves", local=("against",)
    )
    async def zone_impact(
        self,
        days: Annotated[int, Meta(ge=1, le=MAX_DAYS, description="How many days to compare.")] = 400,
        against: str | Path | None = None,
    ) -> Sequence[ZoneImpact]:
        """List the stored next ticks that the time zone data of the server would move, the nearest first.

        With `against`, a folder of time zone data: every tick within `days` that it moves.
        """
        since = to_seconds(await self._store.now())
        schedules = [schedule for schedule in await self._all_schedules() if is_zoned(schedule)]
        if against is None:
            return await compute(lambda: sort_by_instant(map(next_zone_impact, schedules)))
        return await compute(
            lambda: sort_by_instant(iter_zone_impacts(schedules, against, since, since + days * 86_400))
        )

    @viewer.get("now", "/now", "Get the time of the store", envelope="now")
    async def now(self) -> datetime:
        """Get the current time of the store's clock, by which ticks are planned."""
        return await self._store.now()
