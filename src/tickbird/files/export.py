"""Exports: the app of a document, the state of its schedules, and notes on them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable

from tickbird.domain.errors import InvalidError, NotFoundError
from tickbird.domain.schedules.schedule import Schedule
from tickbird.files.schedule_state import NO_STATE, ExportedState


def choose_app(owners: Collection[str | None], app: str | None) -> str | None:
    """The requested app, or the only owner; None: schedules that a person created."""
    if app is None:
        if len(owners) > 1:
            names = ", ".join(sorted("a person" if owner is None else owner for owner in owners))
            raise InvalidError(
                f"app: the schedules have several owners: {names}.",
                field="app",
                hint="Name the app, or export everything.",
            )
        return next(iter(owners), None)
    if app not in owners:
        others = ", ".join(sorted(owner for owner in owners if owner is not None))
        raise NotFoundError(
            f"there is no schedule of app {app!r}.",
            hint=f"These apps have schedules: {others}." if others else "`tickbird ls` lists all schedules.",
        )
    return app


def exported_states(schedules: Iterable[Schedule], app: str) -> dict[str, ExportedState]:
    """Owner, overrides and pause by schedule, without schedules that have none of them."""
    states = {
        schedule.name: ExportedState(
            app=None if schedule.app == app else schedule.app,
            overrides=dict(schedule.field_overrides),
            pause=schedule.pause,
        )
        for schedule in schedules
    }
    return {name: state for name, state in states.items() if state != NO_STATE}


def operator_notes(schedule: Schedule, app: str) -> list[str]:
    """Notes on the owner, the overrides and the pause of a schedule in a document of `app`."""
    notes = []
    if schedule.app != app:
        notes.append("created by a person" if schedule.app is None else f"of app {schedule.app}")
    notes += [f"{field} = {json.dumps(value)}: set by an operator" for field, value in schedule.field_overrides.items()]
    if schedule.pause is not None:
        notes.append(f"paused by {schedule.pause.by}: {schedule.pause.note}".rstrip(": "))
    return notes
