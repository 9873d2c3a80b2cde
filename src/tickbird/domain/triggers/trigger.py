"""Triggers: pure values that each define a grid of instants; no state, no clock."""

from __future__ import annotations

from datetime import datetime
from math import lcm
from typing import Protocol, runtime_checkable

from tickbird.domain.cancellation import checkpoint
from tickbird.domain.errors import TriggerError
from tickbird.domain.time.instants import DAY, FIRST_SECOND, LAST_SECOND, parse_iso, to_datetime, to_seconds
from tickbird.domain.triggers.base import BaseTrigger
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import Every
from tickbird.domain.triggers.rrule.rrule import RRule

MAX_MEMBERS = 32
_MAX_DEPTH = 8
# The kinds of triggers as JSON, and what may stand beside each.
_KEYS = {
    "cron": ("tz",),
    "every": ("anchor", "tz"),
    "rrule": ("dtstart", "tz", "exdate", "rdate"),
    "at": (),
    "any_of": (),
}
_MAX_PERIOD = 1_000 * DAY


@runtime_checkable
class Trigger(Protocol):
    """A grid of instants in whole seconds; equal definitions are equal values."""

    @property
    def tz(self) -> str:
        """The zone whose wall clock the definition speaks of."""

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

    def bits(self, low: int, high: int) -> int:
        """The ticks of [low, high), at most a day, as a bitmap; bit 0 is `low`."""

    def walls(self, tick: int) -> list[int]:
        """The wall-clock seconds, in its zone, that the trigger means by a tick: several where a leap joined them."""

    @property
    def max_per_day(self) -> int:
        """How many ticks a day can have."""

    def describe(self) -> str:
        """The definition in words for people."""

    def to_json(self) -> dict[str, object]:
        """The definition as plain JSON values."""


class At(BaseTrigger):
    """A single instant; made by `at()`."""

    __slots__ = ("tick",)
    tz = "UTC"
    max_per_day = 1

    def __init__(self, instant: datetime) -> None:
        self.tick = to_seconds(instant)
        if instant.microsecond:
            raise _refuse("at", "has parts of a second; ticks are whole seconds", "Use .replace(microsecond=0).")
        try:
            to_datetime(self.tick)
        except (ValueError, OverflowError):
            raise _refuse("at", "lies outside the years 1 to 9999 in UTC") from None

    def next_tick(self, after: int) -> int | None:
        """The instant, if it is still to come."""
        return self.tick if self.tick > after else None

    def previous_tick(self, before: int) -> int | None:
        """The instant, if it is past."""
        return self.tick if self.tick < before else None

    def count(self, after: int, until: int) -> int:
        """1 if the instant lies in (after, until]."""
        return int(after < self.tick <= until)

    def walls(self, tick: int) -> list[int]:
        """The instant, in UTC."""
        return [tick]

    def describe(self) -> str:
        """The instant in words."""
        return f"Once, at {to_datetime(self.tick):%Y-%m-%d %H:%M:%S} UTC"

    def to_json(self) -> dict[str, object]:
        """The definition as plain JSON values."""
        return {"at": to_datetime(self.tick).isoformat().replace("+00:00", "Z")}

    def __repr__(self) -> str:
        return f"at({to_datetime(self.tick)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, At) and self.tick == other.tick

    def __hash__(self) -> int:
        return hash((At, self.tick))


class AnyOf(BaseTrigger):
    """The union of several grids, each instant once; made by `any_of()`."""

    __slots__ = ("_key", "members")

    members: tuple[Trigger, ...]

    def __init__(self, *members: object) -> None:
        flat: dict[Trigger, None] = {}
        for member in members:
            if isinstance(member, type) or not isinstance(member, Trigger):
                raise _refuse("any_of", f"expected triggers, not {type(member).__name__}")
            flat.update(dict.fromkeys(member.members if isinstance(member, AnyOf) else (member,)))
        if not 1 <= len(flat) <= MAX_MEMBERS:
            raise _refuse("any_of", f"needs 1 to {MAX_MEMBERS} triggers, not {len(flat)}")
        self.members = tuple(flat)
        self._key = frozenset(flat)

    @property
    def tz(self) -> str:
        """The zone of all members, or UTC if they differ."""
        zones = {member.tz for member in self.members}
        return zones.pop() if len(zones) == 1 else "UTC"

    def next_tick(self, after: int) -> int | None:
        """The first tick of any member strictly after an epoch second."""
        ticks = (member.next_tick(after) for member in self.members)
        return min((tick for tick in ticks if tick is not None), default=None)

    def previous_tick(self, before: int) -> int | None:
        """The last tick of any member strictly before an epoch second."""
        ticks = (member.previous_tick(before) for member in self.members)
        return max((tick for tick in ticks if tick is not None), default=None)

    def count(self, after: int, until: int) -> int:
        """How many instants lie in (after, until]; the work grows at most with the days, not with the ticks."""
        after, until = max(after, FIRST_SECOND - 1), min(until, LAST_SECOND)
        period = self.period
        if period is None or until - after <= 2 * period:
            return self._count(after, until)
        periods, rest = divmod(until - after, period)
        return periods * self._count(after, after + period) + self._count(after, after + rest)

    def _count(self, after: int, until: int) -> int:
        sized = [(member.count(after, until), member) for member in self.members]
        sized = sorted((pair for pair in sized if pair[0]), key=lambda pair: pair[0])
        if not sized:
            return 0
        total, densest = sized.pop()
        # At most one tick a day besides the densest member: count the ticks that no denser member has.
        if sum(count for count, _ in sized) * DAY <= until - after:
            denser = [densest]
            for _, member in reversed(sized):
                tick = member.next_tick(after)
                while tick is not None and tick <= until:
                    checkpoint()
                    total += not any(other.contains(tick) for other in denser)
                    tick = member.next_tick(tick)
                denser.append(member)
            return total
        total = 0
        for low in range(after + 1, until + 1, DAY):
            checkpoint()
            total += self.bits(low, min(low + DAY, until + 1)).bit_count()
        return total

    @property
    def period(self) -> int | None:
        """The seconds after which the ticks of all members repeat, unless that is too long."""
        found = 1
        for member in self.members:
            if member.period is None:
                return None
            found = lcm(found, member.period)
        return found if found <= _MAX_PERIOD else None

    def bits(self, low: int, high: int) -> int:
        """The ticks of [low, high), at most a day, as a bitmap; bit 0 is `low`."""
        found = 0
        for member in self.members:
            found |= member.bits(low, high)
        return found

    def walls(self, tick: int) -> list[int]:
        """What any member means by a tick; on UTC's wall clock, if their zones differ, nothing is leapt over."""
        if len({member.tz for member in self.members}) > 1:
            return [tick]
        return sorted({wall for member in self.members if member.contains(tick) for wall in member.walls(tick)})

    @property
    def max_per_day(self) -> int:
        """How many ticks a day can have."""
        return sum(member.max_per_day for member in self.members)

    def describe(self) -> str:
        """The members in words."""
        return "; or ".join(member.describe() for member in self.members)

    def to_json(self) -> dict[str, object]:
        """The definition as plain JSON values."""
        return {"any_of": [member.to_json() for member in self.members]}

    def __repr__(self) -> str:
        return f"any_of({', '.join(map(repr, self.members))})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnyOf) and self._key == other._key

    def __hash__(self) -> int:
        return hash((AnyOf, self._key))


def at(instant: datetime) -> At:
    """A trigger that ticks once, at an aware datetime in whole seconds."""
    return At(instant)


def any_of(*triggers: Trigger) -> AnyOf:
    """A trigger that ticks whenever one of the given does; two at the same instant are one tick."""
    return AnyOf(*triggers)


def trigger_from_json(value: object) -> Trigger:
    """The trigger that `to_json` wrote; anything else is refused with a TriggerError."""
    return _from_json(value, 0)


def _from_json(value: object, depth: int) -> Trigger:
    if depth > _MAX_DEPTH:
        raise _refuse("any_of", f"is nested more than {_MAX_DEPTH} deep")
    if not isinstance(value, dict):
        raise _refuse("trigger", f"expected an object, not {type(value).__name__}")
    kinds = [kind for kind in _KEYS if kind in value]
    if len(kinds) != 1:
        raise _refuse("trigger", f"needs exactly one of {', '.join(_KEYS)}")
    kind = kinds[0]
    if unknown := [key for key in value if key != kind and key not in _KEYS[kind]]:
        raise _refuse("trigger", f"{str(unknown[0])[:40]!r} does not belong to {kind}")
    inner = value[kind]
    if kind == "cron":
        return cron(inner, value.get("tz", "UTC"))
    if kind == "every":
        if not isinstance(inner, dict) or not all(isinstance(unit, str) for unit in inner):
            raise _refuse("every", 'expected an object such as {"minutes": 5}')
        anchor = parse_iso(value["anchor"], "anchor") if "anchor" in value else None
        return Every(inner, anchor, value.get("tz", "UTC"))
    if kind == "rrule":
        exdate, rdate = (_read_dates(value.get(name, []), name) for name in ("exdate", "rdate"))
        return RRule(inner, value.get("dtstart"), value.get("tz", "UTC"), exdate, rdate)
    if kind == "at":
        instant = parse_iso(inner, "at")
        if instant.tzinfo is None:
            raise _refuse("at", "has no time zone", 'Write it like "2026-01-31T09:00:00Z".')
        return At(instant)
    if not isinstance(inner, list) or len(inner) > MAX_MEMBERS:
        raise _refuse("any_of", f"expected a list of 1 to {MAX_MEMBERS} triggers")
    return AnyOf(*(_from_json(member, depth + 1) for member in inner))


def _read_dates(value: object, field: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _refuse(field, 'expected a list of dates such as "2026-12-24T18:00:00"')
    return value


def _refuse(field: str, reason: str, hint: str = "") -> TriggerError:
    return TriggerError(f"{field}: {reason}.", field=field, reason=reason, hint=hint)
