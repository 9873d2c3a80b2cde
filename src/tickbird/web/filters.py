"""The schedule filter in the query string of a page."""

from __future__ import annotations

from typing import Final, cast, get_args

from tickbird.domain.dashboard_rows import ScheduleFilter
from tickbird.domain.schedules.schedule import State
from tickbird.web.page_request import PageRequest

# Query parameters. Several states are separated by commas.
FIELDS: Final = ("q", "state", "tag", "app", "queue", "failing")
_STATES: Final = get_args(State)


def requested_filter(visit: PageRequest) -> ScheduleFilter:
    """Read the filter from the query string; unknown states are ignored."""
    states = {word for text in visit.request.query_params.getlist("state") for word in text.split(",")}
    return ScheduleFilter(
        contains=visit.query.get("q", "").strip(),
        states=tuple(cast("State", state) for state in _STATES if state in states),
        tag=visit.query.get("tag", "").strip() or None,
        app=visit.query.get("app", "").strip() or None,
        queue=visit.query.get("queue", "").strip() or None,
        failing=visit.query.get("failing", "") in ("1", "on", "true"),
    )


def query_of(wanted: ScheduleFilter) -> dict[str, str]:
    """Return the filter as query parameters, without empty ones."""
    parameters = {
        "q": wanted.contains,
        "state": ",".join(wanted.states),
        "tag": wanted.tag or "",
        "app": wanted.app or "",
        "queue": wanted.queue or "",
        "failing": "1" if wanted.failing else "",
    }
    return {name: text for name, text in parameters.items() if text}


def is_spelled(visit: PageRequest) -> bool:
    """True if the query string has the canonical form of its filter."""
    pairs = [(key, value) for key, value in visit.request.query_params.multi_items() if key in FIELDS]
    return dict(pairs) == query_of(requested_filter(visit)) and len(pairs) == len(dict(pairs))
