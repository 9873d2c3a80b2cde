"""The page of a schedule: state, charts, ticks, runs, definition, revisions and actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any, Final

from starlette.responses import Response

from tickbird.client import StoreClient
from tickbird.client.optional import if_supported
from tickbird.domain.dashboard_rows import Marked, RunPoint, RunTiming, SkipPoint
from tickbird.domain.doctor.schedule_warnings import problems
from tickbird.domain.planning.backfills import BackfillRecord
from tickbird.domain.planning.upcoming import next_skipped, upcoming_ticks, with_notes
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.diff import revision_origin
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import Schedule, trigger_description
from tickbird.domain.targets.registry import target_details, target_line
from tickbird.domain.time.instants import to_datetime, utc_text
from tickbird.domain.workers import Worker
from tickbird.web.actions import backfill, delete, pause, roll_back, ticks, trigger
from tickbird.web.dashboard_reads import DashboardReads
from tickbird.web.page_request import PageRequest, PageRoute
from tickbird.web.pages import revisions, why
from tickbird.web.policy_table import declared_by, facts_of, overridden
from tickbird.web.schedule_charts import Drawn
from tickbird.web.schedule_urls import schedule_path

_TICKS: Final = 10
_MAX_SYMBOLS: Final = 120
_TIMINGS: Final = 500
_RECENTLY: Final = timedelta(days=90)
_RUNS: Final = 10
_SKIPS: Final = 8
_REVISIONS: Final = 8
# Seconds. Dependents change with deploys, not with ticks.
_DEPENDENTS_TTL: Final = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulePageData:
    """The data of the page, shared by all users who have it open."""

    schedule: Schedule
    workers: Sequence[Worker]
    marks: Sequence[Marked]
    timings: Sequence[RunTiming]
    runs: Sequence[RunRecord]
    records: Sequence[RevisionRecord]
    first: RevisionRecord | None
    held: int
    backfills: Sequence[BackfillRecord]


async def schedule(visit: PageRequest) -> Response:
    name, client = visit.schedule_name, visit.client
    record = await revisions.find(visit, name)
    seen = await visit.readings.share(
        (visit.namespace, "schedule", name, record.revision), lambda: _read(client, record, visit.clock.now)
    )
    dependents = await visit.readings.share(
        (visit.namespace, "dependents", name), lambda: visit.board.dependents(name), fresh=_DEPENDENTS_TTL
    )
    return visit.render("schedule.html", **_context(visit, record, seen), dependents=dependents)


async def _read(client: StoreClient, record: Schedule, now: datetime) -> SchedulePageData:
    board, name = DashboardReads(client), record.name
    records = await board.revisions(record.id, limit=_REVISIONS + 1)
    if record.field_overrides and declared_by(records) is None:
        records = await board.revisions(record.id, limit=1_000)
    first = records[-1] if records and records[-1].revision == 1 else None
    if first is None:
        first = next(iter(await board.revisions(record.id, before=2, limit=1)), None)
    return SchedulePageData(
        schedule=record,
        workers=await client.workers.list(),
        marks=(await board.newest_points([record.id], each=_MAX_SYMBOLS)).get(record.id, ()),
        timings=await board.timings(now - _RECENTLY, schedule_id=record.id, limit=_TIMINGS),
        runs=await client.runs.list(schedule=name, limit=_RUNS),
        records=records,
        first=first,
        held=sum(held.count for held in await if_supported(client.held.list(name), ())),
        backfills=await if_supported(client.backfills.list(schedule=name, limit=3), ()),
    )


def _context(visit: PageRequest, record: Schedule, seen: SchedulePageData) -> dict[str, Any]:
    now, definition = visit.clock.now, record.definition
    own = definition.trigger.tz if definition is not None else None
    ticks = with_notes(record, upcoming_ticks(record, now, _TICKS), now)
    declared = declared_by(seen.records)
    at = schedule_path(record.name)
    drawn = Drawn(
        name=record.name,
        marks=seen.marks,
        timings=seen.timings,
        coming=[tick for tick, _ in ticks],
        now=now,
        tz=visit.clock.zone(own),
        why=lambda instant: visit.url(f"{at}/why", at=utc_text(instant)),
        run=lambda run_id: visit.url(f"/runs/{run_id}"),
        timeout=definition.timeout if definition is not None else None,
    )
    return {
        "schedule": record,
        "definition": definition,
        "target_line": "" if definition is None else target_line(definition.target),
        "target_details": {} if definition is None else target_details(definition.target),
        "tz": own or "UTC",
        "at": at,
        "drawn": drawn,
        "ticks": ticks,
        "skipped": next_skipped(record, now),
        "problems": problems(record, seen.workers, now, 0),
        "held": seen.held,
        "runs": seen.runs,
        "failures": _failures(seen.marks),
        "skips": [mark for mark in reversed(seen.marks) if isinstance(mark, SkipPoint)][:_SKIPS],
        "entries": revisions.entries_of(seen.records, _REVISIONS),
        "more_revisions": len(seen.records) > _REVISIONS,
        "creation": _creation(seen.first),
        "last": seen.records[0] if seen.records else None,
        "until": to_datetime(record.pause.until) if record.pause and record.pause.until is not None else None,
        # Values that differ from the default come first.
        "facts": sorted(facts_of(record, declared), key=lambda fact: fact.is_default),
        "overridden": dict(overridden(record, declared)),
        "trigger_text": _trigger_text(definition),
        "trigger_description": trigger_description(record),
        "backfills": seen.backfills,
        "utc_text": utc_text,
        "offers": _offers(visit, record),
    }


def _failures(marks: Sequence[Marked]) -> list[int]:
    """Return the ids of the latest consecutive failures, newest first."""
    ended = (mark for mark in reversed(marks) if isinstance(mark, RunPoint) and mark.status in ("succeeded", "failed"))
    return [mark.id for mark in takewhile(lambda mark: mark.status == "failed", ended)]


def _creation(first: RevisionRecord | None) -> tuple[str, str] | None:
    """Return actor and origin of the first revision, or None."""
    return None if first is None else (first.actor, revision_origin(first.action, first.actor, first.detail))


def _trigger_text(definition: Definition | None) -> str:
    """Return the cron expression; empty for other triggers."""
    if definition is None:
        return ""
    encoded = definition.trigger.to_json()
    return str(encoded["cron"]) if isinstance(encoded.get("cron"), str) else ""


def _offers(visit: PageRequest, record: Schedule) -> Sequence[tuple[str, str]]:
    """Return the actions for this state and the caller's role."""
    state, readable = record.state, record.definition is not None
    runs = readable and state not in ("parked", "deleted") and not (record.definition and record.definition.shadow)
    if state == "deleted":
        return []
    offers: list[tuple[str, str]] = []
    if visit.may("operator"):
        offers += [("run", "Run now…")] if runs else []
        if record.pause is not None or (state == "parked" and readable):
            offers.append(("resume", "Resume…"))
        elif state != "ended":
            offers.append(("pause", "Pause…"))
        if state == "active" and readable:
            offers += [("reschedule", "Reschedule…"), ("skip", "Skip…")]
        if runs and record.cursor.planned_until is not None and visit.has("backfills"):
            offers.append(("backfill", "Backfill…"))
    return offers


ROUTES: Final = (
    *why.ROUTES,
    *pause.ROUTES,
    *ticks.ROUTES,
    *trigger.ROUTES,
    *backfill.ROUTES,
    *delete.ROUTES,
    *roll_back.ROUTES,
    *revisions.ROUTES,
    PageRoute("/schedules/{name:path}", schedule),
)
