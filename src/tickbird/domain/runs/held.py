"""Held runs: after a long outage, runs of `catch_up="all"` wait until an operator releases or drops them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.domain.text import check_text

DROPPED = "dropped"
MAX_COUNT = 1_000_000


@dataclass(frozen=True, slots=True)
class HeldSchedule:
    """The held runs of a schedule: number, first and last tick, and since when."""

    schedule: str
    count: int
    first: datetime
    last: datetime
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldAction:
    """An operator's decision about the oldest `count` held runs of a schedule (default: all)."""

    actor: str
    count: int | None = None
    note: str = ""

    def __post_init__(self) -> None:
        check_text(self.actor, "actor", minimum=1, maximum=200)
        check_text(self.note, "note")
        if self.count is not None:
            _check_number(self.count, "count")


@dataclass(frozen=True, slots=True, kw_only=True)
class Release(HeldAction):
    """Release held runs, at most `per_minute`."""

    per_minute: int | None = None

    def __post_init__(self) -> None:
        # `super()` does not work in a dataclass with slots.
        HeldAction.__post_init__(self)
        if self.per_minute is not None:
            _check_number(self.per_minute, "per_minute")

    @property
    def interval(self) -> float:
        """Seconds from one run to the next."""
        return 0.0 if self.per_minute is None else 60 / self.per_minute


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop(HeldAction):
    """Cancel held runs."""


def none_held(name: str) -> ConflictError:
    return ConflictError(f"no run of schedule {name!r} is held.", hint="`tickbird held` lists the held runs.")


def _check_number(value: object, field: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_COUNT:
        raise InvalidError(f"{field} must be a whole number from 1 to {MAX_COUNT:,}.", field=field)
