"""Which definitions a deploy may write: code against store, with old and new workers alive at once."""

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
    seen: Set[str]


def reconcile(
    namespace: str,
    app: str,
    declared: Mapping[str, Definition],
    stored: Mapping[str, AppSchedule],
    live: Mapping[str, Set[str]],
    *,
    adopt: bool = False,
) -> list[tuple[str, Command]]:
    """The commands that bring the store to what is declared; `live` is what other live workers of the app declare.

    With `adopt`, schedules that a person or a file without an app made become the app's.
    """
    # Each command holds only for the revision that was read: whatever another worker or a person did since comes first.
    commands: list[tuple[str, Command]] = []
    # What others depend on comes before them.
    needs = {name: [each.schedule for each in definition.depends_on] for name, definition in declared.items()}
    for name in topological_order(needs):
        definition = declared[name]
        mark = fingerprint(definition)
        known = stored.get(name)
        if known is None or known.schedule.state == "deleted":
            create = Create(actor=SYNC_ACTOR, namespace=namespace, definition=definition, app=app, fingerprint=mark)
            commands.append((name, create))
            continue
        schedule, revision = known.schedule, known.schedule.revision
        adoptable = schedule.app in (None, FILES_APP)
        if schedule.app != app and not (adopt and adoptable):
            owner = f"app {schedule.app!r}" if schedule.app else "a person, not code"
            raise ConflictError(
                f"schedule {name!r} was defined by {owner}; app {app!r} cannot define it too.",
                hint="Rename one of them, or delete the stored one"
                + (", or take it over with `tickbird sync --adopt`." if adoptable else "."),
            )
        if schedule.app != app or _wins(mark, schedule.fingerprint, known.seen, live.get(name, frozenset())):
            redefine = SyncFromCode(
                actor=SYNC_ACTOR, revision=revision, definition=definition, app=app, fingerprint=mark
            )
            commands.append((name, redefine))
            revision += 1
        if is_removed(schedule):
            commands.append((name, Resume(actor=SYNC_ACTOR, revision=revision, note="declared by code again")))
    for name, known in stored.items():
        gone = name not in declared and name not in live and known.schedule.app == app
        if gone and known.schedule.state == "active":
            commands.append((name, removed_from_code(known.schedule.revision)))
    return commands


def is_removed(schedule: Schedule) -> bool:
    """Is it paused only because its code went away?"""
    return schedule.pause is not None and (schedule.pause.by, schedule.pause.note) == (SYNC_ACTOR, REMOVED_FROM_CODE)


def _wins(declared: str, stored: str | None, seen: Set[str], live: Set[str]) -> bool:
    """One never seen before wins; one seen before only when no live worker declares the stored one: a rollback."""
    if declared == stored:
        return False
    return declared not in seen or stored not in live
