"""Rate limits: at most N runs of a queue start within any period of a given duration.

Starts are stored as pairs (microseconds since the epoch, number), oldest first. If a rate allows more than a few runs,
instants are rounded up to a fraction of its period, which limits the number of pairs. A run may then wait longer by
that fraction, but never starts too early.
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

# Stored pairs.
StartTimes = tuple[tuple[int, int], ...]


def read_starts(stored: Any) -> StartTimes:
    """Decode stored starts; anything invalid, which only plain SQL can write, counts as none."""
    pairs = stored if isinstance(stored, list) else []
    if all(isinstance(pair, list) and [type(part) for part in pair] == [int, int] for pair in pairs):
        return tuple((at, number) for at, number in pairs)
    return ()


MAX_COUNT: Final = 1_000_000
MAX_PERIOD: Final = 31 * 86_400
# Maximum position that is counted.
MAX_POSITION: Final = 100_000
# Maximum of pairs per period; a power of two, so that a fraction is whole microseconds.
_GRAINS: Final = 64
# Clocks of two statements may differ slightly. A larger difference, in microseconds, means that the clock was set back.
_SET_BACK: Final = 1_000_000
_TEXT = re.compile(r"(\d{1,9})/(\d{0,9})([a-z]+)", re.ASCII)
_UNITS: Final = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hour", "hours"), 3_600),
    **dict.fromkeys(("d", "day", "days"), 86_400),
}
_NAMES: Final = ((86_400, "day"), (3_600, "h"), (60, "min"), (1, "s"))
_HINT: Final = 'Use a rate such as "100/min", "5/s", "20/3h" or "1000/day".'


@dataclass(frozen=True, slots=True)
class RateLimit:
    """At most `count` runs start within any `seconds`."""

    count: int
    seconds: int

    def __str__(self) -> str:
        unit, name = next(entry for entry in _NAMES if self.seconds % entry[0] == 0)
        times = self.seconds // unit
        return f"{self.count}/{'' if times == 1 else times}{name}"

    @property
    def period(self) -> timedelta:
        return timedelta(seconds=self.seconds)

    def left(self, starts: StartTimes, now: datetime) -> int:
        """Return how many more runs may start now; negative after the rate was lowered."""
        return self.count - sum(number for _, number in self._current(starts, to_micros(now)))

    def current(self, starts: StartTimes, now: datetime) -> StartTimes:
        """Return the starts that still count.

        Starts far in the future were written before the clock was set back, and count as if they happened now.
        """
        return self._current(starts, to_micros(now))

    def add(self, starts: StartTimes, now: datetime, number: int) -> StartTimes:
        """Return the starts, with `number` more that start now."""
        micros = to_micros(now)
        current, at = list(self._current(starts, micros)), self._rounded(micros)
        if current and current[-1][0] == at:
            number += current.pop()[1]
        return (*current, (at, number))

    def next_at(self, starts: StartTimes, now: datetime) -> datetime:
        """Return when the next run may start; `now` if one may start now."""
        return self.turn_at(starts, now, 0)

    def turn_at(self, starts: StartTimes, now: datetime, ahead: int) -> datetime:
        """Return when a run with `ahead` runs before it may start, if all start as soon as possible."""
        started = self.current(starts, now)
        taken = sum(number for _, number in started)
        free = max(0, self.count - taken)
        # A started run releases its slot one period later.
        rounds, position = divmod(ahead, self.count)
        if position < free:
            return from_micros(self._rounded(to_micros(now)) + rounds * self._micros) if rounds else now
        # After a rate was lowered, more slots are taken than exist; the first released ones are not reused.
        sums = list(accumulate(number for _, number in started))
        released = started[bisect_right(sums, position + taken - self.count)][0]
        return from_micros(released + (rounds + 1) * self._micros)

    def _current(self, starts: StartTimes, micros: int) -> StartTimes:
        latest, expired = self._rounded(micros), micros - self._micros
        maximum = latest + _SET_BACK
        return tuple((at if at <= maximum else latest, number) for at, number in starts if at > expired)

    @property
    def _micros(self) -> int:
        return self.seconds * 1_000_000

    def _rounded(self, micros: int) -> int:
        if self.count <= _GRAINS:
            return micros
        grain = self._micros // _GRAINS
        return -(-micros // grain) * grain


def read_rate(text: object) -> RateLimit:
    """Parse a rate such as "100/min", or raise InvalidError."""
    match = _TEXT.fullmatch(text.strip().lower()) if isinstance(text, str) else None
    if match is None:
        raise _refused(text, "is not a rate.")
    count, times, unit = int(match[1]), int(match[2] or 1), _UNITS.get(match[3])
    if unit is None:
        raise _refused(text, f"has the unknown unit {match[3]!r}.")
    if not count or not times:
        raise _refused(text, "would start no runs.", "To stop all runs, pause their schedules.")
    if count > MAX_COUNT or times * unit > MAX_PERIOD:
        raise _refused(text, "is out of range.", f"Use at most {MAX_COUNT:,} runs and at most 31 days.")
    return RateLimit(count, times * unit)


def _refused(text: object, reason: str, hint: str = _HINT) -> InvalidError:
    return InvalidError(f"rate: {str(text)[:60]!r} {reason}", field="rate", hint=hint)


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """A queue: its rate limit, the next possible start, its runs, and the number of its workers."""

    name: str
    rate: RateLimit | None
    # None without a rate limit, and if a run may start now.
    next_at: datetime | None
    waiting: int
    queued: int
    running: int
    workers: int = 0


@dataclass(frozen=True, slots=True)
class QueuePosition:
    """What delays a queued run in its queue, and how many runs come before it.

    The rate limit of the queue delays it until `at`. Runs of other schedules go first until `deferred_until`, because
    its schedule has created many at once.
    """

    rate: RateLimit | None
    runs_before: int
    at: datetime | None = None
    deferred_until: datetime | None = None


# A queue's rate limit, and its starts.
RateState = tuple[RateLimit, StartTimes]


def queues(paces: Mapping[str, RateState], counts: Mapping[str, Sequence[int]], now: datetime) -> list[QueueStatus]:
    """Return the queues with a rate limit or with runs, by name; `counts` has waiting, queued and running runs."""
    statuses = []
    for name in sorted({*paces, *counts}):
        waiting, queued, running = counts.get(name, (0, 0, 0))
        rate, next_at = None, now
        if name in paces:
            rate, starts = paces[name]
            next_at = rate.next_at(starts, now)
        statuses.append(QueueStatus(name, rate, next_at if next_at > now else None, waiting, queued, running))
    return statuses
