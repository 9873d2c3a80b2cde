"""Events: the newest of a namespace, and one event with its path."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from starlette.responses import Response

from tickbird.domain.dashboard_rows import EventFilter, EventRow, KeysetPage
from tickbird.domain.errors import InvalidError, NotFoundError
from tickbird.domain.events.event import Event
from tickbird.domain.explain.events import EventExplanation
from tickbird.domain.runs.run import RunRecord
from tickbird.web.forms.field_errors import without_field
from tickbird.web.page_request import PageRequest, PageRoute
from tickbird.web.pages.consumers import group_path, read_groups
from tickbird.web.pages.run import command
from tickbird.web.pages.runs import read_number
from tickbird.web.result_report import as_table

_PAGE: Final = 50
# The number of events published together that are shown.
_SIBLINGS: Final = 20
_PARAMETERS: Final = ("topic", "key", "partition")


async def events(visit: PageRequest) -> Response:
    wanted, wrong = _filter(visit)
    before, after = read_number(visit.query.get("before")), read_number(visit.query.get("after"))

    async def read() -> KeysetPage[EventRow]:
        return await visit.board.events(wanted, before=before, after=after, limit=_PAGE)

    key = (visit.namespace, "events", repr(wanted), before, after)
    page: KeysetPage[EventRow] = KeysetPage([]) if wrong else await visit.readings.share(key, read)
    query = {name: visit.query.get(name, "") for name in _PARAMETERS}
    options = [word for name in ("topic", "key") if query[name] for word in (f"--{name}", query[name])]
    return visit.render(
        "events/events.html",
        status=422 if wrong else 200,
        rows=page.rows,
        groups=await read_groups(visit) if visit.has("consumers") else None,
        query=query,
        wrong=wrong,
        is_narrow=any(query.values()),
        is_paged=before is not None or after is not None,
        # The search limit was reached before the page was full.
        is_cut=page.reached is not None and len(page.rows) < _PAGE,
        command=command(visit, "events", "ls", *options),
        **_links(visit, page, before, after),
    )


def _filter(visit: PageRequest) -> tuple[EventFilter, dict[str, str]]:
    """Read the filter, and return errors by parameter."""
    topic, key = visit.query.get("topic", "").strip(), visit.query.get("key", "")
    partition = read_number(visit.query.get("partition"))
    try:
        return EventFilter(topics=(topic,) if topic else (), key=key or None, partition=partition), {}
    except InvalidError as error:
        return EventFilter(), {error.field: without_field(error, error.field)}


def _links(
    visit: PageRequest, page: KeysetPage[EventRow], before: int | None, after: int | None
) -> dict[str, str | None]:
    """Return links to newer and older events; None if there are none."""
    rows = page.rows
    newer = older = page.reached
    if after is not None:
        older = rows[-1].position if rows else after + 1
    else:
        newer = None if before is None else rows[0].position if rows else before - 1
    return {
        "newer": None if newer is None else visit.here(after=newer, before=None),
        "older": None if older is None else visit.here(before=older, after=None),
        "newest": visit.here(before=None, after=None) if before is not None or after is not None else None,
    }


@dataclass(frozen=True, slots=True)
class EventPageData:
    event: Event
    run: RunRecord | None
    # Events that were published together with it, in order.
    siblings: list[EventRow]
    explanation: EventExplanation


async def event(visit: PageRequest) -> Response:
    event_id, zone = visit.param("id"), visit.clock.zone()
    data = await visit.readings.share((visit.namespace, "event", event_id, zone), lambda: _read(visit, event_id, zone))
    return visit.render(
        "events/event.html",
        data=data,
        event=data.event,
        attributes=[(name, value) for name, value in data.event.to_cloud_event().items() if name != "data"],
        table=as_table(data.event.data),
        icons=VERDICT_ICONS,
        group_path=group_path,
        command=command(visit, "events why", data.event.id),
    )


async def _read(visit: PageRequest, event_id: str, zone: str) -> EventPageData:
    explanation = await visit.client.events.why(event_id, tz=zone)
    found, run, siblings = explanation.event, None, list[EventRow]()
    if found.run_id is not None:
        with suppress(NotFoundError):
            run = await visit.client.runs.get(found.run_id)
    if found.transaction_id is not None and found.position is not None and visit.has("dashboard"):
        page = await visit.board.events(after=max(0, found.position - found.ordinal), limit=_SIBLINGS)
        siblings = [row for row in reversed(page.rows) if row.transaction_id == found.transaction_id]
    return EventPageData(found, run, siblings, explanation)


# The icon of each verdict about an event in a group.
VERDICT_ICONS: Final = {
    "not subscribed": "expired",
    "handled": "succeeded",
    "waits": "waiting",
    "in delivery": "running",
    "paused": "paused",
    "stopped": "parked",
    "retrying": "late",
    "deferred": "held",
    "failed": "failed",
    "delivered": "succeeded",
    "skipped": "skipped",
}


ROUTES: Final = (PageRoute("/events", events), PageRoute("/events/{id}", event))
