"""Time zone data, for every store: which of two versions wins, and which processes may plan."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tickbird.domain.store_identity import StoreIdentity
from tickbird.domain.time.zone_data import MovedSchedule, ZoneData, ZoneRecord, Zones

# The state before the first comparison: nothing outside of UTC is planned.
UNKNOWN: Final = Zones(ZoneData("", ""), None)
# Earlier versions that a new one is compared with.
MAX_RECORDS: Final = 1_000


@dataclass(frozen=True, slots=True)
class PlanningPermission:
    """The permission of a command to plan due ticks before it changes a schedule."""

    zones: Zones
    # False in a copy, and if planning is switched off.
    anything: bool

    def plan(self, generation: int | None) -> bool:
        """True if the command may plan a cursor of this generation. Planners with other data plan the others."""
        return self.anything and generation in (None, self.zones.generation)


@dataclass(slots=True)
class PlanningSwitch:
    """Decides whether commands of this process may plan; `identity` and `zones` return their last checks."""

    identity: Callable[[], Awaitable[StoreIdentity]]
    zones: Callable[[], Awaitable[Zones]]
    is_on: bool = True

    async def permission(self) -> PlanningPermission:
        is_copy = bool((await self.identity()).copy_reason)
        return PlanningPermission(await self.zones(), self.is_on and not is_copy)


def actor_of(zones: Zones) -> str:
    """The actor of moved ticks: the time zone data."""
    return f"time zone data {zones.here.version}"


def detail_of(zones: Zones, moved: MovedSchedule) -> dict[str, Any]:
    """The audit-log detail of a cursor whose next_run_at moved."""
    before, after = (None if at is None else at.isoformat() for at in (moved.before, moved.after))
    return {"from": before, "to": after, "version": zones.here.version, "digest": zones.here.digest}


def is_adopted(here: ZoneData, records: Sequence[ZoneRecord], *, adopt: bool, by_hand: bool) -> bool:
    """Decide whether the store adopts these rules, given its earlier ones, newest first.

    It does not return to rules that it had before: otherwise workers with two versions would alternate, and each would
    undo the other's cursors.
    """
    if not records:
        return True
    if not adopt or records[0].digest == here.digest:
        return False
    return by_hand or (here.version >= records[0].version and all(here.digest != record.digest for record in records))
