"""What a claim may take from queues that have a rate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from tickbird.domain.limits.rate_limits import RateState, StartTimes


class RateBudget:
    """The queues of one claim that have a rate: what is left of it, and what the claim takes of it."""

    def __init__(self, paces: Mapping[str, RateState], now: datetime, at_once: int) -> None:
        """Of what is claimed, `at_once` runs begin at once; none of such a queue may be claimed to begin later."""
        self._paces = paces
        self._now = now
        self._at_once = at_once
        self.left = {queue: min(at_once, rate.left(starts, now)) for queue, (rate, starts) in paces.items()}
        self._queues: dict[int, str] = {}
        self._taken: dict[str, int] = {}

    def max_claims(self, limit: int) -> int:
        """How many runs to claim of all queues."""
        return min(limit, self._at_once) if any(number > 0 for number in self.left.values()) else limit

    def record(self, queue: str, run_ids: Iterable[int]) -> None:
        """These runs are of this queue."""
        self._queues.update(dict.fromkeys(run_ids, queue))

    def take(self, run_ids: Iterable[int]) -> None:
        """These runs begin."""
        for run_id in run_ids if self._queues else ():
            if (queue := self._queues.pop(run_id, None)) is not None:
                self._taken[queue] = self._taken.get(queue, 0) + 1
                self.left[queue] -= 1

    def changed(self, at: datetime | None = None) -> Iterator[tuple[str, StartTimes]]:
        """What has begun in those queues where that is not what is stored; what was taken began at this instant."""
        for queue, (rate, starts) in self._paces.items():
            current = rate.current(starts, self._now)
            if number := self._taken.get(queue, 0):
                yield queue, rate.add(starts, self._now if at is None else at, number)
            elif starts[-1:] != current[-1:] and current:
                # Written before the clock was set back.
                yield queue, current

    def next_wakeup(self, first: Iterable[tuple[str, datetime | None]]) -> datetime | None:
        """When to look again, if this is when the first run of each queue is available."""
        looks: list[datetime] = []
        for queue, available_at in first:
            if available_at is None:
                continue
            if queue not in self._paces:
                looks.append(available_at)
            elif (look := self._turn(queue, available_at)) > self._now:
                looks.append(look)
        return min(looks, default=None)

    def _turn(self, queue: str, available_at: datetime) -> datetime:
        rate, starts = self._paces[queue]
        return max(available_at, rate.next_at(starts, self._now))
