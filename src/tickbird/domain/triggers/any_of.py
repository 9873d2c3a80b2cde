"""Unions: a trigger that ticks whenever one of several does."""

from __future__ import annotations

from math import lcm

from tickbird.domain.cancellation import checkpoint
from tickbird.domain.errors import TriggerError, name_field
from tickbird.domain.time.instants import DAY, FIRST_SECOND, LAST_SECOND
from tickbird.domain.triggers.base import BaseTrigger, Trigger

MAX_MEMBERS = 32
_MAX_PERIOD = 1_000 * DAY


def any_of(*triggers: Trigger) -> AnyOf:
    """Create a trigger that ticks whenever one of the given triggers does; equal instants are one tick."""
    return AnyOf(*triggers)


class AnyOf(BaseTrigger):
    """The union of several grids, each instant once; created by `any_of()`."""

    __slots__ = ("_key", "members")

    members: tuple[Trigger, ...]

    def __init__(self, *members: object) -> None:
        flat: dict[Trigger, None] = {}
        for member in members:
            if isinstance(member, type) or not isinstance(member, Trigger):
                raise refuse(f"must contain triggers, not {type(member).__name__}")
            flat.update(dict.fromkeys(member.members if isinstance(member, AnyOf) else (member,)))
        if not 1 <= len(flat) <= MAX_MEMBERS:
            raise refuse(f"needs 1 to {MAX_MEMBERS} triggers, not {len(flat)}")
        self.members = tuple(flat)
        self._key = frozenset(flat)

    @property
    def tz(self) -> str:
        zones = {member.tz for member in self.members}
        return zones.pop() if len(zones) == 1 else "UTC"

    def next_tick(self, after: int) -> int | None:
        ticks = (member.next_tick(after) for member in self.members)
        return min((tick for tick in ticks if tick is not None), default=None)

    def previous_tick(self, before: int) -> int | None:
        ticks = (member.previous_tick(before) for member in self.members)
        return max((tick for tick in ticks if tick is not None), default=None)

    def count(self, after: int, until: int) -> int:
        """Count the instants in (after, until]; the cost grows with the days, not with the ticks."""
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
        for number, member in sized:
            if member.max_steps is not None and number > member.max_steps:
                raise refuse(
                    f"{member} ticks too often to combine it with others: {number:,} times in the counted range"
                )
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
    def max_steps(self) -> int | None:  # type: ignore[override]
        return min((member.max_steps for member in self.members if member.max_steps is not None), default=None)

    @property
    def period(self) -> int | None:
        """The seconds after which the ticks of all members repeat; None also if that is too long."""
        period = 1
        for member in self.members:
            if member.period is None:
                return None
            period = lcm(period, member.period)
        return period if period <= _MAX_PERIOD else None

    def bits(self, low: int, high: int) -> int:
        bitmap = 0
        for member in self.members:
            bitmap |= member.bits(low, high)
        return bitmap

    def walls(self, tick: int) -> list[int]:
        """Return the wall-clock seconds of a tick for any member, in UTC if the zones of the members differ."""
        if len({member.tz for member in self.members}) > 1:
            return [tick]
        return sorted({wall for member in self.members if member.contains(tick) for wall in member.walls(tick)})

    @property
    def max_per_day(self) -> int:
        return sum(member.max_per_day for member in self.members)

    def describe(self) -> str:
        first, *others = [member.describe() for member in self.members]
        # An abbreviation, such as "EU holidays" of a custom trigger, keeps its capitals.
        others = [text[:1].lower() + text[1:] if text[1:2].islower() else text for text in others]
        return "; or ".join([first, *others])

    def to_json(self) -> dict[str, object]:
        return {"any_of": [member.to_json() for member in self.members]}

    def __repr__(self) -> str:
        return f"any_of({', '.join(map(repr, self.members))})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnyOf) and self._key == other._key

    def __hash__(self) -> int:
        return hash((AnyOf, self._key))


def refuse(reason: str) -> TriggerError:
    return TriggerError(name_field("any_of", reason), field="any_of", reason=reason)
