"""Specs of simulated schedules: definitions as the checker reads them, without the planner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from lab.simulation.grids import Days, Form, Grid, utc
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.policy_input import policies
from tickbird.proof import specs as proof
from tickbird.proof.specs import NAMESPACE as NAMESPACE


@dataclass(frozen=True)
class Spec(proof.Spec):
    """A trigger and its policies; durations and instants are whole seconds."""

    form: Form
    task: str = "work"
    catch_up_limit: int = 100
    start_within: int | None = None
    start_at: int | None = None
    end_at: int | None = None
    exclude: Days = field(default_factory=Days)
    timeout: int | None = None
    priority: int = 0
    backoff: int = 1
    concurrency_key: str | None = None
    queue: str = "default"
    hold_above: int | None = None
    # Names of other schedules, how recently they must have succeeded, and how long that can be waited for.
    depends_on: tuple[tuple[str, int, int], ...] = ()
    shadow: bool = False

    def options(self, *names: str) -> dict[str, Any]:
        """These fields, or all, as the client takes them."""
        options: dict[str, Any] = {}
        for name in names or [item.name for item in fields(self)]:
            value = getattr(self, name)
            if name == "exclude":
                options[name] = [_WEEKDAYS[day] for day in value.weekdays] + list(value.dates)
            elif name in ("start_at", "end_at"):
                options[name] = None if value is None else utc(value)
            elif name == "form":
                options["trigger"] = value.trigger()
            elif name != "task":
                options[name] = value
        return options

    def definition(self, index: int) -> Definition:
        """As code declares it; the index in its payload says which spec it came from."""
        options = self.options()
        trigger = options.pop("trigger")
        return Definition(trigger=trigger, target=Target(self.task), payload={"spec": index}, **policies(options))

    @cached_property
    def start_limit(self) -> int | None:
        """How late a run may start."""
        return self.grace if self.start_within is None and self.catch_up == "skip" else self.start_within

    @property
    def same_ticks(self) -> tuple[object, ...]:
        """Two specs that are equal in this have the same ticks."""
        return self.form, self.start_at, self.end_at

    def ticks(self, first: int, last: int) -> Sequence[int]:
        """All ticks from first to last."""
        return self.grid((first, last)).between(first - 1, last)

    def grid(self, reach: tuple[int, int]) -> Grid:
        """Its ticks."""
        return Grid(self.form, self.start_at, self.end_at, reach, self.exclude)


_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
