"""Code sync: which definitions a deploy may write while old and new workers are live."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from tickbird.domain.errors import ConflictError
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.planning.commands.define import Create, SyncFromCode
from tickbird.domain.planning.commands.pause import Resume, removed_from_code
from tickbird.domain.schedules.codec import fingerprint
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.dependencies import topological_order
from tickbird.domain.schedules.schedule import FILES_APP, REMOVED_FROM_CODE, SYNC_ACTOR, Schedule


@dataclass(frozen=True, slots=True)
class AppSchedule:
    """A schedule with every fingerprint that code has ever declared for it."""

    schedule: Schedule
    fingerprints: Set[str]


def reconcile(
    namespace: str,
    app: str,
    declared: Mapping[str, Definition],
    stored: Mapping[str, AppSchedule],
    live: Mapping[str, Set[str]],
    *,
    adopt: bool = False,
) -> list[tuple[str, Command]]:
    """Return the commands that update the store to `declared`; `live` has the fingerprints of other live workers.

    With `adopt`, schedules that were created by a person or by a file without an app become the app's.
    """
    # Each command has the revision that was read, so a later change by a person or another worker wins.
    commands: list[tuple[str, Command]] = []
    # Dependencies come first.
    dependencies = {name: [item.schedule for item in definition.depends_on] for name, definition in declared.items()}
    for name in topological_order(dependencies):
        definition = declared[name]
        declared_fingerprint = fingerprint(definition)
        app_schedule = stored.get(name)
        if app_schedule is None or app_schedule.schedule.state == "deleted":
            create = Create(
                actor=SYNC_ACTOR,
                namespace=namespace,
                definition=definition,
                app=app,
                fingerprint=declared_fingerprint,
            )
            commands.append((name, create))
            continue
        schedule, revision = app_schedule.schedule, app_schedule.schedule.revision
        adoptable = schedule.app in (None, FILES_APP)
        if schedule.app != app and not (adopt and adoptable):
            owner = f"app {schedule.app!r}" if schedule.app else "a person, not code"
            raise ConflictError(
                f"schedule {name!r} was defined by {owner}. App {app!r} cannot define it too.",
                hint="Rename one of them, or delete the stored one"
                + (", or take it over with `tickbird sync --adopt`." if adoptable else "."),
            )
        if schedule.app != app or _wins(
            declared_fingerprint, schedule.fingerprint, app_schedule.fingerprints, live.get(name, frozenset())
        ):
            redefine = SyncFromCode(
                actor=SYNC_ACTOR,
                revision=revision,
                definition=definition,
                app=app,
                fingerprint=declared_fingerprint,
            )
            commands.append((name, redefine))
            revision += 1
        if is_removed(schedule):
            commands.append((name, Resume(actor=SYNC_ACTOR, revision=revision, note="declared by code again")))
    for name, app_schedule in stored.items():
        removed = name not in declared and name not in live and app_schedule.schedule.app == app
        if removed and app_schedule.schedule.state == "active":
            commands.append((name, removed_from_code(app_schedule.schedule.revision)))
    return commands


def is_removed(schedule: Schedule) -> bool:
    """Return whether it is paused only because it was removed from code."""
    return schedule.pause is not None and (schedule.pause.by, schedule.pause.note) == (SYNC_ACTOR, REMOVED_FROM_CODE)


def _wins(declared: str, stored: str | None, earlier: Set[str], live: Set[str]) -> bool:
    """Return whether a declared fingerprint wins: a new one always, an earlier one only in a rollback."""
    if declared == stored:
        return False
    return declared not in earlier or stored not in live
