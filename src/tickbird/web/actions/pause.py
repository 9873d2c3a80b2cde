"""Pause and resume."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from starlette.responses import Response

from tickbird.domain.errors import InvalidError
from tickbird.domain.time.instants import to_datetime
from tickbird.web.actions.base import Action, routes_of
from tickbird.web.actions.form_input import TOMORROW_HOUR


class Pause(Action):
    """Pauses a schedule, with a reason and an optional end."""

    template = "actions/pause.html"
    title = "Pause"
    fields = ("note", "until", "until_at")
    instants: ClassVar = {"until_at": "until"}

    async def do(self) -> Response:
        if not self.note:
            raise InvalidError("Enter a reason for the people on call.", field="note")
        until = self.instant("until_at", choice="until")
        if until is not None and until <= self.visit.clock.now:
            raise InvalidError("Choose a future time.", field="until_at")
        await self.visit.client.schedules.pause(
            self.schedule.name,
            actor=self.visit.actor,
            note=self.note,
            until=until,
            revision=self.base_revision,
            cancel_runs=self.is_on("cancel_runs"),
        )
        end = "" if until is None else f" until {self.visit.clock.both(until, self.own_zone)}"
        return self.visit.done(self.back, f"{self.schedule.name} is paused{end}.")

    def command(self) -> Sequence[str]:
        until = self.cli_instant("until_at", choice="until")
        options = [*self.cli_note(required=True), *(["--until", until] if until else [])]
        return self.line("pause", options=[*options, *(["--cancel-runs"] if self.is_on("cancel_runs") else [])])

    async def context(self) -> dict[str, Any]:
        active = await self.visit.client.runs.list_active(self.schedule.name)
        return {"active": len(active), "tomorrow": f"tomorrow {TOMORROW_HOUR:02d}:00"}


class Resume(Action):
    """Resumes a paused or parked schedule."""

    template = "actions/resume.html"
    title = "Resume"

    async def do(self) -> Response:
        name = self.schedule.name
        after = await self.visit.client.schedules.resume(
            name, actor=self.visit.actor, note=self.note, revision=self.base_revision
        )
        next_at = after.next_run_at
        coming = f"; next at {self.visit.clock.text(next_at, self.own_zone)}" if next_at else ""
        return self.visit.done(self.back, f"{name} is resumed{coming}.")

    def command(self) -> Sequence[str]:
        return self.line("resume", options=self.cli_note())

    async def context(self) -> dict[str, Any]:
        pause = self.schedule.pause
        return {"until": to_datetime(pause.until) if pause is not None and pause.until is not None else None}


ROUTES: Final = (*routes_of("/pause", Pause, "operator"), *routes_of("/resume", Resume, "operator"))
