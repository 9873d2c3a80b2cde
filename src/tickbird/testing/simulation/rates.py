"""When runs of a queue may begin: within no stretch of time more than its rate says, and no later than they must."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tickbird.testing.simulation.history import RunRow
from tickbird.testing.simulation.ticks import MICROS

if TYPE_CHECKING:
    from tickbird.testing.simulation.checker import Checker
    from tickbird.testing.simulation.world import Call


@dataclass(slots=True)
class Pace:
    """A queue's rate, and what has begun since it has one; in microseconds."""

    count: int
    period: int
    starts: list[int] = field(default_factory=list)
    # What began up to here may be forgotten, since the rate before was of a shorter period.
    known_from: int = 0
    # How often the clock had been set when the last one began.
    jumps: int = 0

    def begun(self, now: int) -> list[int]:
        """What counts at an instant."""
        return [at for at in self.starts if at > now - self.period]


class Rates:
    """Follows the rates of queues beside their runs."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self._paces: dict[str, Pace] = {}
        self._queued: dict[int, RunRow] = {}
        self._jumps = [at for at, _ in checker.record.jumps]

    def see(self, row: RunRow, *, began: bool, active: bool) -> None:
        """A run of a call was made or changed; it began in it or not."""
        if active and row.status == "queued":
            self._queued[row.id] = row
        else:
            self._queued.pop(row.id, None)
        pace = self._paces.get(row.queue)
        if began and pace is not None:
            now = self._checker.now
            assert self._checker.call is not None
            jumps = bisect_right(self._jumps, self._checker.call.at)
            if jumps != pace.jumps:
                # By a clock that was set nobody knows how long ago things were.
                pace.starts, pace.jumps = [], jumps
            pace.starts = [*pace.begun(now), now]
            counted = [at for at in pace.starts if at > pace.known_from]
            if len(counted) > pace.count:
                seconds = pace.period // MICROS
                self._broken(f"{len(counted)} runs of {row.queue} began within {seconds} s, {pace.count} may")

    def check(self, call: Call) -> None:
        """After a call."""
        now = self._checker.now
        if call.verb == "set_queue_rate":
            _, queue, rate, _ = call.args
            old = self._paces.pop(queue, None)
            if rate is not None:
                new = Pace(rate.count, rate.seconds * MICROS)
                if old is not None:
                    new.starts, new.jumps = old.starts, old.jumps
                    new.known_from = max(old.known_from, now - old.period)
                self._paces[queue] = new
        elif call.verb == "claim_runs" and self._paces and not call.answer.runs and call.options["at_once"]:
            self._check_claim(call)

    def _check_claim(self, call: Call) -> None:
        now = self._checker.now
        if bisect_right(self._jumps, call.at):
            # By a clock that was set, what began may count for longer.
            return
        if call.expected is not None and call.now > call.expected[1]:
            # A process that was frozen does not believe the clock, and leaves runs that waited for it to others.
            return
        for run in self._queued.values():
            pace = self._paces.get(run.queue)
            may = pace is not None and len(pace.begun(now)) < pace.count and run.available_at <= now
            if may and (run.start_by is None or run.start_by >= now):
                self._broken(f"{call.host} claims nothing though run {run.id} of {run.queue} may begin")

    def _broken(self, text: str) -> None:
        self._checker.broken("rates", text)
