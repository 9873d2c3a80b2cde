"""Checks of workers after the store's clock was set: they hold back, and no longer than they must."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.simulation.checker import Checker
    from lab.simulation.world import Call

# Seconds: a smaller jump is ignored; after HOLD_TIME a clock is believed, or at the next poll.
JUMP, HOLD_TIME, POLL_TIME = 30.0, 300.0, 60.0
# An answer slower than this tells too little of the clock.
QUICK = 10.0
_LOOKING = ("planning.plan_due", "leases.rescue", "workers.heartbeat")


@dataclass(slots=True)
class Holding:
    """A worker that does not believe the clock: after how many jumps, since when, and from when on it must again."""

    jumps: int
    since: float = inf
    until: float = inf


class Clocks:
    """Follows what each worker has seen of the store's clock."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self._jumps = checker.record.jumps
        self._at = [at for at, _ in self._jumps]
        # Worker → how many jumps there had been when it first saw the clock, and when it had the answer.
        self._first: dict[str, tuple[int, float]] = {}
        self._holding: dict[str, Holding] = {}

    def see(self, call: Call, *, changed: bool) -> None:
        """One call that was not refused."""
        if call.verb not in _LOOKING:
            return
        if call.verb == "workers.heartbeat" and call.args[0].standby_reason.startswith("waits: "):
            # It goes by what others say of the clock, and by nothing that it has seen itself until then.
            self._first.pop(call.host, None)
            return
        jumps = bisect_right(self._at, call.at)
        if call.verb != "workers.heartbeat":
            if not call.believed:
                self._held(call, jumps, changed=changed)
            else:
                self._holding.pop(call.host, None)
                if changed and call.host in self._first:
                    self._acted(call, jumps, *self._first[call.host])
        if call.there + call.back < QUICK:
            self._answered(call, jumps, call.at + call.back)

    def _answered(self, call: Call, jumps: int, at: float) -> None:
        """It has seen the clock."""
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
            # It may have expected another instant only because it stood still meanwhile.
            return
        if not jumps:
            broken("I14", f"{call.host} does not believe a clock that never jumped")
        holding = self._holding.setdefault(call.host, Holding(jumps))
        if holding.jumps != jumps:
            self._holding[call.host] = Holding(jumps)
        elif call.at - call.there > holding.until:
            broken("I14", f"{call.host} has not believed the clock for {call.at - holding.since:.0f} s")

    def _acted(self, call: Call, jumps: int, first: int, first_at: float) -> None:
        """Soon after a jump, only who has known the clock like this before, or nearly, may go by it."""
        # By one that stood still before it called, what it had expected may fit by chance.
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
            self._checker.broken("I14", f"{call.verb} of {call.host} went by a clock that jumped {ago:.0f} s ago")

    def _offset(self, jumps: int) -> float:
        """How far the clock is ahead after so many jumps."""
        return self._jumps[jumps - 1][1] if jumps else 0.0
