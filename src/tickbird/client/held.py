"""Runs that are held after an outage until an operator releases or drops them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from tickbird.client.base import ClientBase
from tickbird.client.parameters import Note, ScheduleName
from tickbird.client.responses import schedule_name
from tickbird.domain.runs.held import MAX_COUNT, Drop, HeldSchedule, Release
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.text import check_text
from tickbird.wire.operations import operator, viewer
from tickbird.wire.parameters import Meta

Count = Annotated[int | None, Meta(ge=1, le=MAX_COUNT)]
PerMinute = Annotated[int | None, Meta(ge=1, le=MAX_COUNT)]


async def _left(client: Any, _: int, arguments: Mapping[str, Any]) -> int:
    return sum(held.count for held in await client.held.list(arguments["name"]))


_EXTRAS: Final = {"schedule": schedule_name, "held": _left}


class Held(ClientBase):
    """Runs that are held after an outage."""

    @viewer.get(
        "list_held_schedules",
        "/held",
        "List schedules with held runs",
        page=lambda held: held.schedule,
        keys={"name": "schedule"},
    )
    async def list(
        self, name: Annotated[str | None, Meta(max_length=200, description="Only this schedule.")] = None
    ) -> Sequence[HeldSchedule]:
        """List the schedules that have held runs, by name; an operator releases or drops the runs."""
        if name is not None:
            await self._find(name)
        return await self._store.held.list_schedules(self._namespace, schedule=name)

    @viewer.get("list_held_runs", "/schedules/{name}/held", "List the held runs of a schedule", page=lambda run: run.id)
    async def list_runs(self, name: ScheduleName, *, after: int = 0, limit: int = 100) -> Sequence[RunRecord]:
        """List the held runs of a schedule, oldest first."""
        await self._find(name)
        return await self._store.held.list_runs(self._namespace, name, after=after, limit=limit)

    @operator.post(
        "release_held",
        "/schedules/{name}/held/release",
        "Release held runs",
        audit="release",
        envelope="released",
        extras=_EXTRAS,
    )
    async def release(
        self, name: ScheduleName, *, actor: str, count: Count = None, per_minute: PerMinute = None, note: Note = ""
    ) -> int:
        """Release the oldest held runs of a schedule, or all of them, at most `per_minute`; 409 if none is held.

        Returns how many were released.
        """
        decision = Release(actor=actor, count=count, per_minute=per_minute, note=note)
        return await self._store.held.resolve(self._namespace, check_text(name, "schedule"), decision)

    @operator.post(
        "drop_held",
        "/schedules/{name}/held/drop",
        "Drop held runs",
        audit="drop",
        envelope="dropped",
        extras=_EXTRAS,
    )
    async def drop(self, name: ScheduleName, *, actor: str, count: Count = None, note: Note = "") -> int:
        """Cancel the oldest held runs of a schedule, or all of them; 409 if none is held. Returns how many."""
        decision = Drop(actor=actor, count=count, note=note)
        return await self._store.held.resolve(self._namespace, check_text(name, "schedule"), decision)
