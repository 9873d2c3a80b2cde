"""The ticks of a schedule over HTTP: those to come, those decided, and why."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query

from tickbird.api import PREFIX
from tickbird.api.auth.auth import Viewer
from tickbird.api.models.ticks import ExplanationModel, LedgerPage, UpcomingTicks
from tickbird.api.paging import AfterNumber, Limit, read_number, write_items
from tickbird.api.query_types import InstantText, read_instant
from tickbird.cpu_threads import compute
from tickbird.domain.planning.upcoming import with_notes
from tickbird.domain.runs.run import RunRecord, SkipRecord
from tickbird.domain.time.instants import LAST_SECOND, to_datetime, to_seconds, utc_text
from tickbird.wire.encode.runs import run_document
from tickbird.wire.encode.ticks import skip_document, tick_document
from tickbird.wire.page_tokens import write_key

router = APIRouter(prefix=f"{PREFIX}/schedules", tags=["ticks"])
Decision = tuple[datetime, RunRecord | None, SkipRecord | None]
# How far back the ledger is read when nothing else is said.
_LATELY = timedelta(days=7)


@router.get("/{name}/next", summary="The ticks to come", operation_id="next_ticks", response_model=UpcomingTicks)
async def next_ticks(
    access: Viewer, name: str, count: Annotated[int, Query(ge=1, le=10_000, description="How many.")] = 10
) -> Any:
    """The next ticks as the schedule stands now, with what changes of the clock do to them."""
    client = access.client
    schedule, now = await client.get(name), await client.now()
    ticks = await client.next_ticks(name, count)
    noted = await compute(with_notes, schedule, ticks, now)
    items = await write_items(noted, lambda tick: tick_document(*tick))
    return {"now": utc_text(now), "items": items}


@router.get("/{name}/ticks", summary="The ledger", operation_id="list_ticks", response_model=LedgerPage)
async def list_ticks(
    access: Viewer,
    name: str,
    first: Annotated[InstantText | None, Query(description="Ticks from here on; else of the last seven days.")] = None,
    last: Annotated[InstantText | None, Query(description="Ticks up to here; else up to now.")] = None,
    limit: Limit = 100,
    after: AfterNumber = None,
) -> Any:
    """What was decided for ticks, oldest first: a run each, or a skip of one or many.

    A run and a skip of the same tick are never on different pages, so that a page may have one thing more.
    """
    end = await access.client.now() if last is None else read_instant(last, "last")
    place = read_number(after)
    start = (
        (end - _LATELY if first is None else read_instant(first, "first"))
        if place is None
        else to_datetime(min(place, LAST_SECOND))
    )
    if start > end:
        return {"items": [], "next": None}
    found = await access.client.tick_decisions(name, start, end, limit=limit + 1)
    runs: list[Decision] = [(run.scheduled_for or run.due_at, run, None) for run in found.runs]
    skips: list[Decision] = [(skip.first, None, skip) for skip in found.skips]
    # What reaches into this page from the one before was there already.
    runs, skips = (
        sorted((each for each in kind if place is None or each[0] >= start), key=lambda each: each[0])
        for kind in (runs, skips)
    )
    # Of either kind there may be more behind the last one that was read.
    horizon = min((kind[limit][0] for kind in (runs, skips) if len(kind) > limit), default=None)
    items = sorted((*runs, *skips), key=lambda each: each[0])
    cut = items[limit - 1][0] if len(items) > limit else None
    bound = min((each for each in (horizon, cut) if each is not None), default=None)
    if bound is None:
        return {"items": [_decision(each) for each in items], "next": None}
    shown = [each for each in items if each[0] <= bound]
    more = len(shown) < len(items) or horizon == bound
    return {"items": [_decision(each) for each in shown], "next": write_key(to_seconds(bound) + 1) if more else None}


@router.get("/{name}/why", summary="Why it ran, or did not", operation_id="why", response_model=ExplanationModel)
async def why(
    access: Viewer,
    name: str,
    at: Annotated[InstantText, Query(description="The instant to explain.")],
    tz: Annotated[str | None, Query(max_length=100, description="Tell times on this zone's clock.")] = None,
) -> Any:
    """What was, or will be, decided for an instant, and every step on the way."""
    return (await access.client.why(name, read_instant(at, "at"), tz=tz)).to_json()


def _decision(decision: Decision) -> dict[str, Any]:
    tick, run, skip = decision
    return {
        "tick": utc_text(tick),
        "run": None if run is None else run_document(run),
        "skip": None if skip is None else skip_document(skip),
    }
