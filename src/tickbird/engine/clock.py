"""The store's clock, and the guard that detects when it jumps."""

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

# Seconds: the maximum difference between the store's clock and ours, the time that a guard then waits for them to
# agree, and the maximum latency of a response that proves agreement.
TOLERANCE: Final = 30.0
ACCEPT_AFTER: Final = 300.0
QUICK: Final = 10.0


class Clock(Protocol):
    """The time that a step uses."""

    def now(self) -> datetime | None:
        """The instant to pass to the store; None: the store's own clock."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back, for leases and for the comparison with the store's clock."""
        ...


class StoreClock:
    """The clock of every worker: the store's."""

    def now(self) -> datetime | None:
        """None: the store uses its own clock."""
        return None

    def monotonic(self) -> float:
        """The machine's monotonic clock, which cannot be set."""
        return steady()


class ClockGuard:
    """Compares the store's clock with the monotonic one; planning and rescue stop while it has jumped."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # The store's clock minus the monotonic one; and after a jump, the new difference and since when.
        self._offset: float | None = None
        self._jumped: tuple[float, float] | None = None
        # When trust last changed; responses to earlier requests are ignored.
        self._decided_at = float("-inf")
        # Called when an alarm starts or ends.
        self.on_alarm: Callable[[], None] = lambda: None

    @property
    def alarmed(self) -> bool:
        """True after a jump of the store's clock, until the clock is trusted again."""
        return self._jumped is not None

    @property
    def standby_reason(self) -> str:
        """The reason for standby, as text; empty without an alarm."""
        if self._jumped is None or self._offset is None:
            return ""
        return f"plans and rescues nothing: {CLOCK_JUMPED} {_describe(self._jumped[0] - self._offset)}"

    @property
    def trusted_for(self) -> float:
        """Seconds since trust in the clock last changed; infinite if it never did."""
        return self._clock.monotonic() - self._decided_at

    @property
    def recheck_after(self) -> float:
        """Seconds until the next comparison; the clock may be corrected at any time."""
        if self._jumped is None:
            return 0.0
        return min(TOLERANCE, max(0.0, self._jumped[1] + ACCEPT_AFTER - self._clock.monotonic()))

    def expected(self) -> ClockBounds | None:
        """The bounds of the store's clock now; None before the first comparison."""
        if self._offset is None:
            return None
        middle = self._clock.monotonic() + self._offset
        return _instant(middle - TOLERANCE), _instant(middle + TOLERANCE)

    def date(self) -> datetime | None:
        """The instant for new records; None: the store's clock. After a jump ahead, it is the trusted instant."""
        now = self._clock.now()
        if now is not None or self._jumped is None or self._offset is None or self._jumped[0] < self._offset:
            return now
        return _instant(self._clock.monotonic() + self._offset)

    def trusts(self, now: datetime, requested_at: float, expected: ClockBounds | None) -> bool:
        """Observe a response. False: the store did nothing, because its clock was outside the bounds of the request."""
        self.observe(now, requested_at)
        return expected is None or expected[0] <= now <= expected[1]

    def observe(self, now: datetime, requested_at: float) -> None:
        """Compare the store's clock, which was read at some moment between the request and now."""
        if requested_at < self._decided_at:
            return
        responded_at = self._clock.monotonic()
        minimum, maximum = now.timestamp() - responded_at, now.timestamp() - requested_at
        # A slow response is consistent with many clocks. A response outside the bounds is a jump, even if it was slow.
        quick = responded_at - requested_at < QUICK
        if self._offset is None:
            self._offset = minimum if quick else None
        elif _distance(self._offset, minimum, maximum) <= TOLERANCE:
            if quick:
                self._agree(_within(self._offset, minimum, maximum))
        elif self._jumped is None or _distance(self._jumped[0], minimum, maximum) > TOLERANCE:
            self._alarm(_within(self._offset, minimum, maximum), responded_at)
        elif responded_at >= self._jumped[1] + ACCEPT_AFTER:
            self._accept(_within(self._jumped[0], minimum, maximum))
        elif quick:
            self._jumped = _within(self._jumped[0], minimum, maximum), self._jumped[1]

    def forget(self) -> None:
        """Drop all comparisons."""
        self._offset, self._jumped, self._decided_at = None, None, self._clock.monotonic()

    def _agree(self, offset: float) -> None:
        self._offset = offset
        if self._jumped is not None:
            log.warning("the store's clock was corrected: planning continues")
            self._jumped, self._decided_at = None, self._clock.monotonic()
            self.on_alarm()

    def _alarm(self, offset: float, at: float) -> None:
        log.error(
            "%s %s: planning and rescue are stopped until it is corrected; "
            "if the new time is right, it is accepted in %.0f minutes",
            CLOCK_JUMPED,
            _describe(offset - (self._offset or 0.0)),
            ACCEPT_AFTER / 60,
        )
        self._jumped, self._decided_at = (offset, at), at
        self.on_alarm()

    def _accept(self, offset: float) -> None:
        log.warning("the store's clock is accepted after its jump: planning continues")
        self._offset, self._jumped, self._decided_at = offset, None, self._clock.monotonic()
        self.on_alarm()


def _describe(jump: float) -> str:
    return f"{'ahead' if jump > 0 else 'back'} by {timedelta(seconds=round(abs(jump)))}"


def _distance(offset: float, minimum: float, maximum: float) -> float:
    """The distance of an offset from a range; 0 inside it."""
    return max(minimum - offset, offset - maximum, 0.0)


def _within(offset: float, minimum: float, maximum: float) -> float:
    """Clamp an offset to a range, so that it follows drift."""
    return min(max(offset, minimum), maximum)


def _instant(seconds: float) -> datetime:
    return EPOCH + timedelta(seconds=seconds)
