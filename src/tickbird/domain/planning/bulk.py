"""One change to many schedules at once: which they are, what was changed, and what was left alone and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

from tickbird.domain.errors import CountChangedError, InvalidError
from tickbird.domain.planning.code_sync import is_removed
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.schedules.schedule import Schedule, State
from tickbird.domain.text import check_text
from tickbird.domain.time.instants import to_seconds

BulkVerb = Literal["pause", "resume", "trigger"]
CommandFactory = Callable[[Schedule], Command]
# More schedules than this are not changed at once.
MAX_COUNT = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkFilter:
    """Which schedules: those whose name contains a text, with a tag, in a state; all that is said must hold."""

    contains: str = ""
    tag: str | None = None
    state: State | None = None

    def __post_init__(self) -> None:
        check_text(self.contains, "contains")
        check_text(self.tag or "", "tag")
        choices = [state for state in get_args(State) if state != "deleted"]
        if self.state is not None and self.state not in choices:
            raise InvalidError(f"state: {str(self.state)[:60]!r} is not one of {', '.join(choices)}.", field="state")


@dataclass(frozen=True, slots=True)
class NotChanged:
    """A schedule that matched and was not changed, and why."""

    schedule: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkResult:
    """How many schedules matched, which of them were changed, and which were left alone; by name."""

    verb: BulkVerb
    matched: int
    changed: Sequence[str]
    not_changed: Sequence[NotChanged] = ()
    # Of a trigger: the run of each schedule that was changed.
    runs: Mapping[str, int] = field(default_factory=dict)


def check_count(expected: int | None, found: int) -> None:
    """Refuse where so many match that it cannot be what was seen: a difference of more than a tenth of that."""
    if expected is None:
        return
    if isinstance(expected, bool) or not isinstance(expected, int) or not 0 <= expected <= 2**31:
        raise InvalidError(f"expected: {str(expected)[:60]!r} is not a number of schedules.", field="expected")
    if abs(found - expected) * 10 > expected:
        raise CountChangedError(
            f"{_counted(found)}, not {expected:,}: that is more than 10 % off, so nothing was changed;",
            hint="look again, and repeat it with the new number.",
        )


def _counted(found: int) -> str:
    if found > MAX_COUNT:
        return f"more than {MAX_COUNT:,} schedules match"
    return f"{found:,} schedule{'' if found == 1 else 's'} match{'es' if found == 1 else ''}"


def too_many() -> InvalidError:
    """More match than are changed at once."""
    return InvalidError(
        f"filter: more than {MAX_COUNT:,} schedules match, and no more are changed at once;",
        field="filter",
        hint="narrow it by contains, tag or state, and go on with the rest.",
    )


def reason_not_changed(verb: BulkVerb, schedule: Schedule) -> str:
    """Why a schedule is not changed with the others; empty where it is."""
    pause = schedule.pause
    if verb == "pause" and pause is not None:
        return f"is paused already, by {pause.by}"
    if verb == "resume" and pause is None:
        return f"is {schedule.state}, not paused"
    if verb == "resume" and is_removed(schedule):
        # Whoever resumes many does not mean what its app has given up.
        return "is paused since its code no longer has it; resume it by its name"
    return ""


def pause_command(*, actor: str, note: str, until: datetime | None = None, cancel_runs: bool = False) -> CommandFactory:
    end = None if until is None else to_seconds(until)
    return lambda schedule: Pause(
        actor=actor, revision=schedule.revision, note=note, until=end, cancel_runs=cancel_runs
    )


def resume_command(*, actor: str, note: str) -> CommandFactory:
    return lambda schedule: Resume(actor=actor, revision=schedule.revision, note=note)


def trigger_command(*, actor: str, key: Callable[[str], str | None] = lambda name: None) -> CommandFactory:
    """`key` returns the idempotency key for a schedule's name."""
    return lambda schedule: Trigger(actor=actor, idempotency_key=key(schedule.name))
