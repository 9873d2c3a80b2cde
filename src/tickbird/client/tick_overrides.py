"""Overrides of single upcoming ticks: skip, move, or another payload."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from tickbird.client.base import ClientBase
from tickbird.client.parameters import Note, Payload, ScheduleName
from tickbird.client.responses import schedule_change, schedule_name
from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.domain.ledger.decisions import decided_error
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.planning.commands.ticks import ClearOverride, Override
from tickbird.domain.planning.pending_ticks import PendingTicks
from tickbird.domain.planning.upcoming import overrides_of
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.schedules.tick_overrides import OverrideRecord
from tickbird.domain.time.instants import to_datetime, to_exact_seconds, to_seconds
from tickbird.wire.operations import operator, viewer
from tickbird.wire.parameters import Meta

Tick = Annotated[
    datetime,
    Meta(description="The instant of an upcoming tick, with a zone.", check=lambda at: to_exact_seconds(at, "tick")),
]


class Overrides(ClientBase):
    """Overrides of single upcoming ticks."""

    @viewer.get("list_overrides", "/schedules/{name}/overrides", "List overrides")
    async def list(self, name: ScheduleName) -> Sequence[OverrideRecord]:
        """List the upcoming ticks that are skipped, moved or have another payload, in order."""
        return overrides_of(await self._get(name))

    @operator.put(
        "put_override",
        "/schedules/{name}/overrides/{tick}",
        "Override a tick",
        audit="override",
        envelope="override",
        extras={"schedule": schedule_name},
    )
    async def put(
        self,
        name: ScheduleName,
        tick: Tick,
        *,
        actor: str,
        skip: bool = False,
        move_to: datetime | None = None,
        payload: Payload = None,
        note: Note = "",
        revision: int | None = None,
    ) -> OverrideRecord:
        """Skip one upcoming tick, or move it to another instant, or give it another payload, or both.

        It replaces an earlier decision for that tick. 409 if the tick is decided already.
        """
        if payload is not None:
            payload = await self._payload_for(name, payload)
        at, to = to_exact_seconds(tick, "tick"), None if move_to is None else to_seconds(move_to)
        command = Override(actor=actor, revision=revision, tick=at, skip=skip, move_to=to, payload=payload, note=note)
        schedule = await self._change_tick(name, at, command)
        pending = PendingTicks(schedule)
        override = pending.override(at)
        assert override is not None
        return pending.record(override)

    @operator.delete(
        "undo_override",
        "/schedules/{name}/overrides/{tick}",
        "Undo an override",
        **schedule_change("undo_override"),
    )
    async def undo(
        self, name: ScheduleName, tick: Tick, *, actor: str, note: Note = "", revision: int | None = None
    ) -> Schedule:
        """Undo the override or the reschedule of an upcoming tick."""
        at = to_exact_seconds(tick, "tick")
        return await self._change_tick(name, at, ClearOverride(actor=actor, revision=revision, tick=at, note=note))

    async def _change_tick(self, name: str, tick: int, command: Command) -> Schedule:
        try:
            return (await self._change(name, command)).schedule
        except (ConflictError, InvalidError) as error:
            at, schedule = to_datetime(tick), await self._find(name)
            decisions = await self._store.ledger.tick_decisions(schedule.id, at, at)
            if (decided := decided_error(schedule, tick, decisions)) is not None:
                raise decided from error
            raise
