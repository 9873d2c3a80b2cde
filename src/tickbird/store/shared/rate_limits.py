"""The budget of a claim in queues with a rate limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from tickbird.domain.limits.rate_limits import RateState, StartTimes


class RateBudget:
    """The queues of one claim that have a rate limit: the remaining starts, and the starts of this claim."""

    def __init__(self, rates: Mapping[str, RateState], now: datetime, at_once: int) -> None:
        """`at_once` of the claimed runs start at once; a queue with a rate limit leases no run that starts later."""
        self._rates = rates
        self._now = now
        self._at_once = at_once
        self.left = {queue: min(at_once, rate.left(starts, now)) for queue, (rate, starts) in rates.items()}
        self._queues: dict[int, str] = {}
        self._taken: dict[str, int] = {}

    def max_claims(self, limit: int) -> int:
        """The maximum number of runs to claim from all queues."""
        return min(limit, self._at_once) if any(number > 0 for number in self.left.values()) else limit

    def record(self, queue: str, run_ids: Iterable[int]) -> None:
        """Record the queue of these runs."""
        self._queues.update(dict.fromkeys(run_ids, queue))

    def take(self, run_ids: Iterable[int]) -> None:
        """Count the start of these runs."""
        for run_id in run_ids if self._queues else ():
            if (queue := self._queues.pop(run_id, None)) is not None:
                self._taken[queue] = self._taken.get(queue, 0) + 1
                self.left[queue] -= 1

    def changed(self, at: datetime | None = None) -> Iterator[tuple[str, StartTimes]]:
        """The start times of queues that differ from the stored ones; runs of this claim started at this instant."""
        for queue, (rate, starts) in self._rates.items():
            current = rate.current(starts, self._now)
            if number := self._taken.get(queue, 0):
                yield queue, rate.add(starts, self._now if at is None else at, number)
            elif starts[-1:] != current[-1:] and current:
                # Stored before the clock was set back.
                yield queue, current

    def next_wakeup(self, first: Iterable[tuple[str, datetime | None]]) -> datetime | None:
        """The instant of the next claim, given the instant at which the first run of each queue is available."""
        wakeups: list[datetime] = []
        for queue, available_at in first:
            if available_at is None:
                continue
            if queue not in self._rates:
                wakeups.append(available_at)
            elif (wakeup := self._turn(queue, available_at)) > self._now:
                wakeups.append(wakeup)
        return min(wakeups, default=None)

    def _turn(self, queue: str, available_at: datetime) -> datetime:
        rate, starts = self._rates[queue]
        return max(available_at, rate.next_at(starts, self._now))
