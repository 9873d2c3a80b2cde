"""Zone data, for every store: which of two versions wins, and who may plan."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tickbird.domain.store_identity import StoreIdentity
from tickbird.domain.time.zone_data import MovedSchedule, ZoneData, ZoneRecord, Zones

# What a store goes by before it has compared: it plans nothing outside of UTC.
UNKNOWN: Final = Zones(ZoneData("", ""), None)
# Versions of the past that a new one is compared with.
MAX_RECORDS: Final = 1_000


@dataclass(frozen=True, slots=True)
class PlanningPermission:
    """May a command plan what is due before it changes a schedule?"""

    zones: Zones
    # Not in a copy, and not where planning is switched off.
    anything: bool

    def plan(self, mark: int | None) -> bool:
        """A schedule whose cursor has this mark; one by other zone rules is for the planners who have them."""
        return self.anything and mark in (None, self.zones.generation)


@dataclass(slots=True)
class PlanningSwitch:
    """Whether commands of this process may plan; `identity` and `zones` give the last results of their checks."""

    identity: Callable[[], Awaitable[StoreIdentity]]
    zones: Callable[[], Awaitable[Zones]]
    is_on: bool = True

    async def permission(self) -> PlanningPermission:
        """What a command may plan; nothing in a copy."""
        is_copy = bool((await self.identity()).copy_reason)
        return PlanningPermission(await self.zones(), self.is_on and not is_copy)


def actor_of(zones: Zones) -> str:
    """Who moved ticks: the rules."""
    return f"zone data {zones.here.version}"


def detail_of(zones: Zones, moved: MovedSchedule) -> dict[str, Any]:
    """The audit-log detail of a cursor whose next_run_at moved."""
    before, after = (None if at is None else at.isoformat() for at in (moved.before, moved.after))
    return {"from": before, "to": after, "version": zones.here.version, "digest": zones.here.digest}


def is_adopted(here: ZoneData, known: Sequence[ZoneRecord], *, adopt: bool, by_hand: bool) -> bool:
    """Does the store take these rules over, given those it has had, newest first?

    Rules that it once had and left do not come back by themselves: else workers with two kinds of them would take
    turns, each undoing what the other computed.
    """
    if not known:
        return True
    if not adopt or known[0].digest == here.digest:
        return False
    return by_hand or (here.version >= known[0].version and all(here.digest != record.digest for record in known))
