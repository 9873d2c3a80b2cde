"""Policies as people write them, in code and on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tickbird.domain.calendars.calendar import Calendar, exclude
from tickbird.domain.errors import DefinitionError
from tickbird.domain.schedules.definition import FIELDS, Backoff
from tickbird.domain.schedules.dependencies import read_dependencies
from tickbird.domain.time.durations import seconds

_DURATIONS = {"grace": 0, "start_within": 0, "spread": 0, "timeout": 1}


def check_fields(names: Iterable[str]) -> None:
    """Refuse a name that is no field of a definition, with the one that it is like."""
    for name in names:
        if name not in FIELDS:
            from difflib import get_close_matches

            close = get_close_matches(name, FIELDS, 1)
            hint = f"did you mean {close[0]}?" if close else f"it has {', '.join(FIELDS)}."
            raise DefinitionError(f"{name[:60]!r} is not an option of a schedule;", field=name, hint=hint)


def policies(values: Mapping[str, Any]) -> dict[str, Any]:
    """Policies as people write them ("10m", a list of tags, exclude=["sat"]) as a definition takes them."""
    taken: dict[str, Any] = dict(values)
    check_fields(taken)
    for name, minimum in _DURATIONS.items():
        if taken.get(name) is not None:
            taken[name] = seconds(taken[name], name, minimum=minimum)
    if "calendars" in taken:
        names = taken["calendars"]
        taken["calendars"] = (names,) if isinstance(names, str) else tuple(names or ())
    if "depends_on" in taken:
        taken["depends_on"] = read_dependencies(taken["depends_on"])
    if isinstance(taken.get("tags"), list | set):
        taken["tags"] = tuple(sorted(taken["tags"]) if isinstance(taken["tags"], set) else taken["tags"])
    if "exclude" in taken and not isinstance(taken["exclude"], Calendar):
        days = taken["exclude"]
        taken["exclude"] = exclude(*([days] if isinstance(days, str) else days or ()))
    if "backoff" in taken and not isinstance(taken["backoff"], Backoff):
        taken["backoff"] = Backoff(base=seconds(taken["backoff"], "backoff"))
    return taken
