"""Stored calendars, and what they do to coming ticks."""

from __future__ import annotations

from tickbird.domain.calendars.calendar import content_from_json
from tickbird.domain.calendars.definition import CalendarRecord
from tickbird.domain.planning.calendar_impact import CalendarImpact, CalendarReport, ResolvedCalendar
from tickbird.wire.decode.parts import Document, instant


def read_calendar_record(document: Document) -> CalendarRecord:
    """A stored calendar."""
    return CalendarRecord(
        name=document["name"],
        definition=document["definition"],
        closed=content_from_json(document["closed"]),
        source=document["source"],
        revision=document["revision"],
        created_at=instant(document["created_at"]),
        changed_at=instant(document["changed_at"]),
        changed_by=document["changed_by"],
    )


def read_calendar_report(document: Document) -> CalendarReport:
    """What a calendar does to coming ticks, or would do."""
    stored = document["calendar"]
    return CalendarReport(
        name=document["name"],
        calendar=_resolved(document) if stored is None else read_calendar_record(stored),
        horizon=document["horizon"],
        schedules=document["schedules"],
        effects=[*map(_effect, document["effects"])],
        complete=document["complete"],
        failed=[(each["schedule"], each["error"]) for each in document["failed"]],
    )


def _resolved(document: Document) -> ResolvedCalendar:
    return ResolvedCalendar(
        definition=document["definition"], closed=content_from_json(document["closed"]), source=document["source"]
    )


def _effect(document: Document) -> CalendarImpact:
    return CalendarImpact(
        document["schedule"],
        tuple((instant(each["from"]), instant(each["to"])) for each in document["moved"]),
        tuple(map(instant, document["appear"])),
        tuple(map(instant, document["vanish"])),
        document["more"],
    )
