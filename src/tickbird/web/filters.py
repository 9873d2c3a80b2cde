"""Which schedules a page is about, as its address says it."""

from __future__ import annotations

from typing import Final, cast, get_args

from tickbird.domain.dashboard_rows import ScheduleFilter
from tickbird.domain.schedules.schedule import State
from tickbird.web.page_request import PageRequest

# In the address, and in forms. Several states stand in one text, separated by commas.
FIELDS: Final = ("q", "state", "tag", "app", "queue", "failing")
_STATES: Final = get_args(State)


def requested_filter(visit: PageRequest) -> ScheduleFilter:
    """The filter of an address, however it was spelled; states that there are not are passed over."""
    asked = visit.request.query_params
    given = {word for text in asked.getlist("state") for word in text.split(",")}
    return ScheduleFilter(
        contains=visit.query.get("q", "").strip(),
        states=tuple(cast("State", state) for state in _STATES if state in given),
        tag=visit.query.get("tag", "").strip() or None,
        app=visit.query.get("app", "").strip() or None,
        queue=visit.query.get("queue", "").strip() or None,
        failing=visit.query.get("failing", "") in ("1", "on", "true"),
    )


def query_of(wanted: ScheduleFilter) -> dict[str, str]:
    """The filter as an address has it; what narrows nothing is left out."""
    said = {
        "q": wanted.contains,
        "state": ",".join(wanted.states),
        "tag": wanted.tag or "",
        "app": wanted.app or "",
        "queue": wanted.queue or "",
        "failing": "1" if wanted.failing else "",
    }
    return {name: text for name, text in said.items() if text}


def is_spelled(visit: PageRequest) -> bool:
    """Does the address say it in the one way that is kept?"""
    pairs = [(key, value) for key, value in visit.request.query_params.multi_items() if key in FIELDS]
    return dict(pairs) == query_of(requested_filter(visit)) and len(pairs) == len(dict(pairs))
