"""Comparison of a shadow with another scheduler: matching ticks, time differences, and mismatches."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf, isnan, nan
from typing import Any, Literal

from tickbird.domain.schedules.grid import TickGrid
from tickbird.domain.time.instants import iso, to_datetime, utc_text

Verdict = Literal["agrees", "differs", "nothing"]
# Maximum of compared ticks per schedule, and of listed instants.
MAX_TICKS = 1_000_000
MAX_LISTED = 1_000
# Maximum of stored pings per schedule.
MAX_PINGS = 100_000
# A span of seconds since the epoch.
Span = tuple[float, float]
# The instant of a firing, and the indexes of the shadows that it may belong to.
Firing = tuple[float, Sequence[int]]


@dataclass(frozen=True, slots=True)
class SilentPeriod:
    """A range of ticks that would not have run, and why."""

    first: int
    last: int
    reason: str


@dataclass(frozen=True, slots=True)
class RecordedTicks:
    """The recorded ticks of a shadow in order, the periods in which it was a shadow, and its other skips."""

    schedule: str
    ticks: Sequence[int]
    spans: Sequence[Span]
    quiet: Sequence[SilentPeriod] = ()


def recorded_ticks(grid: TickGrid, first: int, last: int, since: int, until: int) -> Iterator[int]:
    """Yield the ticks of a skip from `first` to `last` that are in the range."""
    if first == last:
        # A tick that was moved away from a closed day is recorded too.
        if since <= first <= until:
            yield first
        return
    tick = grid.next(max(first, since) - 1)
    while tick is not None and tick <= min(last, until):
        if not grid.excludes(tick):
            yield tick
        tick = grid.next(tick)


@dataclass(slots=True)
class UnmatchedFiring:
    """A firing of the other system without a tick, and why there is no tick, if known."""

    at: float
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {"at": utc_text(to_datetime(round(self.at))), "skipped": self.reason}


@dataclass(slots=True)
class ShadowReport:
    """The comparison of one schedule; lists are truncated, counts are not."""

    schedule: str
    since: float | None = None
    until: float | None = None
    matched: int = 0
    missing: list[int] = field(default_factory=list)
    missing_count: int = 0
    extra: list[UnmatchedFiring] = field(default_factory=list)
    extra_count: int = 0
    # How much the other system was earlier (negative) or later, in seconds.
    earliest: float | None = None
    latest: float | None = None
    total: float = 0.0
    # Ticks at the borders of the known period of the other system, which cannot be judged.
    open: int = 0

    @property
    def ticks(self) -> int:
        """The number of compared ticks."""
        return self.matched + self.missing_count

    @property
    def verdict(self) -> Verdict:
        """Whether the two systems agree."""
        if self.missing_count or self.extra_count:
            return "differs"
        return "agrees" if self.matched else "nothing"

    @property
    def mean(self) -> float | None:
        """How much the other system was later on average, in seconds."""
        return self.total / self.matched if self.matched else None

    def to_json(self) -> dict[str, Any]:
        since, until = (None if at is None else iso(round(at)) for at in (self.since, self.until))
        apart = (None if delta is None else round(delta, 3) for delta in (self.earliest, self.mean, self.latest))
        return {
            "schedule": self.schedule,
            "verdict": self.verdict,
            "from": since,
            "to": until,
            "ticks": self.ticks,
            "matched": self.matched,
            "missing": self.missing_count,
            "extra": self.extra_count,
            "not_compared": self.open,
            "apart": dict(zip(("earliest", "mean", "latest"), apart, strict=True)),
            "missing_ticks": [iso(tick) for tick in self.missing],
            "extra_firings": [firing.to_json() for firing in self.extra],
        }

    def _match(self, apart: float) -> None:
        self.matched += 1
        self.total += apart
        self.earliest = min(apart, apart if self.earliest is None else self.earliest)
        self.latest = max(apart, apart if self.latest is None else self.latest)

    def _miss(self, tick: int) -> None:
        self.missing_count += 1
        if len(self.missing) < MAX_LISTED:
            self.missing.append(tick)

    def _add(self, extra: UnmatchedFiring) -> None:
        self.extra_count += 1
        if len(self.extra) < MAX_LISTED:
            self.extra.append(extra)


def compare(
    shadows: Sequence[RecordedTicks], firings: Iterable[Firing], tolerance: float, known: Span, now: float
) -> list[ShadowReport]:
    """Compare shadows with the firings of the other system, both in order; a firing may belong to several shadows.

    A firing belongs to the nearest tick, whether late or early, and a tick has one firing. If the nearest tick has a
    nearer firing, the tick on the other side may take it. `known` is the period for which the firings are known. A
    firing of a tick just before its end, or just before `now`, may still be missing.
    """
    reports = [ShadowReport(shadow.schedule) for shadow in shadows]
    taken = [array("d", [nan]) * len(shadow.ticks) for shadow in shadows]
    leftover = [
        left for at, members in firings if (left := _assign(shadows, taken, at, members, tolerance)) is not None
    ]
    for index, at in leftover:
        shadow = shadows[index]
        if _assign_to_neighbour(shadow.ticks, taken[index], at, tolerance):
            continue
        if known[0] <= at <= known[1] and any(first <= at <= last for first, last in shadow.spans):
            reasons = (
                quiet.reason for quiet in shadow.quiet if quiet.first - tolerance <= at <= quiet.last + tolerance
            )
            reports[index]._add(UnmatchedFiring(at, next(reasons, None)))
    for shadow, compared, apart in zip(shadows, reports, taken, strict=True):
        for tick, fired in zip(shadow.ticks, apart, strict=True):
            if not isnan(fired):
                compared._match(fired - tick)
            elif tick < known[0] or tick > known[1] or tick + tolerance > now:
                compared.open += 1
                continue
            else:
                compared._miss(tick)
            compared.since = min(tick, tick if compared.since is None else compared.since)
            compared.until = max(tick, tick if compared.until is None else compared.until)
    return reports


def _assign(
    shadows: Sequence[RecordedTicks], taken: Sequence[array[float]], at: float, members: Sequence[int], tolerance: float
) -> tuple[int, float] | None:
    """Assign a firing to the nearest tick; return the leftover firing and the index of its shadow."""
    nearest = [(*_nearest(shadows[index].ticks, at), index) for index in members]
    free = [item for item in nearest if item[0] <= tolerance and isnan(taken[item[2]][item[1]])]
    if free:
        _, position, index = min(free)
        taken[index][position] = at
        return None
    distance, position, index = min(nearest)
    if distance > tolerance:
        return index, at
    before, tick = taken[index][position], shadows[index].ticks[position]
    if abs(before - tick) <= distance:
        return index, at
    # It is nearer than the previously assigned firing.
    taken[index][position] = at
    return index, before


def _assign_to_neighbour(ticks: Sequence[int], taken: array[float], at: float, tolerance: float) -> bool:
    """Assign a leftover firing to the tick before or after it, if that has none."""
    position = bisect_left(ticks, at)
    neighbours = [index for index in (position - 1, position) if 0 <= index < len(ticks)]
    free = [(abs(ticks[index] - at), index) for index in neighbours if isnan(taken[index])]
    if not free or min(free)[0] > tolerance:
        return False
    taken[min(free)[1]] = at
    return True


def _nearest(ticks: Sequence[int], at: float) -> tuple[float, int]:
    """Return the distance and the index of the nearest tick; of two, the earlier."""
    position = bisect_left(ticks, at)
    around = [index for index in (position - 1, position) if 0 <= index < len(ticks)]
    return min(((abs(ticks[index] - at), index) for index in around), default=(inf, -1))
