"""What the calendars say that a definition names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tickbird.domain.calendars.calendar import BUILT_IN, Calendar, calendar_to_json
from tickbird.domain.errors import DefinitionError
from tickbird.domain.planning.plan import Facts
from tickbird.domain.schedules.codec import in_its_format
from tickbird.domain.schedules.dependencies import could_be_name


def calendar_names(raw: Mapping[str, Any]) -> tuple[str, ...]:
    """The calendars that a definition's JSON names; what is wrong with it is told when it is decoded."""
    names = raw.get("calendars")
    # Those that could be names, since a store can look for nothing else.
    return tuple(filter(could_be_name, names)) if isinstance(names, list | tuple) else ()


def with_calendars(raw: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """A definition's JSON with what its calendars say now."""
    plain = in_its_format({name: value for name, value in raw.items() if name != "closed"})
    closed = resolve_calendars(calendar_names(raw), facts.calendars)
    return {**plain, "closed": {name: calendar_to_json(closed[name]) for name in sorted(closed)}} if closed else plain


def resolve_calendars(names: tuple[str, ...], known: Mapping[str, Calendar | None]) -> dict[str, Calendar]:
    """What calendars say, by name; of those that are not asked for, their names are enough."""
    resolved: dict[str, Calendar] = {}
    for name in names:
        calendar = BUILT_IN.get(name, known.get(name))
        if calendar is None:
            names_known = ", ".join(sorted({*BUILT_IN, *known}))
            raise DefinitionError(
                f"calendars: there is no calendar {name[:200]!r};",
                field="calendars",
                hint=f"put it first with `tickbird calendar put`, or name one of these: {names_known}.",
            )
        resolved[name] = calendar
    return resolved
