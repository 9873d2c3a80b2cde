"""Rates: at most so many runs of a queue begin within any stretch of time of a given length.

What has begun is stored as pairs (microseconds since the epoch, how many), oldest first. Where a rate allows more than
a few runs, instants are rounded up to a fraction of its period, so that there are never many pairs: a run may then wait
that fraction longer than it had to, and never begins sooner than it may.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any, Final

from tickbird.domain.errors import InvalidError
from tickbird.domain.time.instants import from_micros, to_micros

# Pairs as they are stored.
StartTimes = tuple[tuple[int, int], ...]


def read_starts(stored: Any) -> StartTimes:
    """Decoded starts; only plain SQL can have written anything but pairs of integers, which counts as none."""
    pairs = stored if isinstance(stored, list) else []
    if all(isinstance(pair, list) and [type(part) for part in pair] == [int, int] for pair in pairs):
        return tuple((at, number) for at, number in pairs)
    return ()


MAX_COUNT: Final = 1_000_000
MAX_PERIOD: Final = 31 * 86_400
# So many runs are counted that come before another one.
MAX_POSITION: Final = 100_000
# Up to so many pairs are kept of a period; a power of two, so that a fraction is whole microseconds.
_GRAINS: Final = 64
# Clocks of two statements may be out of order by a moment; by more microseconds, the clock was set back.
_SET_BACK: Final = 1_000_000
_TEXT = re.compile(r"(\d{1,9})/(\d{0,9})([a-z]+)", re.ASCII)
_UNITS: Final = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hour", "hours"), 3_600),
    **dict.fromkeys(("d", "day", "days"), 86_400),
}
_NAMES: Final = ((86_400, "day"), (3_600, "h"), (60, "min"), (1, "s"))
_HINT: Final = 'write one such as "100/min", "5/s", "20/3h" or "1000/day".'


@dataclass(frozen=True, slots=True)
class RateLimit:
    """At most `count` runs begin within any `seconds`."""

    count: int
    seconds: int

    def __str__(self) -> str:
        unit, name = next(each for each in _NAMES if self.seconds % each[0] == 0)
        times = self.seconds // unit
        return f"{self.count}/{'' if times == 1 else times}{name}"

    @property
    def period(self) -> timedelta:
        return timedelta(seconds=self.seconds)

    def left(self, starts: StartTimes, now: datetime) -> int:
        """How many more may begin now; below none where a rate was lowered."""
        return self.count - sum(number for _, number in self._current(starts, to_micros(now)))

    def current(self, starts: StartTimes, now: datetime) -> StartTimes:
        """What still counts of that which has begun.

        What lies well behind now was written before the clock was set back, and counts as if it began now.
        """
        return self._current(starts, to_micros(now))

    def add(self, starts: StartTimes, now: datetime, number: int) -> StartTimes:
        """What has begun, with so many more that begin now."""
        micros = to_micros(now)
        kept, at = list(self._current(starts, micros)), self._rounded(micros)
        if kept and kept[-1][0] == at:
            number += kept.pop()[1]
        return (*kept, (at, number))

    def next_at(self, starts: StartTimes, now: datetime) -> datetime:
        """When the next one may begin; now, if one may."""
        return self.turn_at(starts, now, 0)

    def turn_at(self, starts: StartTimes, now: datetime, ahead: int) -> datetime:
        """When one may begin that has so many others before it, if all begin as soon as they may."""
        begun = self.current(starts, now)
        taken = sum(number for _, number in begun)
        free = max(0, self.count - taken)
        # Whoever begins gives its place up a period later, to the one that many behind it.
        rounds, place = divmod(ahead, self.count)
        if place < free:
            return from_micros(self._rounded(to_micros(now)) + rounds * self._micros) if rounds else now
        # More are taken than there are where a rate was lowered: the first to be given up are nobody's.
        sums = list(accumulate(number for _, number in begun))
        given_up = begun[bisect_right(sums, place + taken - self.count)][0]
        return from_micros(given_up + (rounds + 1) * self._micros)

    def _current(self, starts: StartTimes, micros: int) -> StartTimes:
        latest, over = self._rounded(micros), micros - self._micros
        behind = latest + _SET_BACK
        return tuple((at if at <= behind else latest, number) for at, number in starts if at > over)

    @property
    def _micros(self) -> int:
        return self.seconds * 1_000_000

    def _rounded(self, micros: int) -> int:
        if self.count <= _GRAINS:
            return micros
        grain = self._micros // _GRAINS
        return -(-micros // grain) * grain


def read_rate(text: object) -> RateLimit:
    """A rate as people write it, such as "100/min"; or an InvalidError."""
    match = _TEXT.fullmatch(text.strip().lower()) if isinstance(text, str) else None
    if match is None:
        raise _refused(text, "is not a rate;")
    count, times, unit = int(match[1]), int(match[2] or 1), _UNITS.get(match[3])
    if unit is None:
        raise _refused(text, f"has an unknown unit, {match[3]!r};")
    if not count or not times:
        raise _refused(text, "would let nothing begin;", "to hold runs back altogether, pause their schedules.")
    if count > MAX_COUNT or times * unit > MAX_PERIOD:
        raise _refused(text, f"is out of range: at most {MAX_COUNT:,} runs within at most 31 days.", "")
    return RateLimit(count, times * unit)


def _refused(text: object, reason: str, hint: str = _HINT) -> InvalidError:
    return InvalidError(f"rate: {str(text)[:60]!r} {reason}", field="rate", hint=hint)


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """A queue: what stands in it, at what rate its runs may begin and when the next one may, and who serves it."""

    name: str
    rate: RateLimit | None
    # None without a rate, and where one may begin at once.
    next_at: datetime | None
    waiting: int
    queued: int
    running: int
    workers: int = 0


@dataclass(frozen=True, slots=True)
class QueuePosition:
    """What keeps a queued run back in its queue, and how many come before it.

    Until `at` by the rate of its queue, if it has one; and until `deferred_until` others of its queue may pass it,
    since its schedule has made many at once.
    """

    rate: RateLimit | None
    runs_before: int
    at: datetime | None = None
    deferred_until: datetime | None = None


# A queue's rate, and what has begun in it.
RateState = tuple[RateLimit, StartTimes]


def queues(paces: Mapping[str, RateState], counts: Mapping[str, Sequence[int]], now: datetime) -> list[QueueStatus]:
    """Queues by name: those that have a rate, and those that have runs, so many waiting, queued and running."""
    found = []
    for name in sorted({*paces, *counts}):
        waiting, queued, running = counts.get(name, (0, 0, 0))
        rate, next_at = None, now
        if name in paces:
            rate, starts = paces[name]
            next_at = rate.next_at(starts, now)
        found.append(QueueStatus(name, rate, next_at if next_at > now else None, waiting, queued, running))
    return found
