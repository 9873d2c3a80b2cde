"""Triggers: pure values that each define a grid of instants; no state, no clock."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from datetime import datetime
from typing import Literal, Protocol, runtime_checkable

from tickbird.domain.time.instants import to_datetime, to_seconds, to_seconds_ceil

# A code for programs and a sentence for people.
DateWarning = tuple[Literal["missing-dates", "last-day", "unused-exdate"], str]


@runtime_checkable
class Trigger(Protocol):
    """A grid of instants in whole seconds; equal definitions are equal values."""

    @property
    def tz(self) -> str:
        """The zone of the wall clock in the definition."""

    def next_after(self, at: datetime) -> datetime | None:
        """The first tick strictly after an aware datetime, in UTC."""

    def previous_before(self, at: datetime) -> datetime | None:
        """The last tick strictly before an aware datetime, in UTC."""

    def next_tick(self, after: int) -> int | None:
        """The first tick strictly after an epoch second."""

    def previous_tick(self, before: int) -> int | None:
        """The last tick strictly before an epoch second."""

    def count(self, after: int, until: int) -> int:
        """How many ticks lie in (after, until]."""

    def contains(self, tick: int) -> bool:
        """Whether an epoch second is a tick."""

    @property
    def period(self) -> int | None:
        """The seconds after which all ticks repeat; None: they follow the calendar or a zone, or do not repeat."""

    @property
    def max_steps(self) -> int | None:
        """How many ticks one computation may step through; None: any number, because a step is cheap."""

    def bits(self, low: int, high: int) -> int:
        """The ticks of [low, high), at most a day, as a bitmap; bit 0 is `low`."""

    def walls(self, tick: int) -> list[int]:
        """The wall-clock seconds of a tick in its zone: several if a clock change moved them to one instant."""

    @property
    def max_per_day(self) -> int:
        """How many ticks a day can have."""

    def on_wall_clock(self) -> Trigger | None:
        """The same definition on a clock that never changes; None if no change of the clock moves a tick."""

    def date_warnings(self) -> Iterable[DateWarning]:
        """Warnings about dates that do not exist in every month or year."""

    def describe(self) -> str:
        """A description of the trigger for people."""

    def to_json(self) -> dict[str, object]:
        """The definition as plain JSON values."""


class BaseTrigger(ABC):
    """A set of instants in whole epoch seconds, within the years 1 to 9999."""

    __slots__ = ()
    max_steps: int | None = None

    @property
    def period(self) -> int | None:
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
        tick = self.next_tick(to_seconds(at))
        return None if tick is None else to_datetime(tick)

    def previous_before(self, at: datetime) -> datetime | None:
        tick = self.previous_tick(to_seconds_ceil(at))
        return None if tick is None else to_datetime(tick)

    def bits(self, low: int, high: int) -> int:
        bitmap, tick = 0, self.next_tick(low - 1)
        while tick is not None and tick < high:
            bitmap |= 1 << tick - low
            tick = self.next_tick(tick)
        return bitmap

    def contains(self, tick: int) -> bool:
        return self.next_tick(tick - 1) == tick

    def on_wall_clock(self) -> Trigger | None:
        return None

    def date_warnings(self) -> Iterable[DateWarning]:
        return ()
