"""A strict parser of iCalendar, written from RFC 5545 alone; it accepts only the grammar."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

_LINE = re.compile(r"([A-Z0-9-]+)((?:;[A-Z0-9-]+=(?:[^\x00-\x08\x0a-\x1f\x7f\",;:]+|\"[^\"]*\"))*):(.*)", re.DOTALL)
# section 3.3.11: TSAFE-CHAR, ":", DQUOTE and the four escapes.
_TEXT = re.compile(r"(?:[^\x00-\x08\x0a-\x1f\x7f\\;,]|\\[\\;,Nn])*")
_DURATION = re.compile(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?")
_TEXTS = {"UID", "SUMMARY", "DESCRIPTION", "STATUS", "TRANSP", "PRODID", "X-WR-CALNAME", "X-WR-CALDESC"}


@dataclass
class Component:
    """The lines between BEGIN and END."""

    kind: str
    values: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    parts: list[Component] = field(default_factory=list)

    def at(self, name: str) -> datetime:
        """An instant in UTC."""
        assert re.fullmatch(r"\d{8}T\d{6}Z", self.values[name]), self.values[name]
        return datetime.strptime(self.values[name], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)

    def length(self) -> timedelta:
        """The duration of an event."""
        found = _DURATION.fullmatch(self.values["DURATION"])
        assert found
        assert any(found.groups())
        hours, minutes, seconds = (int(part or 0) for part in found.groups())
        return timedelta(hours=hours, minutes=minutes, seconds=seconds)


def read_ical(octets: bytes) -> Component:
    """Parse a calendar file, or raise AssertionError."""
    assert octets.endswith(b"\r\n")
    rows = octets.removesuffix(b"\r\n").split(b"\r\n")
    for row in rows:
        assert len(row) <= 75, row
        assert b"\n" not in row, row
        assert b"\r" not in row, row
        # Split between characters, never within one.
        row.decode()
    lines: list[bytes] = []
    for row in rows:
        if row[:1] in (b" ", b"\t"):
            lines[-1] += row[1:]
        else:
            lines.append(row)
    open_ones: list[Component] = []
    for line in lines:
        found = _LINE.fullmatch(line.decode())
        assert found, line
        name, parameters, value = found.groups()
        if name == "BEGIN":
            component = Component(value)
            if open_ones:
                open_ones[-1].parts.append(component)
            open_ones.append(component)
            continue
        component = open_ones[-1]
        if name == "END":
            assert value == component.kind
            _check(component)
            if len(open_ones) == 1:
                assert line is lines[-1]
                return component
            open_ones.pop()
            continue
        assert name not in component.values, f"{name} twice"
        component.parameters[name] = parameters
        component.values[name] = _plain(value) if name in _TEXTS else value
        if name == "CATEGORIES":
            assert all(_TEXT.fullmatch(part) for part in re.split(r"(?<!\\),", value))
    raise AssertionError("it does not end")


def _plain(value: str) -> str:
    assert _TEXT.fullmatch(value), value
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] in "nN" else found[1], value)


def _check(component: Component) -> None:
    values = component.values
    if component.kind == "VCALENDAR":
        assert values["VERSION"] == "2.0"
        assert values["PRODID"]
        assert component.parts, "a calendar has one component at least"
        ids = [part.values["UID"] for part in component.parts if part.kind == "VEVENT"]
        assert len(ids) == len(set(ids))
    if component.kind == "VEVENT":
        assert values["UID"]
        component.at("DTSTAMP")
        assert not ("DTEND" in values and "DURATION" in values)
        assert values["STATUS"] in ("TENTATIVE", "CONFIRMED", "CANCELLED")
        assert values["TRANSP"] in ("OPAQUE", "TRANSPARENT")
        if component.parameters["DTSTART"] == ";VALUE=DATE":
            assert re.fullmatch(r"\d{8}", values["DTSTART"])
            assert component.parameters["DTEND"] == ";VALUE=DATE"
            assert values["DTEND"] > values["DTSTART"]
        else:
            assert component.parameters["DTSTART"] == ""
            component.at("DTSTART")
            assert component.length() > timedelta(0)
