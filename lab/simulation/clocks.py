"""Checks of workers after a jump of the store's clock: they go on standby, and not longer than necessary."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.simulation.checker import Checker
    from lab.simulation.world import Call

# Seconds: a smaller jump is ignored; a clock is trusted after HOLD_TIME, or at the next poll.
JUMP, HOLD_TIME, POLL_TIME = 30.0, 300.0, 60.0
# A slower response says too little about the clock.
QUICK = 10.0
_LOOKING = ("planning.plan_due", "leases.rescue", "workers.heartbeat")


@dataclass(slots=True)
class Holding:
    """A worker that does not trust the clock: the number of jumps, since when, and until when at most."""

    jumps: int
    since: float = inf
    until: float = inf


class Clocks:
    """Follows the observations of the store's clock by each worker."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self._jumps = checker.record.jumps
        self._at = [at for at, _ in self._jumps]
        # Worker → the number of jumps at its first observation of the clock, and the time of the response.
        self._first: dict[str, tuple[int, float]] = {}
        self._holding: dict[str, Holding] = {}

    def see(self, call: Call, *, changed: bool) -> None:
        """Check one call that was not refused."""
        if call.verb not in _LOOKING:
            return
        if call.verb == "workers.heartbeat" and call.args[0].standby_reason.startswith("waits: "):
            # It uses reports of other workers about the clock, and drops its own observations.
            self._first.pop(call.host, None)
            return
        jumps = bisect_right(self._at, call.at)
        if call.verb != "workers.heartbeat":
            if not call.believed:
                self._held(call, jumps, changed=changed)
            else:
                self._holding.pop(call.host, None)
                if changed and call.host in self._first:
                    self._check_trust(call, jumps, *self._first[call.host])
        if call.there + call.back < QUICK:
            self._record_response(call, jumps, call.at + call.back)

    def _record_response(self, call: Call, jumps: int, at: float) -> None:
        """Record an observation of the clock."""
        self._first.setdefault(call.host, (jumps, at))
        holding = self._holding.get(call.host)
        if holding is not None and holding.jumps == jumps:
            holding.since = min(holding.since, at)
            if at >= holding.since + HOLD_TIME + 1:
                holding.until = min(holding.until, at)

    def _held(self, call: Call, jumps: int, *, changed: bool) -> None:
        broken = self._checker.broken
        if changed:
            broken("I14", f"{call.verb} of {call.host} changed rows at an instant that it did not expect")
        if call.there > QUICK:
            # It may have expected another instant only because it was frozen meanwhile.
            return
        if not jumps:
            broken("I14", f"{call.host} does not trust a clock that never jumped")
        holding = self._holding.setdefault(call.host, Holding(jumps))
        if holding.jumps != jumps:
            self._holding[call.host] = Holding(jumps)
        elif call.at - call.there > holding.until:
            broken("I14", f"{call.host} has not trusted the clock for {call.at - holding.since:.0f} s")

    def _check_trust(self, call: Call, jumps: int, first: int, first_at: float) -> None:
        """Soon after a jump, only a worker that knew a similar clock before may use it."""
        # If it was frozen before it called, its expectation may fit by chance.
        if call.at - call.there < first_at or call.there > QUICK:
            return
        offsets: list[float] = []
        for number in range(first, jumps + 1):
            offset = self._offset(number)
            past = number == first or self._at[number - 1] <= call.at - HOLD_TIME
            if past or any(abs(offset - other) <= JUMP + QUICK for other in offsets):
                offsets.append(offset)
        if self._offset(jumps) not in offsets:
            ago = call.at - self._at[jumps - 1]
            self._checker.broken("I14", f"{call.verb} of {call.host} used a clock that jumped {ago:.0f} s ago")

    def _offset(self, jumps: int) -> float:
        """The seconds by which the clock is ahead after this number of jumps."""
        return self._jumps[jumps - 1][1] if jumps else 0.0
