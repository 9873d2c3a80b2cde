"""Bulk changes: the selected schedules, the changed ones, and the unchanged ones with the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from tickbird.domain.errors import CountChangedError, InvalidError
from tickbird.domain.planning.code_sync import is_removed
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import to_seconds

BulkVerb = Literal["pause", "resume", "trigger"]
CommandFactory = Callable[[Schedule], Command]
# Maximum of schedules per bulk change.
MAX_COUNT = 1_000


@dataclass(frozen=True, slots=True)
class NotChanged:
    """A schedule that matched but was not changed, and why."""

    schedule: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkResult:
    """The number of matching schedules, and the names of changed and unchanged ones."""

    verb: BulkVerb
    matched: int
    changed: Sequence[str]
    not_changed: Sequence[NotChanged] = ()
    # For `trigger`: the run of each changed schedule.
    runs: Mapping[str, int] = field(default_factory=dict)


def check_count(expected: int | None, matched: int) -> None:
    """Raise CountChangedError if the number of matches differs from `expected` by more than 10 %."""
    if expected is None:
        return
    if isinstance(expected, bool) or not isinstance(expected, int) or not 0 <= expected <= 2**31:
        raise InvalidError(f"expected: {str(expected)[:60]!r} is not a number of schedules.", field="expected")
    if abs(matched - expected) * 10 > expected:
        raise CountChangedError(
            f"{_counted(matched)}, not {expected:,}: the difference is more than 10 %, so nothing was changed.",
            hint="Check the list again, and repeat the change with the new number.",
        )


def _counted(matched: int) -> str:
    if matched > MAX_COUNT:
        return f"more than {MAX_COUNT:,} schedules match"
    return f"{matched:,} schedule{'' if matched == 1 else 's'} match{'es' if matched == 1 else ''}"


def too_many() -> InvalidError:
    """Return the error about too many matches."""
    return InvalidError(
        f"filter: more than {MAX_COUNT:,} schedules match, the maximum of one change.",
        field="filter",
        hint="Narrow it by contains, tag or state, and change the others afterwards.",
    )


def reason_not_changed(verb: BulkVerb, schedule: Schedule) -> str:
    """Return why a schedule is not changed; empty if it is."""
    pause = schedule.pause
    if verb == "pause" and pause is not None:
        return f"is already paused by {pause.by}"
    if verb == "resume" and pause is None:
        return f"is {schedule.state}, not paused"
    if verb == "resume" and is_removed(schedule):
        # A bulk resume must not resume schedules that their app has removed.
        return "is paused because it was removed from code; resume it by its name"
    return ""


def pause_command(*, actor: str, note: str, until: datetime | None = None, cancel_runs: bool = False) -> CommandFactory:
    end = None if until is None else to_seconds(until)
    return lambda schedule: Pause(
        actor=actor, revision=schedule.revision, note=note, until=end, cancel_runs=cancel_runs
    )


def resume_command(*, actor: str, note: str) -> CommandFactory:
    return lambda schedule: Resume(actor=actor, revision=schedule.revision, note=note)


def trigger_command(*, actor: str, key: Callable[[str], str | None] = lambda name: None) -> CommandFactory:
    """Create Trigger commands; `key` returns the idempotency key for the name of a schedule."""
    return lambda schedule: Trigger(actor=actor, idempotency_key=key(schedule.name))
