"""Checks of rate limits: no more runs start in a period than the limit allows, and none is delayed without need."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lab.simulation.history import MICROS, RunRow

if TYPE_CHECKING:
    from lab.simulation.checker import Checker
    from lab.simulation.world import Call


@dataclass(slots=True)
class QueueRate:
    """A queue's rate limit, and the starts since it exists; in microseconds."""

    count: int
    period: int
    starts: list[int] = field(default_factory=list)
    # Earlier starts may be forgotten, because the previous limit had a shorter period.
    counted_from: int = 0
    # The number of clock jumps at the last start.
    jumps: int = 0

    def begun(self, now: int) -> list[int]:
        """The starts that count at an instant."""
        return [at for at in self.starts if at > now - self.period]


class Rates:
    """Follows the rate limits of queues and their runs."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self._queue_rates: dict[str, QueueRate] = {}
        self._queued: dict[int, RunRow] = {}
        self._jumps = [at for at, _ in checker.record.jumps]

    def see(self, row: RunRow, *, began: bool, active: bool) -> None:
        """Process a created or changed run, and whether it started in this call."""
        if active and row.status == "queued":
            self._queued[row.id] = row
        else:
            self._queued.pop(row.id, None)
        queue_rate = self._queue_rates.get(row.queue)
        if began and queue_rate is not None:
            now = self._checker.now
            assert self._checker.call is not None
            jumps = bisect_right(self._jumps, self._checker.call.at)
            if jumps != queue_rate.jumps:
                # The clock was set, so it does not show when earlier runs started.
                queue_rate.starts, queue_rate.jumps = [], jumps
            queue_rate.starts = [*queue_rate.begun(now), now]
            counted = [at for at in queue_rate.starts if at > queue_rate.counted_from]
            if len(counted) > queue_rate.count:
                seconds = queue_rate.period // MICROS
                self._broken(
                    f"{len(counted)} runs of {row.queue} started within {seconds} s, {queue_rate.count} are allowed"
                )

    def check(self, call: Call) -> None:
        now = self._checker.now
        if call.verb == "queues.set_rate":
            _, queue, rate, _ = call.args
            old = self._queue_rates.pop(queue, None)
            if rate is not None:
                new = QueueRate(rate.count, rate.seconds * MICROS)
                if old is not None:
                    new.starts, new.jumps = old.starts, old.jumps
                    new.counted_from = max(old.counted_from, now - old.period)
                self._queue_rates[queue] = new
        elif call.verb == "leases.claim" and self._queue_rates and not call.result.runs and call.options["at_once"]:
            self._check_claim(call)

    def _check_claim(self, call: Call) -> None:
        now = self._checker.now
        if bisect_right(self._jumps, call.at):
            # After a clock jump, starts may count for longer.
            return
        if call.expected is not None and call.now > call.expected[1]:
            # A process that was frozen does not trust the clock, and leaves runs that waited for it to others.
            return
        for run in self._queued.values():
            queue_rate = self._queue_rates.get(run.queue)
            may = queue_rate is not None and len(queue_rate.begun(now)) < queue_rate.count and run.available_at <= now
            if may and (run.start_by is None or run.start_by >= now):
                self._broken(f"{call.host} claims nothing although run {run.id} of {run.queue} may start")

    def _broken(self, text: str) -> None:
        self._checker.broken("rates", text)
