"""Coming ticks as an iCalendar feed (RFC 5545)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from tickbird.domain.planning.agenda import BUSY, Agenda, AgendaEntry, agenda
from tickbird.domain.planning.upcoming import UpcomingTick
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import EPOCH, utc_text

MEDIA_TYPE: Final = "text/calendar; charset=utf-8"
# Octets per line, without the line ending.
_WIDTH: Final = 75
# Minutes of an event without a known duration, and the maximum.
_MINUTES: Final = 5
_MAX_MINUTES: Final = 24 * 60
# Control characters are not allowed, except tab and line feed.
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_SPECIAL: Final = re.compile(r"[\\;,]")
_WHY: Final = {
    "operator": "an operator skipped it",
    "paused": "the schedule is paused",
    "rescheduled": "an earlier tick was moved past it",
    "calendar": "its calendar excludes the day",
    "shadow": "it is a shadow; the old system does the work",
}
# A calendar needs at least one component, and this one is always true.
_UTC: Final = (
    "BEGIN:VTIMEZONE",
    "TZID:Etc/UTC",
    "BEGIN:STANDARD",
    "DTSTART:19700101T000000",
    "TZOFFSETFROM:+0000",
    "TZOFFSETTO:+0000",
    "END:STANDARD",
    "END:VTIMEZONE",
)


@dataclass(frozen=True, slots=True)
class CalendarFile:
    """The text of a calendar, the number of its events, and remarks on events that it leaves out."""

    text: str
    events: int
    remarks: Sequence[str]


def calendar_file(
    entries: Sequence[AgendaEntry], now: datetime, days: int, limit: int, remarks: Sequence[str], version: str
) -> CalendarFile:
    """Return a calendar with at most `limit` events of the next `days`."""
    upcoming = agenda(entries, now, days, limit)
    remarks = [*remarks]
    if not upcoming.complete:
        remarks.append(f"There are more than these {limit:,} events. Request fewer days or fewer schedules.")
    if upcoming.busy:
        many = f"{len(upcoming.busy):,} {'schedules tick' if len(upcoming.busy) > 1 else 'schedule ticks'}"
        remarks.append(f"{many} more than {BUSY} times a day: one event stands for all of it.")
    events = len(upcoming.ticks) + len(upcoming.busy)
    return CalendarFile(ical(upcoming, remarks, version=version), events, remarks)


def run_seconds(run: RunRecord | None) -> float | None:
    """Return the seconds of a successful run, otherwise None."""
    if run is None or run.status != "succeeded" or run.started_at is None or run.finished_at is None:
        return None
    return (run.finished_at - run.started_at).total_seconds()


def ical(upcoming: Agenda, remarks: Sequence[str] = (), *, version: str) -> str:
    """Return the calendar's text, which is stable until something changes or a tick passes."""
    events = [*_busy_events(upcoming), *(_tick_event(*entry) for entry in upcoming.ticks)]
    namespaces = {entry.schedule.namespace for entry, _ in (*upcoming.ticks, *upcoming.busy)}
    name = "Tickbird" if namespaces <= {"default"} else f"Tickbird: {', '.join(sorted(namespaces))}"
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        f"PRODID:-//Tickbird//Tickbird {version}//EN",
        "CALSCALE:GREGORIAN",
        f"X-WR-CALNAME:{_text(name)}",
        *([f"X-WR-CALDESC:{_text(' '.join(remarks))}"] if remarks else []),
        "X-PUBLISHED-TTL:PT1H",
        "REFRESH-INTERVAL;VALUE=DURATION:PT1H",
        *(_UTC if not events else ()),
    ]
    for event in events:
        lines += ["BEGIN:VEVENT", *event, "END:VEVENT"]
    lines.append("END:VCALENDAR")
    return "".join(f"{part}\r\n" for line in lines for part in _folded(line))


def _tick_event(planned: AgendaEntry, tick: UpcomingTick) -> list[str]:
    schedule = planned.schedule
    words = [_what(schedule)]
    if tick.skipped is not None:
        words.append(f"Will not run: {_WHY.get(tick.skipped, tick.skipped)}.")
    elif tick.override is not None:
        moved, other = tick.override.moved, tick.override.payload is not None
        words += [f"Moved here from {utc_text(tick.scheduled_for)}."] if moved else []
        words += ["Runs with another payload."] if other else []
    if tick.override is not None:
        words.append(_decided(tick.override.actor, tick.override.note))
    elif tick.skipped == "operator":
        words.append(_decided(schedule.cursor.skip_by or "", schedule.cursor.skip_note))
    revised = max([_revised(schedule), *([tick.override.created_at] if tick.override is not None else [])])
    return [
        # The UID stays the same when a tick is moved or skipped.
        f"UID:{_text(f'{_instant(tick.scheduled_for)}/{schedule.namespace}/{schedule.name}@tickbird')}",
        f"DTSTAMP:{_instant(revised)}",
        f"DTSTART:{_instant(tick.due_at)}",
        f"DURATION:PT{_minutes(planned.took)}M",
        f"SUMMARY:{_text(schedule.name)}",
        f"DESCRIPTION:{_text(_described(words, schedule))}",
        *_categories(schedule),
        f"STATUS:{'CONFIRMED' if tick.skipped is None else 'CANCELLED'}",
        # The event must not mark a person as busy.
        "TRANSP:TRANSPARENT",
    ]


def _busy_events(agenda: Agenda) -> Iterator[list[str]]:
    """Yield one all-day event for each schedule that ticks too often to list."""
    first, last = agenda.start.date(), agenda.end.date() + timedelta(days=1)
    days = max(1, (agenda.end - agenda.start).days)
    for planned, number in agenda.busy:
        schedule = planned.schedule
        a_day = round(number / days)
        words = [_what(schedule), f"About {a_day:,} ticks a day, which are not listed one by one."]
        yield [
            f"UID:{_text(f'busy/{schedule.namespace}/{schedule.name}@tickbird')}",
            f"DTSTAMP:{_instant(_revised(schedule))}",
            f"DTSTART;VALUE=DATE:{first:%Y%m%d}",
            f"DTEND;VALUE=DATE:{last:%Y%m%d}",
            f"SUMMARY:{_text(f'{schedule.name} (about {a_day:,} ticks a day)')}",
            f"DESCRIPTION:{_text(_described(words, schedule))}",
            *_categories(schedule),
            f"STATUS:{'CONFIRMED' if schedule.state == 'active' else 'TENTATIVE'}",
            "TRANSP:TRANSPARENT",
        ]


def _what(schedule: Schedule) -> str:
    assert schedule.definition is not None
    target = schedule.definition.target
    return f"{schedule.definition.trigger.describe()}; {target.kind} {target.name}"


def _described(words: Sequence[str], schedule: Schedule) -> str:
    """Return the trigger, changes, description, tags and state."""
    definition = schedule.definition
    assert definition is not None
    lines = [*words]
    if definition.description:
        lines.append(definition.description)
    if definition.tags:
        lines.append(f"Tags: {', '.join(definition.tags)}")
    note = f" by {schedule.pause.by}: {schedule.pause.note}" if schedule.pause is not None else ""
    lines.append(f"State: {schedule.state}{note}")
    return "\n".join(lines)


def _decided(actor: str, note: str) -> str:
    return f"Decided by {actor}" + (f": {note}" if note else ".")


def _categories(schedule: Schedule) -> list[str]:
    assert schedule.definition is not None
    tags = schedule.definition.tags
    return [f"CATEGORIES:{','.join(map(_text, tags))}"] if tags else []


def _revised(schedule: Schedule) -> datetime:
    """Return the last change of the schedule: a stable timestamp gives a stable text."""
    return schedule.changed_at or schedule.created_at or EPOCH


def _minutes(took: float | None) -> int:
    return _MINUTES if took is None else min(_MAX_MINUTES, max(1, math.ceil(took / 60)))


def _instant(at: datetime) -> str:
    return f"{at.astimezone(EPOCH.tzinfo):%Y%m%dT%H%M%SZ}"


def _text(text: str) -> str:
    plain = _CONTROLS.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _SPECIAL.sub(r"\\\g<0>", plain).replace("\n", "\\n")


def _folded(line: str) -> Iterable[str]:
    """Split a line into parts of at most 75 octets, between characters; further parts begin with a space."""
    if len(line) * 4 <= _WIDTH or len(line.encode()) <= _WIDTH:
        return [line]
    parts: list[str] = []
    part, size = "", 0
    for letter in line:
        length = len(letter.encode())
        if size + length > _WIDTH:
            parts.append(part)
            part, size = " ", 1
        part += letter
        size += length
    return [*parts, part]
