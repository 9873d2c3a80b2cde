"""Runs that are held after an outage: list, release (optionally rate-limited) and drop."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from tickbird.domain.errors import InvalidError
from tickbird.domain.messages import count as counted
from tickbird.domain.runs.held import MAX_COUNT, HeldSchedule, none_held
from tickbird.web.page_request import PageRequest, PageRoute
from tickbird.web.pages.run import command
from tickbird.web.pages.runs import row_of

_MAX_SCHEDULES: Final = 500
_MAX_RUNS: Final = 20


async def held(visit: PageRequest) -> Response:
    async def read() -> Any:
        return sorted(await visit.client.held.list(), key=lambda held: held.schedule)

    schedules = await visit.readings.share((visit.namespace, "held"), read)
    return visit.render(
        "held.html",
        schedules=schedules[:_MAX_SCHEDULES],
        more=len(schedules) - _MAX_SCHEDULES,
        total=sum(held.count for held in schedules),
    )


async def release(visit: PageRequest) -> Response:
    return await _decide(visit, "release")


async def drop(visit: PageRequest) -> Response:
    return await _decide(visit, "drop")


async def _decide(visit: PageRequest, verb: str) -> Response:
    name = visit.schedule_name
    standing = await _held(visit, name)
    typed = {field: visit.form.text(field) for field in ("count", "per_minute", "note", "sure")}
    wrong: dict[str, str] = {}
    if visit.is_sent:
        count = _integer(typed["count"], "count", wrong)
        pace = _integer(typed["per_minute"], "per_minute", wrong) if verb == "release" else None
        if verb == "drop" and typed["sure"] != "yes":
            wrong["sure"] = "Confirm that these runs will never execute."
        if not wrong:
            try:
                done = await _do(visit, verb, name, count, pace, typed["note"])
            except InvalidError as error:
                wrong["note"] = str(error)
            else:
                what = "released" if verb == "release" else "dropped"
                return visit.done(visit.url("/held"), f"{counted(done, 'held run')} of {name[:200]} {what}.")
    oldest = await visit.client.held.list_runs(name, limit=_MAX_RUNS)
    options = [
        *(("--count", typed["count"]) if typed["count"] else ()),
        *(("--per-minute", typed["per_minute"]) if typed["per_minute"] else ()),
        *(("--note", typed["note"]) if typed["note"] else ()),
    ]
    return visit.render(
        "held_decide.html",
        status=422 if wrong else 200,
        verb=verb,
        standing=standing,
        typed=typed,
        wrong=wrong,
        rows=[row_of(visit, run) for run in oldest],
        command=command(visit, verb, name, *options),
    )


async def _held(visit: PageRequest, name: str) -> HeldSchedule:
    schedules = await visit.client.held.list(name)
    if not schedules:
        raise none_held(name)
    return schedules[0]


async def _do(visit: PageRequest, verb: str, name: str, count: int | None, pace: int | None, note: str) -> int:
    if verb == "release":
        return await visit.client.held.release(name, actor=visit.actor, count=count, per_minute=pace, note=note)
    return await visit.client.held.drop(name, actor=visit.actor, count=count, note=note)


def _integer(text: str, field: str, wrong: dict[str, str]) -> int | None:
    """Parse a whole number; None if the text is empty."""
    if not text:
        return None
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else 0
    if not 1 <= number <= MAX_COUNT:
        wrong[field] = f"{text[:60]!r} is not a whole number from 1 to {MAX_COUNT:,}."
    return number


ROUTES: Final = (
    PageRoute("/held", held),
    PageRoute("/held/{name:path}/release", release, "operator", ("GET", "POST")),
    PageRoute("/held/{name:path}/drop", drop, "operator", ("GET", "POST")),
)
