"""Closed days of the calendars in a definition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tickbird.domain.calendars.calendar import BUILT_IN, Calendar, calendar_to_json
from tickbird.domain.errors import DefinitionError
from tickbird.domain.planning.plan import Facts
from tickbird.domain.schedules.codec import in_its_format
from tickbird.domain.schedules.dependencies import could_be_name


def calendar_names(raw: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the calendars in a definition's JSON; decoding reports invalid ones."""
    names = raw.get("calendars")
    # Keep only valid names, because a store can search for nothing else.
    return tuple(filter(could_be_name, names)) if isinstance(names, list | tuple) else ()


def with_calendars(raw: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """Return a definition's JSON with the current closed days of its calendars."""
    plain = in_its_format({name: value for name, value in raw.items() if name != "closed"})
    closed = resolve_calendars(calendar_names(raw), facts.calendars)
    return {**plain, "closed": {name: calendar_to_json(closed[name]) for name in sorted(closed)}} if closed else plain


def resolve_calendars(names: tuple[str, ...], known: Mapping[str, Calendar | None]) -> dict[str, Calendar]:
    """Return the closed days by calendar; in `known`, the content of other calendars may be None."""
    resolved: dict[str, Calendar] = {}
    for name in names:
        calendar = BUILT_IN.get(name, known.get(name))
        if calendar is None:
            names_known = ", ".join(sorted({*BUILT_IN, *known}))
            raise DefinitionError(
                f"calendars: there is no calendar {name[:200]!r}.",
                field="calendars",
                hint=f"Create it with `tickbird calendar put`, or use one of these: {names_known}.",
            )
        resolved[name] = calendar
    return resolved
