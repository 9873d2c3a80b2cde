"""What all changes to a schedule share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tickbird.domain.errors import ConflictError, NotFoundError
from tickbird.domain.planning.plan import Facts, Plan
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.schedule import Schedule, check_revision
from tickbird.domain.text import check_text

# A 32-bit number, as the stores keep it.
MAX_REVISION = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Change:
    """What a command does: the schedule as it stands afterwards, and the plan that takes it there."""

    action: str
    schedule: Schedule
    plan: Plan
    detail: Mapping[str, Any] = field(default_factory=dict)
    # A run alone, or a change to what is already so, leaves the schedule and its revision as they are.
    revised: bool = True
    # The definition of a run that repeats another one.
    repeated: Definition | None = None

    @property
    def definition(self) -> Definition | None:
        """The definition that the runs of the plan are created with."""
        return self.repeated or self.schedule.definition


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A change to one schedule; `revision`, when given, must still be the stored one."""

    actor: str
    revision: int | None = None

    def __post_init__(self) -> None:
        check_text(self.actor, "actor", minimum=1, maximum=200)
        check_text(getattr(self, "note", ""), "note")

    def apply(self, schedule: Schedule | None, name: str, facts: Facts, now: float) -> Change:
        """The change, or the reason why it cannot be made."""
        if schedule is None or schedule.state == "deleted":
            raise NotFoundError(f"there is no schedule {name!r};", hint="`tickbird ls` shows those that exist.")
        check_revision(schedule, self.revision)
        return self.change(schedule, facts, now)

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """The change to a schedule that exists."""
        raise NotImplementedError

    def calendars(self, schedule: Schedule | None) -> tuple[str, ...]:
        """The stored calendars that `apply` must know of."""
        return ()

    @property
    def ties(self) -> bool:
        """May it tie schedules together or part them? No two such changes are made at once."""
        return False

    def needs(self, schedule: Schedule | None) -> tuple[str, ...]:
        """The schedules on which this one will depend, where it may tie them together."""
        return ()


def revised(action: str, schedule: Schedule, plan: Plan, **detail: Any) -> Change:
    """A change that makes the next revision."""
    revision = schedule.revision + 1
    if revision > MAX_REVISION:
        raise ConflictError(
            f"schedule {schedule.name!r} has revision {schedule.revision:,}, the last one that can be stored;",
            hint="delete its row, and create it again under another name.",
        )
    after = replace(
        schedule, revision=revision, state=plan.state, cursor=plan.cursor, pause=plan.pause, error=plan.error
    )
    return Change(action, after, replace(plan, revision=revision), detail)


def unchanged(action: str, schedule: Schedule) -> Change:
    """A change to what is already so; it makes no revision."""
    same = Plan(schedule.cursor, schedule.state, schedule.revision, schedule.pause, schedule.error)
    return Change(action, schedule, same, revised=False)


def cancel_active_runs(plan: Plan, facts: Facts) -> Plan:
    """What has not started is cancelled, what runs is asked to stop."""
    return replace(
        plan,
        cancel=tuple(run.id for run in facts.active if run.status != "running"),
        stop=tuple(run.id for run in facts.active if run.status == "running"),
        clear=True,
    )
