"""One coming tick: skipped, moved, or with another payload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from tickbird.client.ticks import Ticks
from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.planning.commands.ticks import ClearOverride, Override
from tickbird.domain.planning.pending_ticks import PendingTicks
from tickbird.domain.planning.upcoming import overrides_of
from tickbird.domain.runs.run import Status
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.schedules.tick_overrides import OverrideRecord
from tickbird.domain.time.instants import iso, to_datetime, to_seconds


class Overrides(Ticks):
    """The verbs about one tick alone."""

    async def override(
        self,
        name: str,
        tick: datetime,
        *,
        actor: str,
        skip: bool = False,
        move_to: datetime | None = None,
        payload: Mapping[str, Any] | None = None,
        note: str = "",
        revision: int | None = None,
    ) -> OverrideRecord:
        """Decide for one coming tick: skip it, or make it due at another instant, give it another payload, or both.

        What was decided for that tick before is replaced.
        """
        if payload is not None:
            payload = await self._payload_for(name, payload)
        at, to = without_fraction(tick, "tick"), None if move_to is None else to_seconds(move_to)
        command = Override(actor=actor, revision=revision, tick=at, skip=skip, move_to=to, payload=payload, note=note)
        schedule = await self._change_tick(name, at, command)
        ahead = PendingTicks(schedule)
        made = ahead.override(at)
        assert made is not None
        return ahead.record(made)

    async def undo_override(
        self, name: str, tick: datetime, *, actor: str, note: str = "", revision: int | None = None
    ) -> Schedule:
        """Let a coming tick be as if nothing had been decided for it, by an override or by a reschedule."""
        at = without_fraction(tick, "tick")
        return await self._change_tick(name, at, ClearOverride(actor=actor, revision=revision, tick=at, note=note))

    async def overrides(self, name: str) -> Sequence[OverrideRecord]:
        """The coming ticks for which something was decided one by one, in order."""
        return overrides_of(await self._get(name))

    async def _change_tick(self, name: str, tick: int, command: Command) -> Schedule:
        try:
            return (await self._change(name, command)).schedule
        except (ConflictError, InvalidError) as error:
            # A tick of the past was decided, and whoever asks for it wants to know how.
            if (told := await self._what_became(name, tick)) is not None:
                raise told from error
            raise

    async def _what_became(self, name: str, tick: int) -> ConflictError | None:
        found = await self.tick_decisions(name, to_datetime(tick), to_datetime(tick))
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
