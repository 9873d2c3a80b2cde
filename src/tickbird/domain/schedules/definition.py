"""Definition of a schedule: a trigger, a target and the policies between them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from tickbird.domain.calendars.calendar import BUILT_IN, Calendar, ClosedDays, merge
from tickbird.domain.errors import DefinitionError
from tickbird.domain.limits.concurrency import key_for
from tickbird.domain.schedules.backoff import Backoff as Backoff
from tickbird.domain.schedules.fields import POLICIES, Policies
from tickbird.domain.schedules.grid import TickGrid
from tickbird.domain.schedules.kinds.kind import refuse
from tickbird.domain.schedules.payload import MAX_PAYLOAD as MAX_PAYLOAD
from tickbird.domain.schedules.payload import check_payload as check_payload
from tickbird.domain.schedules.rolled_grid import MAX_PER_DAY, RolledGrid
from tickbird.domain.targets.event import EVENT
from tickbird.domain.targets.target import TASK
from tickbird.domain.targets.target import Target as Target
from tickbird.domain.text import check_name
from tickbird.domain.time.durations import duration_text
from tickbird.domain.triggers.trigger import Trigger

# How often a run may lose its worker and still be retried; negative: only after the answer that it had no effect.
CRASH_LIMITS = {"retry": 3, "fail": 0, "ask": -3}


@dataclass(frozen=True, kw_only=True)
class Definition(Policies):
    """An immutable schedule definition: its policies, a trigger and a target."""

    trigger: Trigger
    target: Target
    # The closed days of its calendars. Set by the store, not by users.
    closed: Mapping[str, Calendar] = field(default_factory=dict)
    # Task settings that the definition states, even at their defaults. The others come from the task.
    stated: frozenset[str] = field(default=frozenset(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.target.kind == TASK:
            check_name(self.target.name, "task")
        elif self.target.spec is None:
            raise DefinitionError(
                f"target: {self.target.kind} {self.target.name!r} has no spec.",
                field="target",
                hint="Pass a TargetSpec, such as command([...]).",
            )
        super().__post_init__()
        self._check_calendars()
        if self.hold_above is not None and self.catch_up != "all":
            refuse("hold_above", self.hold_above, 'needs catch_up="all"')
        if self.start_at and self.end_at and self.start_at > self.end_at:
            refuse("end_at", self.end_at, f"is before start_at ({self.start_at.isoformat()})")
        if self.concurrency_key is not None:
            key_for(self.concurrency_key, self.payload)
        if self.depends_on:
            self._check_waits()
        if not self.durable:
            self._check_in_memory()

    def _check_in_memory(self) -> None:
        """Refuse policies that need a cursor, or facts that only the planner of the store has."""
        needs = {
            "an event target": self.target.kind == EVENT,
            "a trigger with a single tick": "at" in self.trigger.to_json(),
            "shadow": self.shadow,
            "max_runs": self.max_runs is not None,
            "depends_on": bool(self.depends_on),
            "concurrency_key": self.concurrency_key is not None,
            f"overlap={self.overlap}": self.overlap in ("queue", "replace"),
            "catch_up=all": self.catch_up == "all",
        }
        for name, is_used in needs.items():
            if is_used:
                raise DefinitionError(
                    f"durable: a schedule in memory cannot have {name}.",
                    field="durable",
                    hint="Set durable=true: then the store plans the schedule.",
                )

    def _check_waits(self) -> None:
        longest, limit = max(dependency.wait for dependency in self.depends_on), self.start_limit
        if limit is not None and longest > limit:
            rule = "start_within" if self.start_within is not None else "the grace of catch_up=skip"
            raise DefinitionError(
                f"depends_on: a run cannot wait {duration_text(longest)}, because it must start within "
                f"{duration_text(limit) or '0 s'} ({rule}).",
                field="depends_on",
                hint="Set a start_within that is longer than the wait.",
            )

    def _check_calendars(self) -> None:
        if self.roll != "skip" and self.trigger.max_per_day > MAX_PER_DAY:
            raise DefinitionError(
                f"roll: {self.roll!r} supports at most {MAX_PER_DAY:,} ticks a day, but this trigger has up to "
                f"{self.trigger.max_per_day:,}.",
                field="roll",
                hint='Use roll="skip".',
            )
        shared = merge(self.closed.values())
        if len(self.exclude.weekdays | shared.weekdays) == 7 and not shared.opened:
            raise DefinitionError(
                "calendars: together they close all seven weekdays, so no tick would ever run.",
                field="calendars",
                hint="Remove one of them.",
            )

    @cached_property
    def grid(self) -> TickGrid:
        """The ticks of this definition; cached, because definitions live longer than schedule objects."""
        return RolledGrid(self) if self.roll != "skip" and self.closed_days else TickGrid(self)

    @property
    def unresolved(self) -> tuple[str, ...]:
        """Names of calendars whose closed days are missing."""
        return tuple(name for name in self.calendars if name not in self.closed and name not in BUILT_IN)

    @cached_property
    def closed_days(self) -> ClosedDays:
        if self.unresolved:
            raise DefinitionError(
                f"calendars: the schedule lacks the closed days of {', '.join(self.unresolved)}.",
                field="calendars",
                hint="Save the calendar again with `tickbird calendar put`, or set `calendars` again.",
            )
        calendars = {**BUILT_IN, **self.closed}
        return ClosedDays(self.exclude, merge(calendars[name] for name in self.calendars))

    @cached_property
    def start_limit(self) -> int | None:
        """Seconds after `due_at` within which a run must start; `catch_up="skip"` implies the grace."""
        if self.start_within is None and self.catch_up == "skip":
            return self.grace
        return self.start_within

    @cached_property
    def has_fast_path(self) -> bool:
        """Whether a punctual tick can become a run without `plan`: no policy depends on the day or on other rows."""
        unlimited = self.max_runs is None and self.concurrency_key is None and self.trigger.max_steps is None
        return unlimited and not (self.exclude or self.calendars or self.depends_on or self.shadow)

    def key(self, payload: Mapping[str, Any] | None = None) -> str | None:
        """Return the concurrency key of a run with this payload (default: the definition's)."""
        if self.concurrency_key is None:
            return None
        return key_for(self.concurrency_key, self.payload if payload is None else payload)

    @property
    def max_running(self) -> int | None:
        """Maximum of active runs; None: no limit."""
        return None if self.overlap == "allow" else self.max_concurrent

    @property
    def crash_limit(self) -> int:
        """How often a run may lose its worker and still be retried; negative: only after the answer "no"."""
        return CRASH_LIMITS[self.on_crash]


# Fields that users set; the closed days of the calendars come from the store.
FIELDS = ("trigger", "target", *POLICIES)
# The fields that a task can declare too.
TASK_SETTINGS = tuple(policy.name for policy in POLICIES.values() if policy.task_setting)


@lru_cache(maxsize=100_000)
def spread_offset(namespace: str, name: str, spread: int) -> int:
    """Return the offset of the schedule within its spread, the same on every worker."""
    if not spread:
        return 0
    digest = hashlib.blake2b(f"{namespace}/{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % spread
