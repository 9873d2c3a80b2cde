"""Calendars, as JSON."""

from __future__ import annotations

from typing import Any

from tickbird.domain.calendars.calendar import calendar_to_json
from tickbird.domain.calendars.definition import CalendarRecord
from tickbird.domain.planning.calendar_impact import CalendarImpact, CalendarReport
from tickbird.domain.time.instants import utc_text as iso


def calendar_document(record: CalendarRecord) -> dict[str, Any]:
    """A stored calendar; `closed` are its days as schedules hold them."""
    return {
        "name": record.name,
        "definition": dict(record.definition),
        "closed": calendar_to_json(record.closed),
        "source": dict(record.source),
        "revision": record.revision,
        "created_at": iso(record.created_at),
        "changed_at": iso(record.changed_at),
        "changed_by": record.changed_by,
    }


def calendar_report_document(report: CalendarReport) -> dict[str, Any]:
    """What a calendar does to coming ticks, or would do; `calendar` is null where it was not stored."""
    calendar = report.calendar
    return {
        "name": report.name,
        "stored": isinstance(calendar, CalendarRecord),
        "calendar": calendar_document(calendar) if isinstance(calendar, CalendarRecord) else None,
        "definition": dict(calendar.definition),
        "closed": calendar_to_json(calendar.closed),
        "source": dict(calendar.source),
        "horizon": report.horizon,
        "schedules": report.schedules,
        "effects": [calendar_impact_document(each) for each in report.effects],
        "complete": report.complete,
        "failed": [{"schedule": name, "error": error} for name, error in report.failed],
    }


def calendar_impact_document(effect: CalendarImpact) -> dict[str, Any]:
    """The ticks of a schedule that a calendar moves, lets appear or lets vanish; `more` are not listed."""
    return {
        "schedule": effect.schedule,
        "moved": [{"from": iso(old), "to": iso(new)} for old, new in effect.moved],
        "appear": [iso(tick) for tick in effect.appear],
        "vanish": [iso(tick) for tick in effect.vanish],
        "more": effect.more,
    }
