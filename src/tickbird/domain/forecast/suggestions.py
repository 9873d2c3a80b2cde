"""Suggestions to move schedules from the busiest minute to quiet ones."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.triggers.cron.cron import Cron, cron

MAX_SUGGESTIONS: Final = 10
# Minimum of ticks in a crowded minute, and maximum of ticks examined per schedule.
_CROWD: Final = 3
_MAX_EXAMINED: Final = 200
# Maximum of schedules in the busiest minute that are examined.
_CANDIDATES: Final = 1_000
# A single minute of the hour, or equal steps within it.
_MINUTE = re.compile(r"(?:(?P<at>\d{1,2})|\*/(?P<step>\d{1,2})) (?P<rest>\S+ \S+ \S+ \S+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A schedule that could tick at another minute, with the most concurrent ticks of others before and after."""

    schedule: str
    before: str
    after: str
    minute: int
    to_minute: int
    crowd: int
    left: int

    def to_json(self) -> dict[str, Any]:
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
    """Suggest moves for schedules in the busiest minute; each assumes that the previous ones were applied."""
    crowd = max(by_minute, default=0)
    if crowd < _CROWD:
        return []
    busiest = start + 60 * by_minute.index(crowd)
    load = list(by_minute)
    suggestions: list[Suggestion] = []
    for schedule in _crowding(schedules, busiest, names):
        move = _move(schedule, start, load)
        if move is not None:
            suggestions.append(move)
            if len(suggestions) == MAX_SUGGESTIONS:
                break
    return suggestions


def _crowding(schedules: Sequence[Schedule], busiest: int, names: Collection[str]) -> Iterator[Schedule]:
    """Yield movable schedules that tick in the busiest minute, most frequent first."""
    selected, candidates = set(names), []
    for schedule in schedules:
        definition = schedule.definition
        if definition is None or definition.spread or (selected and schedule.name not in selected):
            continue
        trigger = definition.trigger
        if not isinstance(trigger, Cron) or not _MINUTE.fullmatch(trigger.expr):
            continue
        if definition.grid.count(busiest - 1, busiest + 59) and not definition.grid.excludes(busiest):
            candidates.append((-trigger.max_per_day, schedule.name, schedule))
    ordered = sorted(candidates, key=lambda candidate: candidate[:2])[:_CANDIDATES]
    return (schedule for _, _, schedule in ordered)


def _move(schedule: Schedule, start: int, load: list[int]) -> Suggestion | None:
    """Return the move to the quietest minute, if it is worth a change, and apply it to `load`."""
    assert schedule.definition is not None and isinstance(schedule.definition.trigger, Cron)
    trigger = schedule.definition.trigger
    written = _MINUTE.fullmatch(trigger.expr)
    assert written is not None
    minute, step = (0, int(written["step"])) if written["at"] is None else (int(written["at"]), 60)
    if not 1 < step <= 60 or 60 % step:
        return None
    ticks = islice(schedule.grid.walk(start - 1, start + 60 * len(load) - 1), _MAX_EXAMINED)
    minutes = [(tick - start) // 60 for tick in ticks]

    def concurrent(shift: int) -> tuple[int, int]:
        """Return the maximum and the sum of other ticks."""
        counts = [load[index + shift] - (not shift) for index in minutes if 0 <= index + shift < len(load)]
        return max(counts, default=0), sum(counts)

    now = concurrent(0)
    # Prefer the nearest of equally quiet minutes.
    shifts = (shift for shift in range(-minute, step - minute) if shift)
    best = min(shifts, key=lambda shift: (*concurrent(shift), abs(shift)))
    then = concurrent(best)
    if now[0] + 1 < _CROWD or 2 * (then[0] + 1) > now[0] + 1:
        return None
    to_minute = minute + best
    field = str(to_minute) if written["at"] is not None else f"{to_minute}-59/{step}"
    for index in minutes:
        load[index] -= 1
        if 0 <= index + best < len(load):
            load[index + best] += 1
    after = cron(f"{field} {written['rest']}", trigger.tz)
    assert isinstance(after, Cron)
    return Suggestion(schedule.name, trigger.expr, after.expr, minute, to_minute, now[0], then[0])
