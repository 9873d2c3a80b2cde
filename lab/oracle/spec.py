"""Specs: definitions in the oracle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import date

from lab.oracle.triggers import DAY, AnyOf, TriggerSpec, first_tick, last_tick, local_day, ticks_between
from tickbird.proof import specs as proof
from tickbird.proof.specs import NAMESPACE as NAMESPACE

# Every trigger without an end has a tick in each interval of this length.
_MAX_GAP = 400 * DAY


@dataclass(frozen=True)
class ClosedDays:
    """Days of the week (Monday is 0), and dates."""

    weekdays: tuple[int, ...] = ()
    dates: tuple[date, ...] = ()


@dataclass(frozen=True, repr=False)
class Spec(proof.Spec):
    """A trigger and its policies; durations and instants are whole seconds."""

    form: TriggerSpec
    task: str = "work"
    catch_up_limit: int = 100
    start_within: int | None = None
    start_at: int | None = None
    end_at: int | None = None
    exclude: ClosedDays = ClosedDays()
    timeout: int | None = None
    priority: int = 0
    backoff: int = 1
    concurrency_key: str | None = None
    queue: str = "default"
    hold_above: int | None = None
    # Names of other schedules, how recently they must have succeeded, and how long a tick can wait for that.
    depends_on: tuple[tuple[str, int, int], ...] = ()
    shadow: bool = False

    def __repr__(self) -> str:
        values = [(field.name, getattr(self, field.name), field.default) for field in fields(self)]
        return f"Spec({', '.join(f'{name}={value!r}' for name, value, default in values if value != default)})"

    @property
    def start_limit(self) -> int | None:
        """Seconds after `due_at` within which a run may start."""
        return self.grace if self.start_within is None and self.catch_up == "skip" else self.start_within

    @property
    def grid(self) -> tuple[object, ...]:
        """Two specs with equal grids have the same ticks."""
        members = self.form.members if isinstance(self.form, AnyOf) else (self.form,)
        return frozenset(members), self.start_at, self.end_at

    def ticks(self, first: int, last: int) -> Sequence[int]:
        first, last = self._window(first, last)
        return ticks_between(self.form, first, last)

    def next(self, after: int) -> int | None:
        """The first tick after an instant."""
        after = after if self.start_at is None else max(after, self.start_at - 1)
        return first_tick(self.form, *self._window(after + 1, after + _MAX_GAP))

    def last(self, until: int) -> int | None:
        """The last tick up to an instant."""
        until = until if self.end_at is None else min(until, self.end_at)
        return last_tick(self.form, *self._window(until - _MAX_GAP, until))

    def has_tick(self, instant: int) -> bool:
        return bool(self.ticks(instant, instant))

    def excludes(self, tick: int) -> bool:
        """Whether the local day of a tick is closed."""
        if not (self.exclude.weekdays or self.exclude.dates):
            return False
        zones = self.form.zones
        day = local_day(tick, zones.pop() if len(zones) == 1 else "UTC")
        return day.weekday() in self.exclude.weekdays or day in self.exclude.dates

    def _window(self, first: int, last: int) -> tuple[int, int]:
        first = first if self.start_at is None else max(first, self.start_at)
        return first, last if self.end_at is None else min(last, self.end_at)
