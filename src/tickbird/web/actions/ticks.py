"""Future ticks: reschedule the next one, skip some, or override a single one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar, Final

from starlette.responses import Response

from tickbird.domain.errors import InvalidError
from tickbird.domain.planning.commands.ticks import MAX_SKIPPED
from tickbird.domain.planning.upcoming import UpcomingTick, overrides_of, upcoming_ticks
from tickbird.domain.schedules.tick_overrides import OverrideRecord
from tickbird.domain.time.instants import parse_iso, utc_text
from tickbird.web.actions.base import Action, routes_of
from tickbird.web.forms.instants import local_value

_SHOWN: Final = 5


class Reschedule(Action):
    """Moves the next tick to another instant."""

    template = "actions/reschedule.html"
    title = "Reschedule"
    fields = ("note", "to", "to_at")
    instants: ClassVar = {"to_at": "to"}
    defaults: ClassVar = {"to": "now"}

    async def do(self) -> Response:
        to = self.instant("to_at", choice="to")
        if to is None:
            raise InvalidError("Choose a time.", field="to")
        await self.visit.client.schedules.reschedule(
            self.schedule.name, to, actor=self.visit.actor, note=self.note, revision=self.base_revision
        )
        when = self.visit.clock.both(to, self.own_zone)
        return self.visit.done(self.back, f"The next tick of {self.schedule.name} is due at {when}.")

    def command(self) -> Sequence[str]:
        to = self.cli_instant("to_at", choice="to")
        return self.line("reschedule", to or "INSTANT", options=self.cli_note())

    async def context(self) -> dict[str, Any]:
        return {"ticks": _next(self)}


class Skip(Action):
    """Skips the next tick, a number of ticks, or all before an instant."""

    template = "actions/skip.html"
    title = "Skip"
    fields = ("note", "which", "count", "until_at")
    instants: ClassVar = {"until_at": ""}
    defaults: ClassVar = {"which": "next"}

    async def do(self) -> Response:
        which, count, until = self.typed("which"), None, None
        if which == "count":
            count = self.number("count", "Number of ticks", maximum=MAX_SKIPPED)
            if count is None:
                raise InvalidError("Enter a number.", field="count")
        elif which == "until":
            until = self.picked("until_at").at
        elif which != "next":
            raise InvalidError("Choose one of the options.", field="which")
        after = await self.visit.client.schedules.skip(
            self.schedule.name, count, actor=self.visit.actor, until=until, note=self.note, revision=self.base_revision
        )
        on = next((tick for tick in upcoming_ticks(after, self.visit.clock.now, 1_000) if tick.skipped is None), None)
        again = "" if on is None else f"; the next run is at {self.visit.clock.text(on.due_at, self.own_zone)}"
        return self.visit.done(self.back, f"The next ticks of {self.schedule.name} are skipped{again}.")

    def command(self) -> Sequence[str]:
        options: list[str] = []
        if self.typed("which") == "count":
            options = ["--count", self.typed("count").strip() or "N"]
        elif self.typed("which") == "until":
            options = ["--until", self._until() or "INSTANT"]
        return self.line("skip", options=[*options, *self.cli_note()])

    def _until(self) -> str | None:
        try:
            return utc_text(self.picked("until_at").at)
        except InvalidError:
            return None

    async def context(self) -> dict[str, Any]:
        return {"ticks": _next(self)}


class Override(Action):
    """Overrides a single tick: skip, move or another payload; or removes the override."""

    template = "actions/override.html"
    title = "Override a tick"
    fields = ("note", "tick", "what", "move_at", "payload")
    instants: ClassVar = {"move_at": ""}

    @property
    def tick(self) -> datetime:
        """The tick from the query string; an InvalidError without a time zone."""
        # The form is sent to the URL with the tick.
        tick = parse_iso(self.visit.query.get("tick", ""), "tick")
        if tick.tzinfo is None:
            raise InvalidError("The tick has no time zone.", field="tick", hint="Open this page from its schedule.")
        return tick

    @property
    def current(self) -> OverrideRecord | None:
        """The current override of the tick."""
        return next((override for override in overrides_of(self.schedule) if override.scheduled_for == self.tick), None)

    @property
    def _before(self) -> str:
        """The current override as a choice of the form; `skip` if there is none."""
        override = self.current
        return "skip" if override is None or override.skip else "move" if override.moved else "payload"

    async def do(self) -> Response:
        name, tick, client = self.schedule.name, self.tick, self.visit.client
        when = self.visit.clock.text(tick, self.own_zone)
        if "undo" in self.visit.form:
            await client.overrides.undo(name, tick, actor=self.visit.actor, note=self.note, revision=self.base_revision)
            return self.visit.done(self.back, f"The override of the tick of {when} is removed.")
        what = self.typed("what")
        payload = self.payload() if what != "skip" else None
        if what not in ("skip", "move", "payload"):
            raise InvalidError("Choose what to do with the tick.", field="what")
        if what == "payload" and payload is None:
            raise InvalidError("Enter a payload.", field="payload")
        await client.overrides.put(
            name,
            tick,
            actor=self.visit.actor,
            skip=what == "skip",
            move_to=self.picked("move_at").at if what == "move" else None,
            payload=payload,
            note=self.note,
            revision=self.base_revision,
        )
        done = {"skip": "will be skipped", "move": "is moved", "payload": "has its own payload"}[what]
        return self.visit.done(self.back, f"The tick of {when} {done}.")

    def command(self) -> Sequence[str]:
        options, what = [*self.cli_note()], self.typed("what", self._before)
        if what == "skip":
            options = ["--skip", *options]
        if what == "move":
            options = ["--move-to", self._move() or "INSTANT", *options]
        if what != "skip" and (payload := self.typed("payload").strip()):
            options = ["--payload", payload, *options]
        return self.line("override", utc_text(self.tick) or "", options=options)

    def _move(self) -> str | None:
        if not self.sent and self.current is not None:
            return utc_text(self.current.due_at)
        try:
            return utc_text(self.picked("move_at").at)
        except InvalidError:
            return None

    async def context(self) -> dict[str, Any]:
        override = self.current
        payload = override.payload if override is not None else None
        return {
            "tick": self.tick,
            "override": override,
            "before": self._before,
            "payload": "" if payload is None else json.dumps(payload, indent=2, ensure_ascii=False),
            "move_at": local_value(override.due_at if override is not None else self.tick, self.zones[0]),
        }


def _next(action: Action) -> Sequence[UpcomingTick]:
    return upcoming_ticks(action.schedule, action.visit.clock.now, _SHOWN)


ROUTES: Final = (
    *routes_of("/reschedule", Reschedule, "operator"),
    *routes_of("/skip", Skip, "operator"),
    *routes_of("/override", Override, "operator"),
)
