"""Sources of the old system's firings: files, a database, or pings."""

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

# Show a progress bar from this many bytes.
_LONG: Final = 20_000_000
_MAX_LIST: Final = 500_000_000
_PAGE: Final = 1_000
# Two days from the limits of the calendar, because a UTC offset could exceed them.
_EVER: Final = (FIRST_SECOND + 2 * DAY, LAST_SECOND - 2 * DAY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The source to compare with; exactly one kind is given."""

    logs: Sequence[str] = ()
    tables: Sequence[str] = ()
    kubernetes: Sequence[str] = ()
    celery: str | None = None
    pings: bool = False
    # Names or commands of the old system → schedule.
    mapping: Mapping[str, str]
    user: str | None = None
    name_column: str | None = None
    time_column: str | None = None

    def __post_init__(self) -> None:
        kinds = [self.logs, self.tables, self.kubernetes, self.celery, self.pings]
        if sum(map(bool, kinds)) != 1:
            raise InvalidError(
                "no source is given."
                if not any(kinds)
                else "several kinds of sources are given, but only one is supported.",
                field="source",
                hint="Give one of --log, --table, --kubernetes, --django-celery-results and --pings.",
            )

    @property
    def what(self) -> str:
        """The kind of source, in one word."""
        kinds = {"log": self.logs, "table": self.tables, "list of jobs": self.kubernetes, "database": self.celery}
        return next((word for word, given in kinds.items() if given), "pings")

    def read(
        self, settings: GlobalOptions, schedules: Sequence[Schedule], now: datetime
    ) -> tuple[ObservedFirings, list[str]]:
        """Return the firings, and the names of schedules that cannot be identified in the source."""
        from tickbird.importers.history.observed import Commands, Names, ObservedFirings

        firings, tz = ObservedFirings(), settings.tz or own_zone(schedules)
        if self.logs:
            from tickbird.importers.history.cron_log import CronLog
            from tickbird.importers.history.text_files import lines_of

            commands = Commands(schedules, self.mapping)
            with _bar(settings, self.logs) as advance:
                for path in self.logs:
                    CronLog(commands, firings, tz=tz, now=now, user=self.user).read(lines_of(path, advance))
            return firings, [schedule.name for schedule in schedules if schedule.name not in commands.known]
        names = Names(schedules, self.mapping)
        if self.tables:
            from tickbird.importers.history.tables import Table
            from tickbird.importers.history.text_files import lines_of

            with _bar(settings, self.tables) as advance:
                for path in self.tables:
                    table = Table(names, firings, tz=tz, name=self.name_column, time=self.time_column)
                    table.read(lines_of(path, advance))
        elif self.celery is not None:
            from tickbird.importers.history.celery_results import read_results

            url = self.celery if "://" in self.celery else f"sqlite:///{self.celery}"
            read_results(url, names, firings)
        else:
            from tickbird.importers.history.kubernetes import read_jobs

            for path in self.kubernetes:
                read_jobs(_read_list(path), path, names, firings)
        return firings, []


def own_zone(schedules: Sequence[Schedule]) -> str:
    """Return the time zone that all schedules share, which is most likely that of their machine; otherwise UTC."""
    zones = {schedule.definition.trigger.tz for schedule in schedules if schedule.definition is not None}
    return zones.pop() if len(zones) == 1 else "UTC"


async def read_pings(client: Client, schedule: Schedule, since: float | None) -> ObservedFirings:
    from tickbird.importers.history.observed import ObservedFirings

    firings = ObservedFirings()
    first = to_datetime(_EVER[0] if since is None else max(_EVER[0], int(since)))
    after: datetime | None = None
    while page := await client.pings.list(schedule.name, first, to_datetime(_EVER[1]), after=after, limit=_PAGE):
        for at in page:
            firings.note_instant(at.timestamp())
            firings.fired((schedule.name,), at.timestamp())
        after = page[-1]
    return firings


def _read_list(path: str) -> str:
    """Read a complete file, because a JSON list cannot be read line by line."""
    from tickbird.importers.history.text_files import lines_of

    parts: list[str] = []
    length, before = 0, ""
    for location, line in lines_of(path):
        length += len(line)
        if length > _MAX_LIST:
            raise InvalidError(
                f"{path[:200]} is larger than {_MAX_LIST:,} characters.",
                field="kubernetes",
                hint="Export the jobs in several files, and run the report for each.",
            )
        parts.append(line if location == before or not parts else f"\n{line}")
        before = location
    return "".join(parts)


def _bar(settings: GlobalOptions, paths: Sequence[str]) -> AbstractContextManager[Advance]:
    """Return a progress bar for large files on a terminal; otherwise nothing is shown."""
    from tickbird.importers.history.text_files import size_of

    sizes = [size_of(path) for path in paths]
    total = sum(size or 0 for size in sizes)
    if None in sizes or total < _LONG or settings.as_json or not sys.stderr.isatty():
        return nullcontext(lambda _: None)
    return _Bar(total)


class _Bar:
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
