"""Firings of cron, from syslog or journald: Debian's cron, cronie and busybox."""

from __future__ import annotations

import json
import re
from array import array
from calendar import monthrange
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

from tickbird.domain.time.zone_data import zone_info
from tickbird.importers.history.observed import Commands, Group, ObservedFirings, read_time

_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_CLASSIC: Final = rf"(?P<month>{'|'.join(_MONTHS)}) {{1,2}}(?P<day>\d{{1,2}}) (?P<time>\d\d:\d\d:\d\d)(?:\.\d+)?"
_DATED: Final = r"(?P<dated>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)"
# The formats of journalctl -o short-full and -o short-unix.
_FULL: Final = r"[A-Z][a-z]{2} (?P<full>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?P<zone>[A-Z][A-Za-z0-9+-]*)"
_UNIX: Final = r"(?P<unix>\d{9,11}\.\d+)"
# The host is optional; busybox adds the facility, such as cron.info, after it.
_LINE: Final = re.compile(
    rf"(?:<\d+>)?(?:{_CLASSIC}|{_FULL}|{_DATED}|{_UNIX}) (?:\S+ )?(?:[a-z0-9]+\.[a-z]+ )?"
    r"(?P<program>[^\s:\[]+)(?:\[\d+\])?: ?(?P<message>.*)",
    re.ASCII,
)
# RFC 5424: program, process, message id and data are separate fields.
_RFC_5424: Final = re.compile(
    rf"<\d+>1 (?P<at>{_DATED}) \S+ (?P<program>\S+) \S+ \S+ (?:-|(?:\[[^\]]*\])+) ?\ufeff?(?P<message>.*)"
)
# A line of another program: only its time is read.
_STAMP: Final = re.compile(rf"(?:<\d+>)?(?:{_CLASSIC}|{_FULL}|{_DATED}|{_UNIX})\s", re.ASCII)
_CRONS: Final = frozenset(("cron", "crond", "cronie", "/usr/sbin/cron", "/usr/sbin/crond"))
_STARTED: Final = re.compile(r"\((?P<user>[^()]*)\) CMD (?P<rest>.*)", re.DOTALL)
_BUSYBOX: Final = re.compile(r"USER (?P<user>\S+) pid +\d+ cmd (?P<command>.*)", re.DOTALL)
# Twelve months of 31 days. If a line seems older than the previous one by more than half a year, a new year began.
_YEAR: Final = 372 * 86_400
_DAY: Final = timedelta(days=1)
_LEAP_YEAR: Final = 2024


class CronLog:
    """Reads log lines. Times without a year get it at the end, because only the last line is known to be recent."""

    def __init__(
        self, commands: Commands, observed: ObservedFirings, *, tz: str, now: datetime, user: str | None = None
    ) -> None:
        self._commands, self._observed, self._tz, self._user = commands, observed, tz, user
        self._info, self._now = zone_info(tz), now.astimezone(zone_info(tz)).replace(tzinfo=None)
        # Lines without a year: their groups, and their times in years of twelve 31-day months.
        self._groups: list[Group] = []
        self._places: dict[Group, int] = {}
        self._undated: array[int] = array("q")
        self._which: array[int] = array("l")
        self._edges: list[int] = []

    def read(self, lines: Iterable[tuple[str, str]]) -> None:
        before = ""
        for location, line in lines:
            before, is_rest = location, location == before
            if is_rest:
                continue
            if line.strip() and not line.startswith("-- "):
                if line.startswith("{"):
                    self._read_json(location, line)
                else:
                    self._read_line(location, line)
        self._date()

    def _read_line(self, location: str, line: str) -> None:
        if (apart := _RFC_5424.match(line)) is not None:
            line = f"{apart['at']} host {apart['program']}: {apart['message']}"
        match = _LINE.match(line) or _STAMP.match(line)
        if match is None:
            self._observed.wrong(location, "it does not start with a time", line)
            return
        at: float | None = None
        if match["month"] is None:
            try:
                at = self._dated(match)
            except ValueError as error:
                self._observed.wrong(location, str(error), line)
                return
            self._observed.note_instant(at)
        elif not self._see(match, location, line):
            return
        parts = match.groupdict()
        if (parts.get("program") or "").lower() in _CRONS:
            self._read_message(location, parts["message"], at)

    def _dated(self, match: re.Match[str]) -> float:
        if match["full"] is not None:
            suffix = "Z" if match["zone"] in ("UTC", "GMT") else ""
            return read_time(match["full"] + suffix, self._tz)
        return read_time(match["dated"] or match["unix"], self._tz)

    def _see(self, match: re.Match[str], location: str, line: str) -> bool:
        """Record the time of a line without a year; return False if the time is invalid."""
        day, (hour, minute, second) = int(match["day"]), map(int, match["time"].split(":"))
        longest = monthrange(_LEAP_YEAR, _MONTHS.index(match["month"]) + 1)[1]
        if not (1 <= day <= longest and hour < 24 and minute < 60 and second <= 60):
            self._observed.wrong(location, "there is no such time", line)
            return False
        at = (_MONTHS.index(match["month"]) * 31 + day - 1) * 86_400 + hour * 3_600 + minute * 60 + min(second, 59)
        if self._edges:
            # Choose the year in which it is nearest to the previous line.
            before = self._edges[1]
            at += round((before - at) / _YEAR) * _YEAR
            self._edges[1] = at
        else:
            self._edges = [at, at]
        return True

    def _read_message(self, location: str, message: str, at: float | None) -> None:
        if (match := _STARTED.match(message)) is not None:
            command = match["rest"].rstrip()
            if not (command.startswith("(") and command.endswith(")")):
                self._observed.wrong(location, "its command is cut off", message)
                return
            command = command[1:-1]
        elif (match := _BUSYBOX.match(message)) is not None:
            command = match["command"]
        else:
            return
        if self._user not in (None, match["user"]):
            return
        group = self._commands.group(match["user"], command)
        if group is None:
            self._observed.other(command)
        elif at is not None:
            self._observed.fired(group, at)
        else:
            self._keep(group)

    def _keep(self, group: Group) -> None:
        if group not in self._places:
            self._places[group] = len(self._groups)
            self._groups.append(group)
        self._which.append(self._places[group])
        self._undated.append(self._edges[1])

    def _read_json(self, location: str, line: str) -> None:
        """Read a line of `journalctl -o json`."""
        try:
            entry = json.loads(line)
            at = int(entry["__REALTIME_TIMESTAMP"]) / 1e6
            program = str(entry.get("SYSLOG_IDENTIFIER") or entry.get("_COMM") or "")
            message = entry.get("MESSAGE")
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            self._observed.wrong(location, "it is not a line of journalctl -o json", line)
            return
        self._observed.note_instant(at)
        if program.lower() in _CRONS and isinstance(message, str):
            self._read_message(location, message, at)

    def _date(self) -> None:
        """Set the missing years: the last line is the latest possible one that is not in the future."""
        if not self._edges:
            return
        year = self._now.year
        while (last := self._on(self._edges[1], year)) is None or last > self._now + _DAY:
            year -= 1
        base = year - self._edges[1] // _YEAR
        before = 0.0
        for edge in self._edges:
            if (wall := self._on(edge % _YEAR, base + edge // _YEAR)) is not None:
                self._observed.note_instant(self._instant(wall, before))
        for at, which in zip(self._undated, self._which, strict=True):
            wall = self._on(at, base + at // _YEAR)
            if wall is None:
                self._observed.wrong("log", "there is no such day in its year", f"29 February {base + at // _YEAR}")
                continue
            before = self._instant(wall, before)
            self._observed.fired(self._groups[which], before)
        self._edges, self._groups, self._places = [], [], {}
        self._undated, self._which = array("q"), array("l")

    def _on(self, at: int, year: int) -> datetime | None:
        """Return the local time; None if the year has no such day."""
        days, seconds = divmod(at % _YEAR, 86_400)
        try:
            return datetime(year, days // 31 + 1, days % 31 + 1) + timedelta(seconds=seconds)  # noqa: DTZ001
        except ValueError:
            return None

    def _instant(self, wall: datetime, before: float) -> float:
        """Return the instant of a local time. If it occurs twice, choose one that is not before the previous line."""
        once, again = (wall.replace(tzinfo=self._info, fold=fold).astimezone(UTC).timestamp() for fold in (0, 1))
        return again if once < before <= again else once
