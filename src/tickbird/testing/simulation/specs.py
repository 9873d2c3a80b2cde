"""What a simulated schedule is to do: the checker's own words for a definition."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.policy_input import policies
from tickbird.testing.simulation.grids import Days, Form, Grid, utc

NAMESPACE = "default"


@dataclass(frozen=True)
class Spec:
    """A trigger and its policies; durations and instants are whole seconds."""

    form: Form
    task: str = "work"
    catch_up: str = "one"
    catch_up_limit: int = 100
    grace: int = 10
    start_within: int | None = None
    overlap: str = "skip"
    max_concurrent: int = 1
    spread: int = 0
    start_at: int | None = None
    end_at: int | None = None
    max_runs: int | None = None
    exclude: Days = field(default_factory=Days)
    retries: int = 0
    timeout: int | None = None
    on_crash: str = "retry"
    priority: int = 0
    backoff: int = 1
    concurrency_key: str | None = None
    queue: str = "default"
    hold_above: int | None = None
    # Names of other schedules, how recently they must have succeeded, and how long that can be waited for.
    depends_on: tuple[tuple[str, int, int], ...] = ()
    shadow: bool = False

    def options(self, *names: str) -> dict[str, Any]:
        """These fields, or all, as people give them to the client; the trigger is apart."""
        found: dict[str, Any] = {}
        for name in names or [each.name for each in fields(self)]:
            value = getattr(self, name)
            if name == "exclude":
                found[name] = [_WEEKDAYS[day] for day in value.weekdays] + list(value.dates)
            elif name in ("start_at", "end_at"):
                found[name] = None if value is None else utc(value)
            elif name == "form":
                found["trigger"] = value.trigger()
            elif name != "task":
                found[name] = value
        return found

    def definition(self, mark: int) -> Definition:
        """As code declares it; the mark in its payload says which spec it came from."""
        options = self.options()
        trigger = options.pop("trigger")
        return Definition(trigger=trigger, target=Target(self.task), payload={"spec": mark}, **policies(options))

    @cached_property
    def start_limit(self) -> int | None:
        """How late a run may start."""
        return self.grace if self.start_within is None and self.catch_up == "skip" else self.start_within

    @property
    def crash_limit(self) -> int:
        """How many lost workers a run survives."""
        return 3 if self.on_crash == "retry" else 0

    @property
    def same_ticks(self) -> tuple[object, ...]:
        """Two specs that are equal in this have the same ticks."""
        return self.form, self.start_at, self.end_at

    def offset(self, name: str) -> int:
        """Seconds from a tick to the instant at which it is due."""
        if not self.spread:
            return 0
        digest = hashlib.blake2b(f"{NAMESPACE}/{name}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.spread

    def grid(self, reach: tuple[int, int]) -> Grid:
        """Its ticks."""
        return Grid(self.form, self.start_at, self.end_at, reach, self.exclude)


_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
