"""Fallback: the store cannot plan, but runs can be written, so workers run the ticks of their code's schedules."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from tickbird.domain.errors import SchedulesUnusableError
from tickbird.domain.messages import count
from tickbird.domain.time.durations import duration_text
from tickbird.domain.workers import FALLBACK
from tickbird.engine.clock import Clock

log = logging.getLogger("tickbird.engine")

# Seconds. Older rows are not used, because the schedules may have been edited since.
DEFAULT_MAX_AGE = 86_400.0


class Fallback:
    """Whether this worker is in fallback: since when, why, and how old its rows are."""

    def __init__(self, clock: Clock, *, max_age: float | None = DEFAULT_MAX_AGE) -> None:
        self._clock = clock
        # None: there is no fallback.
        self._max_age = max_age
        self._error = ""
        self._started = 0.0
        # The store's clock and the monotonic one when the rows were read.
        self._rows_at: datetime | None = None
        self._rows_read = 0.0
        self._schedules = 0
        self._expired = False
        # The store's clock when planning last worked here: all ticks due by then are decided.
        self.planned_at: datetime | None = None
        # Planning works again, and rows that are missing in the store are being restored.
        self.is_ending = False
        # Called when the fallback begins or is about to end.
        self.on_change: Callable[[], None] = lambda: None

    @property
    def is_on(self) -> bool:
        """Whether this worker may fall back."""
        return self._max_age is not None

    @property
    def is_active(self) -> bool:
        """Whether this worker is in fallback."""
        return bool(self._error)

    @property
    def standby_reason(self) -> str:
        """The state for people; empty if planning works."""
        if not self._error:
            return ""
        age = duration_text(round(self._clock.monotonic() - self._rows_read)) or "0 s"
        if self._rows_at is None or self._expired:
            return f"{FALLBACK}: it plans nothing, because it has read no rows of schedules recently; {self._error}"
        return (
            f"{FALLBACK}: it runs the ticks of {count(self._schedules, 'schedule')} from rows read {age} ago, "
            f"because the store cannot plan; {self._error}"
        )

    def on_rows(self, now: datetime, schedules: int) -> None:
        """Note that the rows of this many schedules were read."""
        self._rows_at, self._rows_read, self._schedules = now, self._clock.monotonic(), schedules

    def on_planned(self, now: datetime, *, complete: bool) -> None:
        """Note that planning worked; `complete` if nothing is due any more."""
        if self.is_active:
            if not self.is_ending:
                self.is_ending = True
                self.on_change()
        elif complete:
            self.planned_at = now

    def start(self, error: SchedulesUnusableError) -> bool:
        """Begin or continue the fallback; returns False if there is none."""
        if not self.is_on:
            return False
        self.is_ending = False
        if not self.is_active:
            self._error, self._started, self._expired = error.message.rstrip("."), self._clock.monotonic(), False
            log.error("this worker is in %s", self.standby_reason)
            self.on_change()
        return True

    def end(self) -> None:
        """Leave the fallback: the store plans again."""
        if self.is_active:
            lasted = duration_text(round(self._clock.monotonic() - self._started)) or "0 s"
            log.warning(
                "%s ended after %s: the store plans again, and decides the ticks without a run", FALLBACK, lasted
            )
        self._error, self.is_ending = "", False
        self.on_change()

    def may_continue(self, now: datetime) -> bool:
        """Whether the rows are recent enough; logs once if they are not."""
        recent = self._rows_at is not None and now - self._rows_at <= timedelta(seconds=self._max_age or 0)
        if not recent and not self._expired:
            self._expired = True
            log.error("this worker is in %s", self.standby_reason)
            self.on_change()
        return recent
