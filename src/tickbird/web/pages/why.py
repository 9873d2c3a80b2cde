"""The explanation of one instant: every decision about its tick."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from starlette.responses import Response

from tickbird.client import StoreClient
from tickbird.domain.errors import InvalidError
from tickbird.domain.explain.explanation import Explanation
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import to_datetime, to_seconds, utc_text
from tickbird.web.dashboard_reads import DashboardReads
from tickbird.web.forms.field_errors import without_field
from tickbird.web.forms.instants import Picked, local_value, read_instant, zone_choices
from tickbird.web.linkify import linked
from tickbird.web.page_request import PageRequest, PageRoute
from tickbird.web.pages.revisions import find
from tickbird.web.schedule_urls import schedule_path

_RUN: Final = re.compile(r"\b[Rr]un (\d{1,18})\b")
_REVISION: Final = re.compile(r"\b[Rr]evision (\d{1,9})\b|\b(r\d{1,9})\b")
# Revisions whose actors become links.
_REVISIONS: Final = 100


@dataclass(frozen=True, slots=True)
class ExplanationPanel:
    """An explanation, and the actors that it may mention."""

    explanation: Explanation
    people: frozenset[str]


async def why(visit: PageRequest) -> Response:
    """Explain an instant; by default, the last or the next tick."""
    schedule = await find(visit, visit.schedule_name)
    own = schedule.definition.trigger.tz if schedule.definition else "UTC"
    zones = zone_choices(visit.clock, own, visit.query.get("tz"))
    text, client = visit.query.get("at", "").strip(), visit.client
    try:
        picked = read_instant(text, zones[0], "at") if text else Picked(_default_instant(schedule, visit.clock.now))
        shown_in = visit.clock.zone(own)
        panel = await visit.readings.share(
            (visit.namespace, "why", schedule.name, picked.at, shown_in),
            lambda: _read(client, schedule, picked.at, shown_in),
        )
    except InvalidError as error:
        context = _empty(visit, schedule, text, zones, without_field(error, "at"))
        return visit.render("why.html", status=422, **context)
    return visit.render("why.html", **_context(visit, schedule, picked, panel, zones))


async def _read(client: StoreClient, schedule: Schedule, at: datetime, tz: str) -> ExplanationPanel:
    explanation = await client.ticks.why(schedule.name, at, tz=tz)
    people = {record.actor for record in await DashboardReads(client).revisions(schedule.id, limit=_REVISIONS)}
    if explanation.run_id is not None:
        run = await client.runs.get(explanation.run_id)
        people |= {run.actor or "", run.cancel_requested_by or "", run.released_by or ""}
        people |= {run.applied_override.actor} if run.applied_override is not None else set()
    return ExplanationPanel(explanation, frozenset(people - {""}))


def _default_instant(schedule: Schedule, now: datetime) -> datetime:
    """Return the last tick since the schedule was created, or the next one."""
    second = to_seconds(now)
    if schedule.definition is None:
        return to_datetime(second)
    last, coming = schedule.grid.previous(second + 1), schedule.grid.next(second)
    created_at = schedule.created_at
    if last is not None and (created_at is None or to_datetime(last) >= created_at):
        return to_datetime(last)
    tick = coming if coming is not None else last
    return to_datetime(second if tick is None else tick)


def _empty(visit: PageRequest, schedule: Schedule, text: str, zones: list[str], wrong: str) -> dict[str, Any]:
    return {
        "schedule": schedule,
        "at": schedule_path(schedule.name),
        "tz": zones[0],
        "zones": zones,
        "typed": text,
        "wrong": wrong,
        "explanation": None,
    }


def _context(
    visit: PageRequest, schedule: Schedule, picked: Picked, panel: ExplanationPanel, zones: list[str]
) -> dict[str, Any]:
    explanation, at = panel.explanation, schedule_path(schedule.name)
    second = to_seconds(picked.at)
    before = after = None
    if schedule.definition is not None:
        before, after = schedule.grid.previous(second), schedule.grid.next(second)
    texts = [explanation.sentence, *(step.text for step in explanation.steps)]
    addresses = dict(_addresses(visit, schedule, texts, panel.people))
    where = () if visit.namespace == "default" else ("--namespace", visit.namespace)
    # `--` protects a name that starts with a dash.
    words = [
        "why",
        *where,
        *(["--"] if schedule.name.startswith("-") else []),
        schedule.name,
        utc_text(picked.at) or "",
    ]
    return {
        "schedule": schedule,
        "at": at,
        "tz": schedule.definition.trigger.tz if schedule.definition else "UTC",
        "zones": zones,
        "typed": local_value(picked.at, zones[0]),
        "wrong": "",
        "explanation": explanation,
        "picked": picked,
        "earlier": None if before is None else to_datetime(before),
        "later": None if after is None else to_datetime(after),
        "linked": lambda text: linked(text, addresses),
        "utc_text": utc_text,
        "command": shlex.join(["tickbird", *words]),
    }


def _addresses(
    visit: PageRequest, schedule: Schedule, texts: list[str], people: frozenset[str]
) -> Iterator[tuple[str, str]]:
    """Yield the phrases of an explanation and their URLs."""
    for text in texts:
        for match in _RUN.finditer(text):
            yield match[0], visit.url(f"/runs/{match[1]}")
        for match in _REVISION.finditer(text):
            number = (match[1] or match[2]).lstrip("r")
            yield match[0], visit.schedule(schedule.name, "/revisions", before=int(number) + 1)
    for name in sorted(people):
        yield name, visit.url("/audit", schedule=schedule.name, actor=name)


ROUTES: Final = (PageRoute("/schedules/{name:path}/why", why),)
