"""Whose time counts: the store's, unless a test brings its own; and what to do when that clock jumps."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, Protocol

from tickbird.domain.time.clock_bounds import ClockBounds
from tickbird.domain.time.instants import EPOCH
from tickbird.domain.workers import CLOCK_JUMPED
from tickbird.engine.monotonic import steady

log = logging.getLogger("tickbird.engine")

# Seconds by which the store's clock and ours may part between two looks, how long we then wait for them to agree, and
# how soon an answer must come to prove that they do.
TOLERANCE: Final = 30.0
ACCEPT_AFTER: Final = 300.0
QUICK: Final = 10.0


class Clock(Protocol):
    """What a step must know of time."""

    def now(self) -> datetime | None:
        """The instant to pass to the store; None: the store's own clock."""
        ...

    def monotonic(self) -> float:
        """Seconds that only grow, for leases and to hold against the store's clock."""
        ...


class StoreClock:
    """The store decides what time it is."""

    def now(self) -> datetime | None:
        """None: every decision is made by the store's clock."""
        return None

    def monotonic(self) -> float:
        """The machine's own steady clock, which nobody can set."""
        return steady()


class ClockGuard:
    """Holds the store's clock against the steady one, and tells planning and rescue which instants to believe."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # What must be added to the steady clock to get the store's; and where the store's stands after a jump, and
        # since when it has stood there.
        self._offset: float | None = None
        self._jumped: tuple[float, float] | None = None
        # When it last changed its mind: what was asked before that tells nothing new.
        self._minded_at = float("-inf")
        # Told when it has become alarmed or is so no more.
        self.on_alarm: Callable[[], None] = lambda: None

    @property
    def alarmed(self) -> bool:
        """Has the store's clock jumped, and not been believed since?"""
        return self._jumped is not None

    @property
    def standby_reason(self) -> str:
        """What an alarm holds this worker back from, in words; empty when there is none."""
        if self._jumped is None or self._offset is None:
            return ""
        return f"plans and rescues nothing: {CLOCK_JUMPED} {_describe(self._jumped[0] - self._offset)}"

    @property
    def minded_for(self) -> float:
        """Seconds since it last changed its mind about the clock; infinite if it never did."""
        return self._clock.monotonic() - self._minded_at

    @property
    def recheck_after(self) -> float:
        """Seconds until another look is worth it: the clock may be set right at any time."""
        if self._jumped is None:
            return 0.0
        return min(TOLERANCE, max(0.0, self._jumped[1] + ACCEPT_AFTER - self._clock.monotonic()))

    def expected(self) -> ClockBounds | None:
        """What the store's clock may show now; None: whatever it likes, as nothing is known yet."""
        if self._offset is None:
            return None
        middle = self._clock.monotonic() + self._offset
        return _instant(middle - TOLERANCE), _instant(middle + TOLERANCE)

    def date(self) -> datetime | None:
        """What to date records with; None: the store's clock, unless that is ahead of what is believed."""
        now = self._clock.now()
        if now is not None or self._jumped is None or self._offset is None or self._jumped[0] < self._offset:
            return now
        return _instant(self._clock.monotonic() + self._offset)

    def believes(self, now: datetime, asked_at: float, expected: ClockBounds | None) -> bool:
        """See an answer to a question that named what was expected; False: the store has therefore done nothing."""
        self.see(now, asked_at)
        return expected is None or expected[0] <= now <= expected[1]

    def see(self, now: datetime, asked_at: float) -> None:
        """Compare what the store's clock showed at some moment between the question and now."""
        if asked_at < self._minded_at:
            return
        answered_at = self._clock.monotonic()
        minimum, maximum = now.timestamp() - answered_at, now.timestamp() - asked_at
        # An answer that took long fits many clocks; but one that does not fit is a jump however long it took.
        quick = answered_at - asked_at < QUICK
        if self._offset is None:
            self._offset = minimum if quick else None
        elif _distance(self._offset, minimum, maximum) <= TOLERANCE:
            if quick:
                self._agree(_within(self._offset, minimum, maximum))
        elif self._jumped is None or _distance(self._jumped[0], minimum, maximum) > TOLERANCE:
            self._alarm(_within(self._offset, minimum, maximum), answered_at)
        elif answered_at >= self._jumped[1] + ACCEPT_AFTER:
            self._accept(_within(self._jumped[0], minimum, maximum))
        elif quick:
            self._jumped = _within(self._jumped[0], minimum, maximum), self._jumped[1]

    def forget(self) -> None:
        """Know nothing of the store's clock: what it has shown so far was not to be believed."""
        self._offset, self._jumped, self._minded_at = None, None, self._clock.monotonic()

    def _agree(self, offset: float) -> None:
        self._offset = offset
        if self._jumped is not None:
            log.warning("the store's clock has been set right; planning goes on")
            self._jumped, self._minded_at = None, self._clock.monotonic()
            self.on_alarm()

    def _alarm(self, offset: float, at: float) -> None:
        log.error(
            "%s %s: nothing is planned or rescued until it is set right; "
            "if it is right now, it is believed in %.0f minutes",
            CLOCK_JUMPED,
            _describe(offset - (self._offset or 0.0)),
            ACCEPT_AFTER / 60,
        )
        self._jumped, self._minded_at = (offset, at), at
        self.on_alarm()

    def _accept(self, offset: float) -> None:
        log.warning("the store's clock is believed as it is since its jump; planning goes on")
        self._offset, self._jumped, self._minded_at = offset, None, self._clock.monotonic()
        self.on_alarm()


def _describe(jump: float) -> str:
    return f"{'ahead' if jump > 0 else 'back'} by {timedelta(seconds=round(abs(jump)))}"


def _distance(offset: float, minimum: float, maximum: float) -> float:
    """How far an offset is from a range, 0 within it."""
    return max(minimum - offset, offset - maximum, 0.0)


def _within(offset: float, minimum: float, maximum: float) -> float:
    """The offset of a range that is nearest to another; so drift is followed."""
    return min(max(offset, minimum), maximum)


def _instant(seconds: float) -> datetime:
    return EPOCH + timedelta(seconds=seconds)
