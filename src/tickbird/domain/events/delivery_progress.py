"""The decisions of a delivery: which events the consumer gets next, and the outcome after its results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from tickbird.domain.events.deliveries import Delivery, DeliveryFailure, DeliveryOutcome, Unit, success

# A unit that was delivered alone, and whose worker was lost each time, fails without another call. The first crash of a
# delivery was of a batch that may have had other units.
MAX_LOSSES: Final = 3
_MAX_PAUSE: Final = 60.0

# "refused": no attempt can succeed. "unavailable": a system that the consumer needs is down.
ErrorKind = Literal["raised", "refused", "unavailable"]


@dataclass(frozen=True, slots=True)
class ConsumerError:
    """An error of a call, as text that can be stored."""

    text: str
    kind: ErrorKind = "raised"


def pause_after(pauses: int) -> float:
    """Seconds for which a partition is paused after `pauses` earlier infrastructure errors in a row."""
    return min(_MAX_PAUSE, float(2 ** min(pauses, 10)))


class DeliveryProgress:
    """The units of a delivery that are handled so far."""

    def __init__(self, delivery: Delivery, *, is_batch: bool, retry_in: Callable[[int], float | None]) -> None:
        self._delivery = delivery
        # From a number of failures to the seconds until the next attempt; None: no attempt is left.
        self._retry_in = retry_in
        self._units = delivery.units()
        # After a crash or an error, the units of a batch are delivered one by one.
        self._alone = not is_batch or delivery.crashes > 0 or any(unit.failures for unit in self._units)
        # Units that are handled or held.
        self._done = 0
        # Units whose offset the consumer has committed in its own transactions, and that offset.
        self._committed = 0
        self._after = delivery.after
        self._failure: DeliveryFailure | None = None
        # The infrastructure error that ended the delivery.
        self._interruption: ConsumerError | None = None

    @property
    def is_committed(self) -> bool:
        """True if the consumer has committed all units that it has handled."""
        return 0 < self._committed == self._done and self._failure is None

    def next_call(self) -> tuple[Unit, ...]:
        """The units of the next call; empty if the delivery is over."""
        if self._failure is not None or self._interruption is not None:
            return ()
        while self._done < len(self._units) and self._units[self._done].is_held:
            self._done += 1
        waiting = [unit for unit in self._units[self._done :] if not unit.is_held]
        if not waiting:
            return ()
        if self._delivery.crashes > MAX_LOSSES:
            text = f"the worker was lost {MAX_LOSSES} times while it handled this event"
            self._fail(waiting[:1], text, may_retry=False)
            return ()
        return (waiting[0],) if self._alone else tuple(waiting)

    def commit_outcome(self, call: Sequence[Unit]) -> DeliveryOutcome:
        """The outcome to record in the transaction of this call."""
        return self._success(self._end_of(call))

    def succeed(self, call: Sequence[Unit], *, is_committed: bool = False) -> None:
        """The call returned. With `is_committed`, its transaction has recorded `commit_outcome`."""
        self._done = self._end_of(call)
        if is_committed:
            if not self._delivery.is_redelivery:
                self._after = self._success(self._done).through
            self._committed = self._done

    def fail(self, call: Sequence[Unit], error: ConsumerError, *, has_ended: bool = True) -> None:
        """The call raised, and its units are called one by one; if it is still running, all of them fail."""
        if error.kind == "unavailable":
            self._interruption = error
        elif len(call) > 1 and has_ended:
            self._alone = True
        else:
            self._fail(call, error.text, may_retry=error.kind != "refused")

    def _fail(self, units: Sequence[Unit], text: str, *, may_retry: bool) -> None:
        failures = max(unit.failures for unit in units) + 1
        retry_in = self._retry_in(failures) if may_retry else None
        positions = tuple(position for unit in units for position in unit.positions)
        self._failure = DeliveryFailure(positions=positions, error=text, failures=failures, retry_in=retry_in)

    def outcome(self, pauses: int = 0) -> DeliveryOutcome:
        """The outcome of the calls so far, without what the consumer has committed itself."""
        if self._failure is not None:
            # Later units are read again by the next claim: some are held by then.
            failed = set(self._failure.positions)
            last = next(i for i, unit in enumerate(self._units) if unit.positions[-1] == self._failure.positions[-1])
            outcome = self._success(last + 1, without=failed)
            return replace(outcome, failure=self._failure)
        outcome = self._success(self._done)
        if self._interruption is not None:
            return replace(outcome, pause=pause_after(pauses), error=self._interruption.text)
        return outcome

    def _end_of(self, call: Sequence[Unit]) -> int:
        """The number of units up to the end of a call."""
        return next(index for index, unit in enumerate(self._units) if unit is call[-1]) + 1

    def _success(self, done: int, without: Collection[int] = ()) -> DeliveryOutcome:
        rest = replace(self._delivery, after=self._after)
        outcome = success(rest, self._units[self._committed : done], is_whole=done == len(self._units))
        return replace(outcome, delivered=tuple(p for p in outcome.delivered if p not in without))
