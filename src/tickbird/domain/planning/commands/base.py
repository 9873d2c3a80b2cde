"""Base class of commands: a command changes one schedule."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tickbird.domain.errors import ConflictError, NotFoundError
from tickbird.domain.planning.plan import Facts, Plan
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.schedule import Schedule, check_revision
from tickbird.domain.text import check_text

# The stores use 32-bit numbers.
MAX_REVISION = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Change:
    """The result of a command: the schedule after it, and the plan to write."""

    action: str
    schedule: Schedule
    plan: Plan
    detail: Mapping[str, Any] = field(default_factory=dict)
    # False if the command only creates a run, or changes nothing.
    makes_revision: bool = True
    # For a retry: the definition of the run that is retried.
    retried_definition: Definition | None = None

    @property
    def definition(self) -> Definition | None:
        """The definition with which the runs of the plan are created."""
        return self.retried_definition or self.schedule.definition


@dataclass(frozen=True, slots=True, kw_only=True)
class Command(ABC):
    """A change to one schedule; `revision`, if given, must be the stored one."""

    actor: str
    revision: int | None = None

    def __post_init__(self) -> None:
        check_text(self.actor, "actor", minimum=1, maximum=200)
        check_text(getattr(self, "note", ""), "note")

    def apply(self, schedule: Schedule | None, name: str, facts: Facts, now: float) -> Change:
        """Check the existence and the revision of the schedule, then change it."""
        if schedule is None or schedule.state == "deleted":
            raise NotFoundError(f"there is no schedule {name!r}.", hint="`tickbird ls` lists the schedules.")
        check_revision(schedule, self.revision)
        return self.change(schedule, facts, now)

    @abstractmethod
    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Change an existing schedule."""

    @property
    def stated_fields(self) -> Mapping[str, Any]:
        """The fields of the definition that the command sets, as JSON."""
        return {}

    def calendars_after(self, schedule: Schedule | None) -> tuple[str, ...]:
        """Return the calendars of the schedule after the command; `apply` needs them in its facts."""
        return ()

    @property
    def changes_dependencies(self) -> bool:
        """Whether it may change dependencies. Only one such command runs at a time."""
        return False

    def dependencies_after(self, schedule: Schedule | None) -> tuple[str, ...]:
        """Return the dependencies after the command, if the command changes them."""
        return ()


def new_revision(action: str, schedule: Schedule, plan: Plan, **detail: Any) -> Change:
    """Return a change with the next revision."""
    revision = schedule.revision + 1
    if revision > MAX_REVISION:
        raise ConflictError(
            f"schedule {schedule.name!r} has revision {schedule.revision:,}, the highest possible one.",
            hint="Create a schedule with another name instead.",
        )
    after = replace(
        schedule, revision=revision, state=plan.state, cursor=plan.cursor, pause=plan.pause, error=plan.error
    )
    return Change(action, after, replace(plan, revision=revision), detail)


def unchanged(action: str, schedule: Schedule) -> Change:
    """Return a change without effect, which creates no revision."""
    same = Plan(schedule.cursor, schedule.state, schedule.revision, schedule.pause, schedule.error)
    return Change(action, schedule, same, makes_revision=False)


def cancel_active_runs(plan: Plan, facts: Facts) -> Plan:
    """Cancel the active runs that have not started, and stop the running ones."""
    return replace(
        plan,
        cancel=tuple(run.id for run in facts.active if run.status != "running"),
        stop=tuple(run.id for run in facts.active if run.status == "running"),
        clear=True,
    )
