"""What a shadow would have run beside what another system really did: which agree, how far apart, and which do not."""

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
# So many ticks of one schedule are compared at once, and so many instants are listed.
MAX_TICKS = 1_000_000
MAX_LISTED = 1_000
# So many pings of one schedule are kept.
MAX_PINGS = 100_000
# A span of seconds since the epoch.
Span = tuple[float, float]
# When something was done, and by which shadows it may be meant, by their places.
Firing = tuple[float, Sequence[int]]


@dataclass(frozen=True, slots=True)
class SilentPeriod:
    """Ticks that would not have run either, and why."""

    first: int
    last: int
    reason: str


@dataclass(frozen=True, slots=True)
class RecordedTicks:
    """What is on record of one shadow: its ticks in order, when it was one, and which others were skipped."""

    schedule: str
    ticks: Sequence[int]
    spans: Sequence[Span]
    quiet: Sequence[SilentPeriod] = ()


def recorded_ticks(grid: TickGrid, first: int, last: int, since: int, until: int) -> Iterator[int]:
    """The ticks of a skip from `first` to `last`, as far as they lie in a range."""
    if first == last:
        # One that was moved away from a closed day is on record, too.
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
    """When the other system did something where there is no tick, and why there is none, if that is known."""

    at: float
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {"at": utc_text(to_datetime(round(self.at))), "skipped": self.reason}


@dataclass(slots=True)
class ShadowReport:
    """One schedule: how many ticks were compared, and what came of it; lists are cut, counts are not."""

    schedule: str
    since: float | None = None
    until: float | None = None
    matched: int = 0
    missing: list[int] = field(default_factory=list)
    missing_count: int = 0
    extra: list[UnmatchedFiring] = field(default_factory=list)
    extra_count: int = 0
    # By how much the other system was earlier (negative) or later, in seconds.
    earliest: float | None = None
    latest: float | None = None
    total: float = 0.0
    # Ticks at the edges of what is known of the other system, for or against which nothing can be said.
    open: int = 0

    @property
    def ticks(self) -> int:
        """How many were compared."""
        return self.matched + self.missing_count

    @property
    def verdict(self) -> Verdict:
        """Do the two agree?"""
        if self.missing_count or self.extra_count:
            return "differs"
        return "agrees" if self.matched else "nothing"

    @property
    def mean(self) -> float | None:
        """By how much the other system was later on average."""
        return self.total / self.matched if self.matched else None

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        since, until = (None if each is None else iso(round(each)) for each in (self.since, self.until))
        apart = (None if each is None else round(each, 3) for each in (self.earliest, self.mean, self.latest))
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
            "extra_firings": [each.to_json() for each in self.extra],
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
    """Shadows beside what the other system did, both in order; several where a firing may be of any of them.

    A firing belongs to the nearest tick, be it late or early, and a tick has one; where that has a nearer one, the tick
    on the other side may take it. `known` is from when to when it is
    known what the other system did. What a tick just before that, or just before `now`, lacks may still exist.
    """
    found = [ShadowReport(shadow.schedule) for shadow in shadows]
    taken = [array("d", [nan]) * len(shadow.ticks) for shadow in shadows]
    over = [left for at, members in firings if (left := _give(shadows, taken, at, members, tolerance)) is not None]
    for which, at in over:
        shadow = shadows[which]
        if _give_beside(shadow.ticks, taken[which], at, tolerance):
            continue
        if known[0] <= at <= known[1] and any(first <= at <= last for first, last in shadow.spans):
            reasons = (each.reason for each in shadow.quiet if each.first - tolerance <= at <= each.last + tolerance)
            found[which]._add(UnmatchedFiring(at, next(reasons, None)))
    for shadow, compared, apart in zip(shadows, found, taken, strict=True):
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
    return found


def _give(
    shadows: Sequence[RecordedTicks], taken: Sequence[array[float]], at: float, members: Sequence[int], tolerance: float
) -> tuple[int, float] | None:
    """Give a firing to the tick that it is nearest to; what is left over, and of which shadow."""
    nearest = [(*_nearest(shadows[which].ticks, at), which) for which in members]
    free = [each for each in nearest if each[0] <= tolerance and isnan(taken[each[2]][each[1]])]
    if free:
        _, place, which = min(free)
        taken[which][place] = at
        return None
    distance, place, which = min(nearest)
    if distance > tolerance:
        return which, at
    before, tick = taken[which][place], shadows[which].ticks[place]
    if abs(before - tick) <= distance:
        return which, at
    # It is nearer than the one before, which was another.
    taken[which][place] = at
    return which, before


def _give_beside(ticks: Sequence[int], taken: array[float], at: float, tolerance: float) -> bool:
    """Give what is left over to the tick before or after it, where that has nothing."""
    place = bisect_left(ticks, at)
    beside = [each for each in (place - 1, place) if 0 <= each < len(ticks)]
    free = [(abs(ticks[each] - at), each) for each in beside if isnan(taken[each])]
    if not free or min(free)[0] > tolerance:
        return False
    taken[min(free)[1]] = at
    return True


def _nearest(ticks: Sequence[int], at: float) -> tuple[float, int]:
    """How far the nearest tick is, and its place; of two, the earlier."""
    place = bisect_left(ticks, at)
    around = [each for each in (place - 1, place) if 0 <= each < len(ticks)]
    return min(((abs(ticks[each] - at), each) for each in around), default=(inf, -1))
