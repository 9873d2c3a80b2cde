"""Quiet minutes: where schedules that crowd the busiest minute could tick instead."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.triggers.cron.cron import Cron, cron

MAX_SUGGESTIONS: Final = 10
# Fewer ticks in a minute are no crowd; and of a schedule so many ticks are looked at.
_CROWD: Final = 3
_LOOKED_AT: Final = 200
# Of so many schedules that crowd the busiest minute.
_CANDIDATES: Final = 1_000
# At one minute of the hour, or at equal steps within it.
_MINUTE = re.compile(r"(?:(?P<at>\d{1,2})|\*/(?P<step>\d{1,2})) (?P<rest>\S+ \S+ \S+ \S+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A schedule that could tick at another minute: the most ticks of others beside its own, before and after."""

    schedule: str
    before: str
    after: str
    minute: int
    to_minute: int
    crowd: int
    left: int

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "schedule": self.schedule,
            "cron": self.before,
            "to_cron": self.after,
            "minute": self.minute,
            "to_minute": self.to_minute,
            "others": self.crowd,
            "others_then": self.left,
        }


def suggest_moves(
    schedules: Sequence[Schedule], start: int, by_minute: Sequence[int], names: Collection[str] = ()
) -> list[Suggestion]:
    """Suggestions for schedules that tick in the busiest minute, each as if those before were followed."""
    crowd = max(by_minute, default=0)
    if crowd < _CROWD:
        return []
    busiest = start + 60 * by_minute.index(crowd)
    load = list(by_minute)
    found: list[Suggestion] = []
    for schedule in _crowding(schedules, busiest, names):
        move = _move(schedule, start, load)
        if move is not None:
            found.append(move)
            if len(found) == MAX_SUGGESTIONS:
                break
    return found


def _crowding(schedules: Sequence[Schedule], busiest: int, names: Collection[str]) -> Iterator[Schedule]:
    """Those that tick in a minute and could be moved; what ticks most often crowds it most often."""
    asked, found = set(names), []
    for each in schedules:
        definition = each.definition
        if definition is None or definition.spread or (asked and each.name not in asked):
            continue
        trigger = definition.trigger
        if not isinstance(trigger, Cron) or not _MINUTE.fullmatch(trigger.expr):
            continue
        if definition.grid.count(busiest - 1, busiest + 59) and not definition.grid.excludes(busiest):
            found.append((-trigger.max_per_day, each.name, each))
    return (each for _, _, each in sorted(found, key=lambda one: one[:2])[:_CANDIDATES])


def _move(schedule: Schedule, start: int, load: list[int]) -> Suggestion | None:
    """The quietest minute for a schedule, if it is worth a change; `load` is then as if it was made."""
    assert schedule.definition is not None and isinstance(schedule.definition.trigger, Cron)
    trigger = schedule.definition.trigger
    written = _MINUTE.fullmatch(trigger.expr)
    assert written is not None
    minute, step = (0, int(written["step"])) if written["at"] is None else (int(written["at"]), 60)
    if not 1 < step <= 60 or 60 % step:
        return None
    ticks = islice(schedule.grid.walk(start - 1, start + 60 * len(load) - 1), _LOOKED_AT)
    places = [(tick - start) // 60 for tick in ticks]

    def beside(shift: int) -> tuple[int, int]:
        """The most others at once, and in all."""
        counts = [load[place + shift] - (not shift) for place in places if 0 <= place + shift < len(load)]
        return max(counts, default=0), sum(counts)

    now = beside(0)
    # Where two are as quiet, the nearer one.
    best = min((shift for shift in range(-minute, step - minute) if shift), key=lambda each: (*beside(each), abs(each)))
    then = beside(best)
    if now[0] + 1 < _CROWD or 2 * (then[0] + 1) > now[0] + 1:
        return None
    to_minute = minute + best
    field = str(to_minute) if written["at"] is not None else f"{to_minute}-59/{step}"
    for place in places:
        load[place] -= 1
        if 0 <= place + best < len(load):
            load[place + best] += 1
    after = cron(f"{field} {written['rest']}", trigger.tz)
    assert isinstance(after, Cron)
    return Suggestion(schedule.name, trigger.expr, after.expr, minute, to_minute, now[0], then[0])
