"""Where it is known from what another system really did: files, a database, or its own pings."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from tickbird.cli.options import GlobalOptions
from tickbird.client import Client
from tickbird.domain.errors import InvalidError
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import DAY, FIRST_SECOND, LAST_SECOND, to_datetime

if TYPE_CHECKING:
    from tickbird.importers.history.observed import ObservedFirings
    from tickbird.importers.history.text_files import Advance

# From so many bytes on, reading takes long enough to be watched.
_LONG: Final = 20_000_000
_MAX_LIST: Final = 500_000_000
_PAGE: Final = 1_000
# Nearer to the ends of the calendar a zone would lead out of it.
_EVER: Final = (FIRST_SECOND + 2 * DAY, LAST_SECOND - 2 * DAY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What was asked to compare with; one kind of it."""

    logs: Sequence[str] = ()
    tables: Sequence[str] = ()
    kubernetes: Sequence[str] = ()
    celery: str | None = None
    pings: bool = False
    said: Mapping[str, str]
    user: str | None = None
    name_column: str | None = None
    time_column: str | None = None

    def __post_init__(self) -> None:
        kinds = [self.logs, self.tables, self.kubernetes, self.celery, self.pings]
        if sum(map(bool, kinds)) != 1:
            raise InvalidError(
                "say what to compare with;" if not any(kinds) else "compare with one kind of source at a time;",
                field="source",
                hint="give --log, --table, --kubernetes, --django-celery-results or --pings.",
            )

    @property
    def what(self) -> str:
        """In a word."""
        found = {"log": self.logs, "table": self.tables, "list of jobs": self.kubernetes, "database": self.celery}
        return next((word for word, given in found.items() if given), "pings")

    def read(
        self, settings: GlobalOptions, schedules: Sequence[Schedule], now: datetime
    ) -> tuple[ObservedFirings, list[str]]:
        """What it tells, and the schedules of which it can tell nothing."""
        from tickbird.importers.history.observed import Commands, Names, ObservedFirings

        heard, tz = ObservedFirings(), settings.tz or own_zone(schedules)
        if self.logs:
            from tickbird.importers.history.cron_log import CronLog
            from tickbird.importers.history.text_files import lines_of

            commands = Commands(schedules, self.said)
            with _bar(settings, self.logs) as advance:
                for path in self.logs:
                    CronLog(commands, heard, tz=tz, now=now, user=self.user).read(lines_of(path, advance))
            return heard, [each.name for each in schedules if each.name not in commands.known]
        names = Names(schedules, self.said)
        if self.tables:
            from tickbird.importers.history.tables import Table
            from tickbird.importers.history.text_files import lines_of

            with _bar(settings, self.tables) as advance:
                for path in self.tables:
                    table = Table(names, heard, tz=tz, name=self.name_column, time=self.time_column)
                    table.read(lines_of(path, advance))
        elif self.celery is not None:
            from tickbird.importers.history.celery_results import read_results

            url = self.celery if "://" in self.celery else f"sqlite:///{self.celery}"
            read_results(url, names, heard)
        else:
            from tickbird.importers.history.kubernetes import read_jobs

            for path in self.kubernetes:
                read_jobs(_read_list(path), path, names, heard)
        return heard, []


def own_zone(schedules: Sequence[Schedule]) -> str:
    """The zone that all schedules have, on whose clock their machine goes; else UTC."""
    zones = {each.definition.trigger.tz for each in schedules if each.definition is not None}
    return zones.pop() if len(zones) == 1 else "UTC"


async def read_pings(client: Client, schedule: Schedule, since: float | None) -> ObservedFirings:
    """What the old system told of one schedule itself."""
    from tickbird.importers.history.observed import ObservedFirings

    heard = ObservedFirings()
    first = to_datetime(_EVER[0] if since is None else max(_EVER[0], int(since)))
    after: datetime | None = None
    while page := await client.pings.list(schedule.name, first, to_datetime(_EVER[1]), after=after, limit=_PAGE):
        for at in page:
            heard.note_instant(at.timestamp())
            heard.fired((schedule.name,), at.timestamp())
        after = page[-1]
    return heard


def _read_list(path: str) -> str:
    """A text that is read at once, since it is a list."""
    from tickbird.importers.history.text_files import lines_of

    found: list[str] = []
    length, before = 0, ""
    for place, line in lines_of(path):
        length += len(line)
        if length > _MAX_LIST:
            raise InvalidError(f"{path[:200]} is too large to be read at once.", field="kubernetes")
        found.append(line if place == before or not found else f"\n{line}")
        before = place
    return "".join(found)


def _bar(settings: GlobalOptions, paths: Sequence[str]) -> AbstractContextManager[Advance]:
    """A bar on a terminal, where there is much to read; nothing elsewhere."""
    from tickbird.importers.history.text_files import size_of

    sizes = [size_of(path) for path in paths]
    total = sum(size or 0 for size in sizes)
    if None in sizes or total < _LONG or settings.as_json or not sys.stderr.isatty():
        return nullcontext(lambda _: None)
    return _Bar(total)


class _Bar:
    """How much of some files has been read."""

    def __init__(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

        columns = (BarColumn(), DownloadColumn(), TimeRemainingColumn())
        self._progress: Any = Progress(*columns, console=Console(stderr=True))
        self._task = self._progress.add_task("", total=total)

    def __enter__(self) -> Advance:
        self._progress.start()
        return lambda read: self._progress.advance(self._task, read)

    def __exit__(self, *_: object) -> None:
        self._progress.stop()
