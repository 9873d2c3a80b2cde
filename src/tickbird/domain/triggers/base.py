"""What all triggers share: datetimes around the whole seconds that each trigger computes with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import datetime

from tickbird.domain.time.instants import to_datetime, to_seconds, to_seconds_ceil


class BaseTrigger(ABC):
    """A set of instants in whole epoch seconds, within the years 1 to 9999."""

    __slots__ = ()

    @property
    def period(self) -> int | None:
        """The seconds after which all ticks repeat; None: they follow the calendar or a zone, or do not repeat."""
        return None

    def __setattr__(self, name: str, value: object) -> None:
        if hasattr(self, name):
            raise AttributeError(f"a trigger is a value: {name} cannot change")
        object.__setattr__(self, name, value)

    @abstractmethod
    def next_tick(self, after: int) -> int | None:
        """The first tick strictly after an epoch second."""

    @abstractmethod
    def previous_tick(self, before: int) -> int | None:
        """The last tick strictly before an epoch second."""

    def next_after(self, at: datetime) -> datetime | None:
        """The first tick strictly after an aware datetime, in UTC."""
        tick = self.next_tick(to_seconds(at))
        return None if tick is None else to_datetime(tick)

    def previous_before(self, at: datetime) -> datetime | None:
        """The last tick strictly before an aware datetime, in UTC."""
        tick = self.previous_tick(to_seconds_ceil(at))
        return None if tick is None else to_datetime(tick)

    def bits(self, low: int, high: int) -> int:
        """The ticks of [low, high), at most a day, as a bitmap; bit 0 is `low`."""
        found, tick = 0, self.next_tick(low - 1)
        while tick is not None and tick < high:
            found |= 1 << tick - low
            tick = self.next_tick(tick)
        return found

    def contains(self, tick: int) -> bool:
        """Whether an epoch second is a tick."""
        return self.next_tick(tick - 1) == tick
