"""Events of a calendar: iCalendar, RFC 5545. Each event becomes a schedule that ticks at its start."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from tickbird.domain.errors import InvalidError, TriggerError
from tickbird.domain.time.instants import DAY, iso, to_datetime, to_seconds, wall_datetime, wall_seconds
from tickbird.domain.time.zone_data import zone_info
from tickbird.domain.time.zones import zone
from tickbird.domain.triggers.rrule.rrule import rrule
from tickbird.domain.triggers.trigger import Trigger, at
from tickbird.importers.entries import Fires, Imported, ImportedSchedule, name_of, short

MAX_EVENTS: Final = 10_000
_DATE: Final = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z)?)?", re.ASCII)
_LINE: Final = re.compile(r"([A-Za-z0-9-]+)((?:;[A-Za-z0-9-]+=(?:\"[^\"]*\"|[^\";:])*)*):(.*)")
_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_PARAM: Final = re.compile(r";([A-Za-z0-9-]+)=(\"[^\"]*\"|[^;]*)")
_ESCAPE: Final = re.compile(r"\\(.)")
# A rule with only its start, to which RDATE adds.
_SINGLE: Final = "FREQ=YEARLY;COUNT=1"
_NOTES: Final = (
    "A schedule ticks when its event begins; how long the event takes, who is invited and alarms are not imported.",
)


@dataclass(slots=True)
class _Property:
    params: Mapping[str, str]
    value: str


@dataclass(slots=True)
class _Component:
    kind: str
    line: int
    properties: dict[str, list[_Property]] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Return the first value of a property, unescaped; "" if there is none."""
        values = self.properties.get(name, [])
        return _ESCAPE.sub(lambda match: "\n" if match[1] in "nN" else match[1], values[0].value) if values else ""


@dataclass(slots=True)
class _Event:
    """An event whose dates are wall-clock times in its zone; aware if they are the second time in a repeated hour."""

    component: _Component
    origin: str
    tz: str
    start: datetime
    all_day: bool
    rule: str | None
    exdate: set[datetime]
    rdate: set[datetime]
    notes: list[str]

    @property
    def trigger(self) -> Trigger:
        if self.rule is None and not self.rdate and not self.exdate:
            return at(to_datetime(zone(self.tz).to_epoch(wall_seconds(self.start))))
        return rrule(self.rule or _SINGLE, dtstart=self.start, tz=self.tz, exdate=self.exdate, rdate=self.rdate)

    @property
    def fields(self) -> dict[str, Any]:
        if self.rule is None and not self.rdate and not self.exdate:
            return {"at": self.start.isoformat(), "tz": self.tz}
        fields: dict[str, Any] = {"rrule": self.rule or _SINGLE, "dtstart": self.start.isoformat(), "tz": self.tz}
        for name, dates in (("exdate", self.exdate), ("rdate", self.rdate)):
            if dates:
                fields[name] = sorted(
                    date.isoformat() if date.tzinfo is None else iso(to_seconds(date)) for date in dates
                )
        return fields


class _Zones:
    """Maps time zone names of a calendar to IANA names."""

    def __init__(self, own: Mapping[str, str], tz: str) -> None:
        self._own = dict(own)
        self.default = tz

    def learn(self, component: _Component) -> None:
        """Add the IANA name that a VTIMEZONE states next to its own."""
        if location := component.text("X-LIC-LOCATION"):
            self._own.setdefault(component.text("TZID"), location)

    def find(self, tzid: str) -> str:
        """Return the IANA name of a TZID; raise ValueError with the --zone option if it is unknown."""
        parts = tzid.split("/")
        suffixes = ("/".join(parts[start:]) for start in range(len(parts)))
        for name in (self._own.get(tzid, tzid), *suffixes):
            try:
                return zone(name).name
            except TriggerError:
                continue
        raise ValueError(
            f"its zone {tzid[:60]!r} is not an IANA time zone. Map it with --zone '{tzid[:60]}=Europe/Rome'"
        )


def read_calendar(
    text: str,
    source: str,
    *,
    tz: str = "UTC",
    task: str | None = None,
    zones: Mapping[str, str] | None = None,
    after: int = 0,
) -> Imported:
    """Read all events. Times without a time zone are in `tz`. Events without a tick after `after` are not imported."""
    imported = Imported("iCalendar", source, notes=list(_NOTES))
    imported.notes.append(f"Times without a time zone are in {tz}. Use --tz for another time zone.")
    zone_names = _Zones(zones or {}, tz)
    components = list(_components(_unfolded(text), imported))
    for component in components:
        if component.kind == "VTIMEZONE":
            zone_names.learn(component)
    events: dict[str, _Event] = {}
    changed: list[_Component] = []
    for component in components:
        if component.kind != "VEVENT":
            if component.kind not in ("VTIMEZONE", "VCALENDAR"):
                imported.leave(_origin(component), f"a {component.kind} is not an event", component.line)
        elif "RECURRENCE-ID" in component.properties:
            changed.append(component)
        else:
            try:
                event = _event(component, zone_names)
            except (ValueError, InvalidError) as error:
                imported.leave(_origin(component), str(error).rstrip("."), component.line)
                continue
            uid = component.text("UID")
            events[uid if uid and uid not in events else f"line {component.line}"] = event
    for component in changed:
        try:
            _change_tick(component, events.get(component.text("UID")), zone_names)
        except (ValueError, InvalidError) as error:
            imported.leave(_origin(component), str(error).rstrip("."), component.line)
    for event in events.values():
        _add(imported, event, task, after)
    return imported


def _add(imported: Imported, event: _Event, task: str | None, after: int) -> None:
    component = event.component
    try:
        trigger = event.trigger
    except InvalidError as error:
        imported.leave(event.origin, str(error).rstrip("."), component.line)
        return
    first = trigger.next_tick(after)
    if first is None:
        imported.leave(event.origin, "it is over", component.line)
        return
    summary = component.text("SUMMARY") or component.text("UID") or "event"
    fields = {**event.fields, "task": task or name_of(summary), "description": summary}
    entry = ImportedSchedule(summary, fields, event.origin, component.line, event.notes)
    entry.notes += [f"Warning: {text}." for code, text in trigger.date_warnings() if code == "unused-exdate"]
    entry.fires = _fires(trigger, event)
    if trigger.on_wall_clock() is None:
        entry.stretches = [(first - DAY, first + DAY)]
    if component.text("STATUS").upper() == "CANCELLED":
        entry.off = "it is cancelled"
    imported.add(entry)


def _event(component: _Component, zones: _Zones) -> _Event:
    if len(component.properties.get("DTSTART", [])) != 1:
        raise ValueError("it has no DTSTART")
    notes: list[str] = []
    [dtstart] = component.properties["DTSTART"]
    tz, start, all_day = _moment(dtstart, dtstart.value, zones)
    if all_day:
        notes.append("It is an all-day event: it ticks at 00:00.")
    rules = [rule.value for rule in component.properties.get("RRULE", [])]
    if len(rules) > 1 or "EXRULE" in component.properties:
        raise ValueError("it has several rules, or an EXRULE. Create a schedule for each rule")
    event = _Event(component, _origin(component), tz, start, all_day, rules[0] if rules else None, set(), set(), notes)
    event.rdate |= set(_dates(component, "RDATE", event, zones))
    event.exdate |= {_excluded_date(date, event) for date in _dates(component, "EXDATE", event, zones)}
    if event.rule is not None and not _is_in_rule(event):
        event.rdate.add(start)
        notes.append("Its start does not match its rule. It is added as rdate, because calendars show it.")
    return event


def _is_in_rule(event: _Event) -> bool:
    assert event.rule is not None
    trigger = rrule(event.rule, dtstart=event.start, tz=event.tz)
    return trigger.contains(zone(event.tz).to_epoch(wall_seconds(event.start)))


def _dates(component: _Component, name: str, event: _Event, zones: _Zones) -> Iterator[datetime]:
    for listed in component.properties.get(name, []):
        for text in filter(None, listed.value.split(",")):
            # Only the start of a period matters.
            yield _in_event(listed, text.partition("/")[0], event, zones)


def _in_event(stated: _Property, text: str, event: _Event, zones: _Zones) -> datetime:
    """Return the local time in the zone of the event, or an aware datetime if it is the second one in a repeated hour.

    A date without a time gets the time of the event.
    """
    tz, moment, is_date = _moment(stated, text, zones)
    if is_date:
        return moment.replace(hour=event.start.hour, minute=event.start.minute, second=event.start.second)
    if tz == event.tz:
        return moment
    own, instant = zone(event.tz), zone(tz).to_epoch(wall_seconds(moment))
    wall = own.to_wall(instant)
    return wall_datetime(wall) if own.to_epoch(wall) == instant else to_datetime(instant)


def _excluded_date(date: datetime, event: _Event) -> datetime:
    """Return the occurrence that a date names; in RFC 5545, a time in a gap is later by the duration of the gap."""
    clock = rrule(event.rule or _SINGLE, dtstart=event.start, tz=event.tz, rdate=event.rdate).on_wall_clock()
    if date.tzinfo is not None or clock.contains(wall_seconds(date)):
        return date
    own = zone(event.tz)
    instant = own.to_epoch(wall_seconds(date))
    span = own.span(instant)
    lost = instant + own.span(span.start - 1).offset
    return wall_datetime(lost) if lost < span.start + span.offset and clock.contains(lost) else date


def _change_tick(component: _Component, event: _Event | None, zones: _Zones) -> None:
    """Apply the cancellation or the move of one occurrence to its event."""
    [stated] = component.properties["RECURRENCE-ID"][:1]
    if event is None:
        raise ValueError("it changes an occurrence of an event that is not in the calendar")
    if "RANGE" in stated.params:
        raise ValueError("it changes all later occurrences. End the rule with UNTIL, and create another schedule")
    before = _excluded_date(_in_event(stated, stated.value, event, zones), event)
    if component.text("STATUS").upper() == "CANCELLED":
        event.exdate.add(before)
        event.notes.append(f"The occurrence of {before} is cancelled (line {component.line}).")
        return
    starts = component.properties.get("DTSTART", [])
    if len(starts) != 1:
        raise ValueError("it has no DTSTART")
    after = _in_event(starts[0], starts[0].value, event, zones)
    if after != before:
        event.exdate.add(before)
        event.rdate.add(after)
        event.notes.append(f"The occurrence of {before} is moved to {after} (line {component.line}).")
    else:
        text = f"The occurrence of {before} has another description (line {component.line}): not imported."
        event.notes.append(text)


def _moment(stated: _Property, text: str, zones: _Zones) -> tuple[str, datetime, bool]:
    """Return the time zone, the local time in it, and whether it is a date without a time."""
    match = _DATE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text[:40]!r} is not an iCalendar date such as 20260131T090000")
    year, month, day, hour, minute, second, utc = match.groups()
    is_date = hour is None
    try:
        # Tickbird has no leap seconds.
        clock = (0, 0, 0) if is_date else (int(hour), int(minute), min(int(second), 59))
        moment = datetime(int(year), int(month), int(day), *clock)  # noqa: DTZ001 - on a wall clock
    except ValueError:
        raise ValueError(f"there is no {text[:40]!r} in the calendar") from None
    if utc:
        return "UTC", moment, is_date
    tzid = stated.params.get("TZID")
    return zones.default if tzid is None or is_date else zones.find(tzid), moment, is_date


def _fires(trigger: Trigger, event: _Event) -> Fires:
    """Return the firings of RFC 5545: a local time in a DST gap is later by the duration of the gap."""
    wall, local = trigger.on_wall_clock(), zone_info(event.tz)
    if wall is None:
        single = to_seconds(event.start.replace(tzinfo=local))
        return lambda after, until: [single] if after < single <= until else []
    aware = {to_seconds(date) for date in event.rdate - event.exdate if date.tzinfo is not None}

    def fires(after: int, until: int) -> Iterable[int]:
        instants = set(aware)
        tick = wall.next_tick(after - 2 * 86_400)
        while tick is not None and tick <= until + 2 * 86_400:
            instants.add(to_seconds(wall_datetime(tick).replace(tzinfo=local)))
            tick = wall.next_tick(tick)
        return sorted(instant for instant in instants if after < instant <= until)

    return fires


def _origin(component: _Component) -> str:
    named = component.text("SUMMARY") or component.text("UID") or "without a name"
    return short(f"{component.kind} {named}")


def _unfolded(text: str) -> Iterator[tuple[int, str]]:
    """Yield content lines with their numbers. A line that starts with a space or a tab continues the previous one."""
    current: tuple[int, str] | None = None
    for number, line in enumerate(_LINE_END.split(text), 1):
        if line[:1] in (" ", "\t") and current is not None:
            current = current[0], current[1] + line[1:]
            continue
        if current is not None:
            yield current
        current = (number, line) if line.strip() else None
    if current is not None:
        yield current


def _components(lines: Iterable[tuple[int, str]], imported: Imported) -> Iterator[_Component]:
    """Yield the components of calendars, without nested ones such as alarms."""
    stack: list[_Component] = []
    number_of_events = 0
    is_calendar = False
    for number, line in lines:
        match = _LINE.fullmatch(line)
        if match is None:
            imported.leave(short(line), "this is not an iCalendar line", number)
            continue
        name, params, value = match[1].upper(), match[2], match[3]
        if name == "BEGIN":
            is_calendar = is_calendar or value.strip().upper() == "VCALENDAR"
            stack.append(_Component(value.strip().upper(), number))
        elif name == "END":
            if not stack or stack[-1].kind != value.strip().upper():
                raise InvalidError(f"line {number}: END:{value[:40]} has no BEGIN.", hint="Export the calendar again.")
            component = stack.pop()
            if [outer.kind for outer in stack] == ["VCALENDAR"]:
                number_of_events += 1
                if number_of_events > MAX_EVENTS:
                    raise InvalidError(f"there are more than {MAX_EVENTS:,} events.", hint="Import them in parts.")
                yield component
        elif stack:
            pairs = {key.upper(): text.strip('"') for key, text in _PARAM.findall(params)}
            stack[-1].properties.setdefault(name, []).append(_Property(pairs, value))
    if stack or not is_calendar:
        reason = f"{stack[-1].kind} in line {stack[-1].line} has no END" if stack else "there is no BEGIN:VCALENDAR"
        raise InvalidError(f"the calendar is incomplete: {reason}.", hint="Export the calendar again.")


def read_zone_names(texts: Iterable[str]) -> dict[str, str]:
    """Parse NAME=ZONE options."""
    names = {}
    for text in texts:
        name, equals, iana = text.rpartition("=")
        if not equals or not name:
            raise InvalidError(
                f"--zone: {text[:60]!r} is not NAME=ZONE.",
                field="zone",
                hint="Write, for example, 'W. Europe Standard Time=Europe/Berlin'.",
            )
        names[name] = zone(iana).name
    return names
