"""Overrides of single upcoming ticks: skip, move, or another payload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

from tickbird.client.base import ClientBase
from tickbird.client.parameters import Note, Payload, ScheduleName
from tickbird.client.warnings import schedule_warnings
from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.planning.commands.ticks import ClearOverride, Override
from tickbird.domain.planning.pending_ticks import PendingTicks
from tickbird.domain.planning.upcoming import overrides_of
from tickbird.domain.runs.run import Status
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.schedules.tick_overrides import OverrideRecord
from tickbird.domain.time.instants import iso, to_datetime, to_seconds
from tickbird.wire.operations import operator, viewer
from tickbird.wire.parameters import Meta


async def _name(_: Any, __: OverrideRecord, arguments: Mapping[str, Any]) -> str:
    return str(arguments["name"])


Tick = Annotated[
    datetime,
    Meta(description="The instant of an upcoming tick, with a zone.", check=lambda at: without_fraction(at, "tick")),
]


class Overrides(ClientBase):
    """`client.overrides`: decisions for single upcoming ticks."""

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
        extras={"schedule": _name},
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
        at, to = without_fraction(tick, "tick"), None if move_to is None else to_seconds(move_to)
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
        audit="undo_override",
        envelope="schedule",
        extras={"warnings": schedule_warnings},
        etag=lambda schedule: schedule.revision,
    )
    async def undo(
        self, name: ScheduleName, tick: Tick, *, actor: str, note: Note = "", revision: int | None = None
    ) -> Schedule:
        """Undo the override or the reschedule of an upcoming tick."""
        at = without_fraction(tick, "tick")
        return await self._change_tick(name, at, ClearOverride(actor=actor, revision=revision, tick=at, note=note))

    async def _change_tick(self, name: str, tick: int, command: Command) -> Schedule:
        try:
            return (await self._change(name, command)).schedule
        except (ConflictError, InvalidError) as error:
            # A tick of the past was decided, and whoever asks for it wants to know how.
            if (told := await self._what_became(name, tick)) is not None:
                raise told from error
            raise

    async def _what_became(self, name: str, tick: int) -> ConflictError | None:
        at = to_datetime(tick)
        found = await self._store.ledger.tick_decisions((await self._find(name)).id, at, at)
        hint = f"only ticks to come can be overridden; `tickbird why {name} {iso(tick)}` tells more."
        for run in found.runs:
            if run.scheduled_for == to_datetime(tick):
                return ConflictError(
                    f"the tick of {iso(tick)} is decided already: run {run.id} of it {_status_phrase(run.status)};",
                    hint=hint,
                )
        for each in found.skips:
            schedule = await self._get(name)
            if each.first <= to_datetime(tick) <= each.last and schedule.definition is not None:
                if not schedule.grid.contains(tick):
                    continue
                by = f" by {each.actor}" if each.actor else ""
                noted = f" ({each.note})" if each.note else ""
                return ConflictError(
                    f"the tick of {iso(tick)} is decided already: it was skipped{by} for {each.reason}{noted};",
                    hint=hint,
                )
        return None


def _status_phrase(status: Status) -> str:
    return status if status in ("succeeded", "failed") else f"{'was' if status == 'cancelled' else 'is'} {status}"


def without_fraction(at: datetime, field: str) -> int:
    """The instant of a tick, which has no parts of a second."""
    second = to_seconds(at)
    if to_datetime(second) != at:
        raise InvalidError(f"{field}: {at.isoformat()} is not a whole second, as ticks are.", field=field)
    return second
