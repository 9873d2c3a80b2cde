"""Grids as plain rules that are tried instant by instant; nothing here comes from the code under test."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from functools import lru_cache
from math import ceil

MINUTE, HOUR, DAY = 60, 3_600, 86_400
# Every rule here ticks at least once within this, or never again.
MAX_GAP = 2 * DAY


@dataclass(frozen=True)
class Steps:
    """Every so many seconds since the epoch; whole days by the clock of a zone so many seconds ahead of UTC."""

    seconds: int
    ahead: int = 0

    def ticks(self, after: int, until: int) -> list[int]:
        """Those of (after, until]."""
        first = ceil((after + 1 + self.ahead) / self.seconds) * self.seconds - self.ahead
        return list(range(first, until + 1, self.seconds))


@dataclass(frozen=True)
class Times:
    """At these minutes of these hours (all when there are none), by the clock of a zone."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...] = ()
    ahead: int = 0

    def ticks(self, after: int, until: int) -> list[int]:
        """Those of (after, until]."""
        found = []
        for instant in range(ceil((after + 1) / MINUTE) * MINUTE, until + 1, MINUTE):
            local = (instant + self.ahead) % DAY
            if local // MINUTE % 60 in self.minutes and (not self.hours or local // HOUR in self.hours):
                found.append(instant)
        return found


@dataclass(frozen=True)
class Once:
    """A single instant."""

    instant: int
    ahead: int = 0

    def ticks(self, after: int, until: int) -> list[int]:
        """Those of (after, until]."""
        return [self.instant] if after < self.instant <= until else []


Rule = Steps | Times | Once


@dataclass(frozen=True, kw_only=True, repr=False)
class Shape:
    """A definition as the model knows it; instants and durations in whole seconds."""

    rules: tuple[Rule, ...]
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
    # Weekdays, Monday = 0.
    exclude: frozenset[int] = frozenset()
    retries: int = 0
    on_crash: str = "retry"
    priority: int = 0

    def __repr__(self) -> str:
        given = [(field.name, getattr(self, field.name)) for field in fields(self)]
        plain = [field.default for field in fields(self)]
        return f"Shape({', '.join(f'{n}={v!r}' for (n, v), p in zip(given, plain, strict=True) if v != p)})"

    @property
    def grid(self) -> tuple[object, ...]:
        """What decides on which instants there are ticks at all."""
        return frozenset(self.rules), self.start_at, self.end_at

    @property
    def start_limit(self) -> int | None:
        """Seconds after which a tick is no longer started at all."""
        return self.grace if self.catch_up == "skip" and self.start_within is None else self.start_within

    @property
    def crash_limit(self) -> int:
        """How many lost workers a run survives."""
        return 3 if self.on_crash == "retry" else 0

    def ticks(self, after: int, until: int) -> list[int]:
        """All ticks of (after, until], in order."""
        if self.start_at is not None:
            after = max(after, self.start_at - 1)
        if self.end_at is not None:
            until = min(until, self.end_at)
        if len(self.rules) == 1:
            return self.rules[0].ticks(after, until)
        return sorted({tick for rule in self.rules for tick in rule.ticks(after, until)})

    # The plain way is a slow one, and it is asked the same again and again.
    @lru_cache(maxsize=10_000)  # noqa: B019
    def next(self, after: int) -> int | None:
        """The first tick after an instant."""
        if self.start_at is not None:
            after = max(after, self.start_at - 1)
        found = self.ticks(after, after + MAX_GAP)
        once = [rule.instant for rule in self.rules if isinstance(rule, Once) and rule.instant > after]
        found += [instant for instant in once if self.end_at is None or instant <= self.end_at]
        return min(found, default=None)

    def last(self, until: int) -> int | None:
        """The last tick up to an instant."""
        if self.end_at is not None:
            until = min(until, self.end_at)
        found = self.ticks(until - MAX_GAP, until)
        once = [rule.instant for rule in self.rules if isinstance(rule, Once) and rule.instant <= until]
        found += [instant for instant in once if self.start_at is None or instant >= self.start_at]
        return max(found, default=None)

    def excludes(self, tick: int) -> bool:
        """Is the tick's day, in the zone of all rules or else in UTC, one without runs?"""
        zones = {rule.ahead for rule in self.rules}
        ahead = zones.pop() if len(zones) == 1 else 0
        # The epoch was a Thursday.
        return ((tick + ahead) // DAY + 3) % 7 in self.exclude

    def offset(self, namespace: str, name: str) -> int:
        """Seconds from a tick to its due_at."""
        if not self.spread:
            return 0
        digest = hashlib.blake2b(f"{namespace}/{name}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.spread
