"""What is written as a document and read again is what it was."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wire.made import INSTANTS, JSON, NUMBERS, SECONDS, TEXTS, WHOLE, any_of_type, records
from tickbird.domain.access.sessions import SessionRecord
from tickbird.domain.access.tokens import TokenRecord
from tickbird.domain.calendars.calendar import Calendar, exclude
from tickbird.domain.calendars.definition import CalendarRecord
from tickbird.domain.dashboard_rows import ScheduleSummary
from tickbird.domain.doctor.finding import Finding
from tickbird.domain.explain.explanation import Explanation
from tickbird.domain.forecast.preview import Preview
from tickbird.domain.ledger.activity import Activity, AuditEntry
from tickbird.domain.ledger.decisions import TickDecisions
from tickbird.domain.ledger.report import LedgerError, LedgerReport
from tickbird.domain.limits.concurrency import ConcurrencyLimit
from tickbird.domain.limits.rate_limits import QueuePosition, QueueStatus, RateLimit
from tickbird.domain.planning.backfills import BackfillPlan, BackfillRecord
from tickbird.domain.planning.calendar_impact import CalendarImpact, CalendarReport, ResolvedCalendar
from tickbird.domain.planning.upcoming import UpcomingTick
from tickbird.domain.planning.zone_impact import ZoneImpact
from tickbird.domain.runs.held import HeldSchedule
from tickbird.domain.runs.logs import LogLine
from tickbird.domain.runs.run import AttemptRecord, RunRecord, SkipRecord, Status
from tickbird.domain.schedules.codec import encode_definition
from tickbird.domain.schedules.definition import Backoff, Definition, Target
from tickbird.domain.schedules.dependencies import After
from tickbird.domain.schedules.revision import HistoryEntry, RevisionRecord
from tickbird.domain.schedules.schedule import Cursor, PauseState, Schedule, State
from tickbird.domain.schedules.tick_overrides import AppliedOverride, OverrideRecord, TickOverride
from tickbird.domain.store_identity import StoreIdentity
from tickbird.domain.time.zone_data import ZoneRecord, Zones
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import any_of, at
from tickbird.domain.workers import Worker
from tickbird.files.plan import FilePlan, ScheduleChange, Unchanged
from tickbird.wire.codec import decode, encode

thorough = settings(deadline=None, max_examples=15 * int(os.environ.get("TICKBIRD_FUZZ", "1")))

OBJECTS = st.dictionaries(TEXTS, JSON, max_size=2)
TARGETS = st.builds(Target, st.just("report"))
RATES = st.builds(RateLimit, st.integers(1, 1_000), st.integers(1, 31 * 86_400))
RUNS = records(
    RunRecord,
    target=TARGETS,
    applied_override=st.none() | records(AppliedOverride, created_at=SECONDS),
)
SKIPS = records(SkipRecord)
TRIGGERS = st.sampled_from(
    [
        cron("0 9 * * 1-5", tz="America/New_York"),
        cron("*/10 * * * * *"),
        every(minutes=5),
        every(hours=5, anchor=datetime(2026, 11, 1, 6, 30, tzinfo=UTC), tz="America/New_York"),
        every(months=1, anchor=datetime(2026, 1, 31), tz="Europe/Berlin"),
        at(datetime(2027, 1, 1, tzinfo=UTC)),
        any_of(cron("0 9 * * *"), every(days=3, tz="Pacific/Apia")),
    ]
)
DEFINITIONS = st.builds(
    Definition,
    trigger=TRIGGERS,
    target=TARGETS,
    payload=OBJECTS,
    description=TEXTS,
    tags=st.sampled_from([(), ("mail", "eu")]),
    priority=st.integers(-1_000, 1_000),
    catch_up=st.sampled_from(["one", "latest", "all", "skip"]),
    overlap=st.sampled_from(["skip", "queue", "replace", "allow"]),
    spread=st.integers(0, 3_600),
    start_at=st.none() | st.just(datetime(2020, 1, 1, tzinfo=UTC)),
    max_runs=st.none() | st.integers(1, 100),
    exclude=st.sampled_from([Calendar(), exclude("sat", date(2026, 12, 24))]),
    calendars=st.just(("closed",)),
    closed=st.just({"closed": Calendar(frozenset([date(2026, 1, 6)]), frozenset([6]), frozenset([(12, 25)]))}),
    backoff=st.builds(Backoff, st.integers(1, 10), st.integers(10, 100)),
    timeout=st.none() | st.integers(1, 100),
    concurrency_key=st.none() | st.just("warehouse"),
    depends_on=st.just((After("etl", 3_600),)) | st.just(()),
)
CLOSED = st.sampled_from(
    [
        Calendar(),
        Calendar(
            frozenset([date(2026, 1, 6)]), frozenset([5, 6]), frozenset([(12, 25)]), frozenset([date(2026, 12, 25)])
        ),
    ]
)
MOVES = st.lists(st.tuples(INSTANTS, INSTANTS), max_size=2).map(tuple)


@st.composite
def stored(draw: Any) -> Schedule:
    """A schedule of any kind, with what people decided for its coming ticks."""
    definition = draw(DEFINITIONS)
    decided = draw(st.none() | st.integers(1_800_000_000, 1_900_000_000))
    overrides: list[TickOverride] = []
    if decided is not None:
        later = draw(st.sets(st.integers(decided + 1, decided + 10**7), max_size=4))
        made = records(
            TickOverride,
            created_at=SECONDS,
            due_at=st.none() | SECONDS,
            payload=st.none() | OBJECTS,
            decided_early=st.just(False),
        )
        for place, tick in enumerate(sorted(later)):
            overrides.append(TickOverride(tick, decided_early=True) if place == 2 else replace(draw(made), tick=tick))
    skips = draw(st.booleans())
    cursor = Cursor(
        planned_until=decided,
        next_run_at=draw(st.none() | SECONDS),
        runs_planned=draw(NUMBERS),
        skip_until=draw(SECONDS) if skips else None,
        skip_by=draw(TEXTS) if skips else None,
        skip_note=draw(TEXTS) if skips else "",
        tick_overrides=tuple(overrides),
    )
    optional = st.none() | TEXTS
    return Schedule(
        id=draw(NUMBERS),
        namespace="shop",
        name="report",
        revision=draw(NUMBERS),
        state=draw(any_of_type(State)),
        definition=definition,
        cursor=cursor,
        pause=draw(st.none() | records(PauseState, until=st.none() | SECONDS)),
        error=draw(optional),
        app=draw(optional),
        fingerprint=draw(optional),
        definition_json=encode_definition(definition),
        field_overrides=draw(OBJECTS),
        created_at=draw(any_of_type(datetime | None)),
        changed_at=draw(any_of_type(datetime | None)),
    )


UNCHANGED = records(Unchanged, pause=st.none() | records(PauseState, until=st.none() | SECONDS))
FILE_CHANGES = records(
    ScheduleChange,
    command=st.none(),
    restores=st.just(()),
    schedule=stored(),
    pause=st.none() | records(PauseState, until=st.none() | SECONDS),
)


def again(document: Any) -> Any:
    """What arrives of a document that is sent."""
    return json.loads(json.dumps(document, allow_nan=False))


KINDS: dict[str, tuple[Any, Any]] = {
    "schedule": (stored(), Schedule),
    "row": (
        records(ScheduleSummary, schedule=stored(), last_run=st.none() | RUNS),
        ScheduleSummary,
    ),
    "override": (records(OverrideRecord), OverrideRecord),
    "revision": (
        records(RevisionRecord, definition=OBJECTS, detail=OBJECTS),
        RevisionRecord,
    ),
    "history": (records(HistoryEntry), HistoryEntry),
    "run": (RUNS, RunRecord),
    "attempt": (records(AttemptRecord), AttemptRecord),
    "turn": (records(QueuePosition, rate=st.none() | RATES), QueuePosition),
    "held": (records(HeldSchedule), HeldSchedule),
    "tick": (
        records(UpcomingTick, override=st.none() | records(OverrideRecord)),
        UpcomingTick,
    ),
    "skip": (SKIPS, SkipRecord),
    "decisions": (
        records(TickDecisions, runs=st.lists(RUNS, max_size=2), skips=st.lists(SKIPS, max_size=2)),
        TickDecisions,
    ),
    "happening": (
        records(Activity, run=st.none() | RUNS, skip=st.none() | SKIPS, namespace=st.just("")),
        Activity,
    ),
    "explanation": (records(Explanation), Explanation),
    "audit": (
        records(
            LedgerReport,
            first=st.none() | SECONDS,
            last=st.none() | SECONDS,
            complete_from=st.none() | SECONDS,
            findings=st.lists(records(LedgerError, first=SECONDS, last=SECONDS), max_size=3).map(tuple),
        ),
        LedgerReport,
    ),
    "backfill plan": (records(BackfillPlan), BackfillPlan),
    "backfill": (
        records(BackfillRecord, counts=st.dictionaries(any_of_type(Status), st.integers(1, 100))),
        BackfillRecord,
    ),
    "preview": (records(Preview, definition=DEFINITIONS), Preview),
    "calendar": (records(CalendarRecord, closed=CLOSED), CalendarRecord),
    "calendar report": (
        records(
            CalendarReport,
            calendar=records(ResolvedCalendar, closed=CLOSED) | records(CalendarRecord, closed=CLOSED),
            effects=st.lists(records(CalendarImpact, moved=MOVES), max_size=2),
            failed=st.lists(st.tuples(TEXTS, TEXTS), max_size=2),
        ),
        CalendarReport,
    ),
    "plan": (
        records(FilePlan, schedules=st.lists(FILE_CHANGES, max_size=2), stays=st.lists(UNCHANGED, max_size=2)),
        FilePlan,
    ),
    "limit": (records(ConcurrencyLimit), ConcurrencyLimit),
    "queue": (records(QueueStatus, rate=st.none() | RATES), QueueStatus),
    "worker": (
        records(Worker, tasks=OBJECTS, declared=st.dictionaries(st.text(), st.text(), max_size=2), health=OBJECTS),
        Worker,
    ),
    "token": (records(TokenRecord, digest=st.just("")), TokenRecord),
    "session": (records(SessionRecord, digest=st.just("")), SessionRecord),
    "audit record": (records(AuditEntry), AuditEntry),
    "finding": (records(Finding), Finding),
    "place": (records(StoreIdentity), StoreIdentity),
    "zone record": (records(ZoneRecord), ZoneRecord),
    "zones": (records(Zones), Zones),
    "moves": (records(ZoneImpact, until=WHOLE), ZoneImpact),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_read_is_what_was_written(kind: str) -> None:
    values, hint = KINDS[kind]

    @thorough
    @given(values)
    def holds(value: Any) -> None:
        assert decode(hint, again(encode(value))) == value

    holds()


@thorough
@given(records(LogLine))
def test_lines_are_those_of_their_run(line: LogLine) -> None:
    assert replace(decode(LogLine, again(encode(line))), run_id=line.run_id) == line


@thorough
@given(DEFINITIONS)
def test_every_definition_is_read_whole(definition: Definition) -> None:
    made = Schedule(1, "shop", "report", 1, "active", definition, definition_json=encode_definition(definition))
    read = decode(Schedule, again(encode(made)))
    assert read.definition == definition
    assert read.grid.next(1_800_000_000) == made.grid.next(1_800_000_000)


def test_a_definition_that_cannot_be_read_here_is_none() -> None:
    made = Schedule(1, "shop", "report", 1, "parked", None, definition_json={"v": 1}, error="trigger is missing.")
    assert decode(Schedule, again(encode(made))) == made
    # One of a newer server: it works there, and here it is shown without what it means.
    newer = again(encode(replace(made, definition=None)))
    newer |= {"trigger_description": "At dawn", "definition": {"v": 2}}
    assert decode(Schedule, newer).definition is None
