"""Ticks: to come, decided, explained and audited."""

from __future__ import annotations

from tickbird.domain.explain.explanation import Explanation, Step
from tickbird.domain.ledger.activity import Activity
from tickbird.domain.ledger.decisions import TickDecisions
from tickbird.domain.ledger.report import LedgerError, LedgerReport
from tickbird.domain.planning.upcoming import UpcomingTick
from tickbird.domain.runs.run import SkipRecord
from tickbird.wire.decode.parts import Document, instant, maybe, second
from tickbird.wire.decode.runs import read_run
from tickbird.wire.decode.schedules import read_override
from tickbird.wire.decode.system import read_audit_record


def read_tick(document: Document) -> UpcomingTick:
    """A tick to come."""
    return UpcomingTick(
        instant(document["scheduled_for"]),
        instant(document["due_at"]),
        document["skipped"],
        maybe(read_override, document["override"]),
    )


def read_skip(document: Document) -> SkipRecord:
    """Ticks that were not run."""
    return SkipRecord(
        id=document["id"],
        schedule_id=document["schedule_id"],
        revision=document["revision"],
        reason=document["reason"],
        first=instant(document["first"]),
        last=instant(document["last"]),
        count=document["count"],
        run_id=document["run_id"],
        actor=document["actor"],
        note=document["note"],
        decided_at=instant(document["decided_at"]),
    )


def read_decisions(document: Document) -> TickDecisions:
    """The runs and skips of a range of ticks."""
    return TickDecisions(runs=[*map(read_run, document["runs"])], skips=[*map(read_skip, document["skips"])])


def read_activity(document: Document) -> Activity:
    """Something that happened."""
    return Activity(
        instant(document["at"]),
        document["kind"],
        document["schedule"],
        maybe(read_run, document["run"]),
        maybe(read_skip, document["skip"]),
        maybe(read_audit_record, document["audit"]),
    )


def read_explanation(document: Document) -> Explanation:
    """Why a tick ran, did not run, or will not."""
    return Explanation(
        schedule=document["schedule"],
        at=instant(document["at"]),
        verdict=document["verdict"],
        sentence=document["sentence"],
        steps=tuple(map(read_step, document["steps"])),
        run_id=document["run_id"],
        revision=document["revision"],
    )


def read_step(document: Document) -> Step:
    """One step of an explanation."""
    return Step(document["ok"], document["name"], document["text"], document["run_id"], maybe(instant, document["at"]))


def read_audit(document: Document) -> LedgerReport:
    """What came of auditing one schedule over a range."""
    return LedgerReport(
        schedule=document["schedule"],
        first=maybe(second, document["first"]),
        last=maybe(second, document["last"]),
        complete_from=maybe(second, document["complete_from"]),
        expected=document["expected"],
        runs=document["runs"],
        skipped=document["skipped"],
        open=document["open"],
        findings=tuple(map(_finding, document["findings"])),
        finding_count=document["finding_count"],
    )


def _finding(document: Document) -> LedgerError:
    return LedgerError(
        kind=document["kind"],
        first=second(document["first"]),
        last=second(document["last"]),
        count=document["count"],
        text=document["text"],
        run_id=document["run_id"],
        skip_id=document["skip_id"],
    )
