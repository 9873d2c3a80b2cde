"""What cron did, by its lines in the system's log: Debian's cron, cronie and busybox; syslog and journald."""

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
# As journalctl -o short-full and -o short-unix have it.
_FULL: Final = r"[A-Z][a-z]{2} (?P<full>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?P<zone>[A-Z][A-Za-z0-9+-]*)"
_UNIX: Final = r"(?P<unix>\d{9,11}\.\d+)"
# The host may be left out; busybox puts what it is about, such as cron.info, behind it.
_LINE: Final = re.compile(
    rf"(?:<\d+>)?(?:{_CLASSIC}|{_FULL}|{_DATED}|{_UNIX}) (?:\S+ )?(?:[a-z0-9]+\.[a-z]+ )?"
    r"(?P<program>[^\s:\[]+)(?:\[\d+\])?: ?(?P<message>.*)",
    re.ASCII,
)
# RFC 5424: the program, its process, a name of the message and data stand apart.
_RFC_5424: Final = re.compile(
    rf"<\d+>1 (?P<at>{_DATED}) \S+ (?P<program>\S+) \S+ \S+ (?:-|(?:\[[^\]]*\])+) ?\ufeff?(?P<message>.*)"
)
# A line of something else may have anything behind its time.
_STAMP: Final = re.compile(rf"(?:<\d+>)?(?:{_CLASSIC}|{_FULL}|{_DATED}|{_UNIX})\s", re.ASCII)
_CRONS: Final = frozenset(("cron", "crond", "cronie", "/usr/sbin/cron", "/usr/sbin/crond"))
_STARTED: Final = re.compile(r"\((?P<user>[^()]*)\) CMD (?P<rest>.*)", re.DOTALL)
_BUSYBOX: Final = re.compile(r"USER (?P<user>\S+) pid +\d+ cmd (?P<command>.*)", re.DOTALL)
# A year has no more days than this; of two lines one of which seems older by more than half of it, a year lies between.
_YEAR: Final = 372 * 86_400
_DAY: Final = timedelta(days=1)
_LEAP_YEAR: Final = 2024


class CronLog:
    """Reads lines; times without a year are dated at the end, since only the last one is known to be of late."""

    def __init__(
        self, commands: Commands, heard: ObservedFirings, *, tz: str, now: datetime, user: str | None = None
    ) -> None:
        self._commands, self._heard, self._tz, self._user = commands, heard, tz, user
        self._info, self._now = zone_info(tz), now.astimezone(zone_info(tz)).replace(tzinfo=None)
        # Of lines without a year: the groups in turn, and when, in years of twelve months of 31 days.
        self._groups: list[Group] = []
        self._places: dict[Group, int] = {}
        self._undated: array[int] = array("q")
        self._which: array[int] = array("l")
        self._edges: list[int] = []

    def read(self, lines: Iterable[tuple[str, str]]) -> None:
        """Read a log, to its end."""
        before = ""
        for place, line in lines:
            before, is_rest = place, place == before
            if is_rest:
                continue
            if line.strip() and not line.startswith("-- "):
                if line.startswith("{"):
                    self._read_json(place, line)
                else:
                    self._read_line(place, line)
        self._date()

    def _read_line(self, place: str, line: str) -> None:
        if (apart := _RFC_5424.match(line)) is not None:
            line = f"{apart['at']} host {apart['program']}: {apart['message']}"
        found = _LINE.match(line) or _STAMP.match(line)
        if found is None:
            self._heard.wrong(place, "it does not start with a time", line)
            return
        at: float | None = None
        if found["month"] is None:
            try:
                at = self._dated(found)
            except ValueError as error:
                self._heard.wrong(place, str(error), line)
                return
            self._heard.note_instant(at)
        elif not self._see(found, place, line):
            return
        parts = found.groupdict()
        if (parts.get("program") or "").lower() in _CRONS:
            self._read_message(place, parts["message"], at)

    def _dated(self, found: re.Match[str]) -> float:
        if found["full"] is not None:
            known = "Z" if found["zone"] in ("UTC", "GMT") else ""
            return read_time(found["full"] + known, self._tz)
        return read_time(found["dated"] or found["unix"], self._tz)

    def _see(self, found: re.Match[str], place: str, line: str) -> bool:
        """Note the time of a line without a year; False where there is no such time."""
        day, (hour, minute, second) = int(found["day"]), map(int, found["time"].split(":"))
        longest = monthrange(_LEAP_YEAR, _MONTHS.index(found["month"]) + 1)[1]
        if not (1 <= day <= longest and hour < 24 and minute < 60 and second <= 60):
            self._heard.wrong(place, "there is no such time", line)
            return False
        at = (_MONTHS.index(found["month"]) * 31 + day - 1) * 86_400 + hour * 3_600 + minute * 60 + min(second, 59)
        if self._edges:
            # In the year that brings it nearest to the line before.
            before = self._edges[1]
            at += round((before - at) / _YEAR) * _YEAR
            self._edges[1] = at
        else:
            self._edges = [at, at]
        return True

    def _read_message(self, place: str, message: str, at: float | None) -> None:
        if (found := _STARTED.match(message)) is not None:
            command = found["rest"].rstrip()
            if not (command.startswith("(") and command.endswith(")")):
                self._heard.wrong(place, "its command is cut off", message)
                return
            command = command[1:-1]
        elif (found := _BUSYBOX.match(message)) is not None:
            command = found["command"]
        else:
            return
        if self._user not in (None, found["user"]):
            return
        group = self._commands.group(found["user"], command)
        if group is None:
            self._heard.other(command)
        elif at is not None:
            self._heard.fired(group, at)
        else:
            self._keep(group)

    def _keep(self, group: Group) -> None:
        if group not in self._places:
            self._places[group] = len(self._groups)
            self._groups.append(group)
        self._which.append(self._places[group])
        self._undated.append(self._edges[1])

    def _read_json(self, place: str, line: str) -> None:
        """A line of `journalctl -o json`."""
        try:
            entry = json.loads(line)
            at = int(entry["__REALTIME_TIMESTAMP"]) / 1e6
            program = str(entry.get("SYSLOG_IDENTIFIER") or entry.get("_COMM") or "")
            message = entry.get("MESSAGE")
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            self._heard.wrong(place, "it is not a line of journalctl -o json", line)
            return
        self._heard.note_instant(at)
        if program.lower() in _CRONS and isinstance(message, str):
            self._read_message(place, message, at)

    def _date(self) -> None:
        """Give years to what has none: the last line is of the year that ends now, or of the one before."""
        if not self._edges:
            return
        year = self._now.year
        while (last := self._on(self._edges[1], year)) is None or last > self._now + _DAY:
            year -= 1
        base = year - self._edges[1] // _YEAR
        before = 0.0
        for edge in self._edges:
            if (wall := self._on(edge % _YEAR, base + edge // _YEAR)) is not None:
                self._heard.note_instant(self._instant(wall, before))
        for at, which in zip(self._undated, self._which, strict=True):
            wall = self._on(at, base + at // _YEAR)
            if wall is None:
                self._heard.wrong("log", "there is no such day in its year", f"29 February {base + at // _YEAR}")
                continue
            before = self._instant(wall, before)
            self._heard.fired(self._groups[which], before)
        self._edges, self._groups, self._places = [], [], {}
        self._undated, self._which = array("q"), array("l")

    def _on(self, at: int, year: int) -> datetime | None:
        """The time on the wall clock; None where the year has no such day."""
        days, seconds = divmod(at % _YEAR, 86_400)
        try:
            return datetime(year, days // 31 + 1, days % 31 + 1) + timedelta(seconds=seconds)  # noqa: DTZ001
        except ValueError:
            return None

    def _instant(self, wall: datetime, before: float) -> float:
        """Of two instants with the same time, the one that does not lie before the line before."""
        once, again = (wall.replace(tzinfo=self._info, fold=fold).astimezone(UTC).timestamp() for fold in (0, 1))
        return again if once < before <= again else once
