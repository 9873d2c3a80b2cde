"""The `shadow` commands: compare the ticks of shadows with the firings of the old system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import inf
from typing import TYPE_CHECKING, Any

import click

from tickbird.cli.connection import connect, run_async
from tickbird.cli.errors import FAILED, INVALID
from tickbird.cli.options import Command, GlobalOptions, Group
from tickbird.cli.output import Cell, Printer, Text, clock, iso, print_result, warn
from tickbird.cli.params import length, name_argument, storable_text
from tickbird.cli.shadow_ledger import recorded, shadows_of
from tickbird.cli.shadow_source import Source, own_zone, read_pings
from tickbird.cli.shell_completion import schedule_names
from tickbird.cli.time_input import InstantParser
from tickbird.client import Client
from tickbird.domain.errors import InvalidError
from tickbird.domain.ledger.shadow_report import ShadowReport, compare
from tickbird.domain.messages import count
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import to_datetime

if TYPE_CHECKING:
    from tickbird.importers.history.observed import ObservedFirings

_SHOWN = 10
_VERDICTS = {
    "agrees": Cell("agrees", "green"),
    "differs": Cell("differs", "red"),
    "nothing": Cell("no data yet", "dim"),
}


@click.group(cls=Group, no_args_is_help=True)
def shadow() -> None:
    """Compare shadow schedules with the old system before you switch."""


@shadow.command(cls=Command)
@name_argument
@click.option("--at", type=storable_text, metavar="INSTANT", help="When the old job ran (default: now).")
@click.pass_obj
def ping(settings: GlobalOptions, name: str, at: str | None) -> None:
    """Report that the old system ran the job. Call it from the old job itself."""

    async def work() -> datetime:
        async with connect(settings) as client:
            moment = None if at is None else InstantParser(await client.system.now(), settings.tz)(at, "at").at
            return await client.pings.create(name, moment)

    fired_at = run_async(work(), settings)
    print_result(
        settings,
        lambda: {"schedule": name, "at": iso(fired_at)},
        lambda screen: screen.line(f"{name}: the old system ran it at {clock(fired_at, settings.tz or 'UTC')}."),
    )


_file = click.Path(dir_okay=False, allow_dash=True)


@shadow.command(cls=Command)
@click.argument("names", type=storable_text, nargs=-1, metavar="[NAME]...", shell_complete=schedule_names)
@click.option(
    "--log",
    "logs",
    type=_file,
    multiple=True,
    help="syslog or journald file with cron lines, also .gz; - for stdin; repeatable.",
)
@click.option(
    "--table",
    "tables",
    type=_file,
    multiple=True,
    help="CSV, JSON or JSON Lines file with names and times; repeatable.",
)
@click.option("--kubernetes", type=_file, multiple=True, help="Output of `kubectl get jobs -A -o json`; repeatable.")
@click.option(
    "--django-celery-results",
    "celery",
    type=storable_text,
    metavar="URL",
    help="Database of django-celery-results: URL or SQLite file.",
)
@click.option("--pings", is_flag=True, help="Compare with pings that the old jobs sent with `tickbird shadow ping`.")
@click.option(
    "--since",
    type=storable_text,
    metavar="INSTANT",
    help="Start of the comparison (default: the first record of the source).",
)
@click.option(
    "--until", type=storable_text, metavar="INSTANT", help="End of the comparison (default: the last decided tick)."
)
@click.option(
    "--tolerance",
    type=length,
    default=60,
    metavar="DURATION",
    help="Maximum time difference that counts as a match (default: 60s).",
)
@click.option(
    "--map",
    "maps",
    type=storable_text,
    multiple=True,
    metavar="OLD=NEW",
    help="Map a name or a cron command of the old system to a schedule; repeatable.",
)
@click.option("--app", type=storable_text, metavar="APP", help="Compare only shadow schedules of this app.")
@click.option("--user", type=storable_text, metavar="NAME", help="With --log: only commands of this user.")
@click.option("--name-column", type=storable_text, metavar="COLUMN", help="With --table: column of the names.")
@click.option("--time-column", type=storable_text, metavar="COLUMN", help="With --table: column of the times.")
@click.pass_obj
def report(
    settings: GlobalOptions,
    /,
    names: tuple[str, ...],
    since: str | None,
    until: str | None,
    tolerance: int,
    maps: tuple[str, ...],
    app: str | None,
    **sources: Any,
) -> int:
    """Compare the ticks of shadow schedules with the runs of the old system.

    Without NAME, all shadow schedules are compared.
    """
    from tickbird.importers.history.tables import parse_map

    settings.error_code = INVALID
    source = Source(mapping=parse_map(maps), **sources)

    async def read() -> _Report:
        async with connect(settings) as client:
            now = await client.system.now()
            start, end = (
                None if text is None else InstantParser(now, settings.tz)(text, option).at.timestamp()
                for text, option in ((since, "since"), (until, "until"))
            )
            if start is not None and end is not None and end < start:
                raise InvalidError("until is before since.", field="until", hint="Swap them.")
            schedules = await shadows_of(client, names, app)
            _check_map(source, schedules)
            span = _Span(start, end, tolerance, now)
            if source.pings:
                return await _by_pings(client, schedules, span)
            firings, unknown = source.read(settings, schedules, now)
            if unknown and names:
                raise InvalidError(
                    f"name: schedule {unknown[0]!r} starts no command, so its lines in a cron log are unknown.",
                    field="name",
                    hint=f"Give its command: --map 'COMMAND={unknown[0]}'.",
                )
            comparable = [schedule for schedule in schedules if schedule.name not in unknown]
            zone = settings.tz or own_zone(schedules)
            return _Report(await _compare(client, comparable, firings, span), [firings], unknown, span, zone)

    report = run_async(read(), settings)
    _print_notes(report, source, settings)
    print_result(settings, lambda: report.to_json(source), lambda screen: _show(screen, report, settings.tz))
    return 0 if report.agrees else FAILED


@dataclass(frozen=True, slots=True)
class _Span:
    """The requested range, in seconds since the epoch."""

    since: float | None
    until: float | None
    tolerance: float
    now: datetime


@dataclass(frozen=True, slots=True)
class _Report:
    compared: Sequence[ShadowReport]
    firings: Sequence[ObservedFirings]
    # Schedules that cannot be identified in the source.
    unknown: Sequence[str]
    span: _Span
    # The time zone of times without an offset.
    zone: str = "UTC"

    @property
    def agrees(self) -> bool:
        verdicts = {schedule.verdict for schedule in self.compared}
        return "agrees" in verdicts and "differs" not in verdicts

    def to_json(self, source: Source) -> dict[str, Any]:
        bad = [str(line) for firings in self.firings for line in firings.bad]
        others = [(name, number) for firings in self.firings for name, number in firings.others.most_common(100)]
        return {
            "agrees": self.agrees,
            "source": source.what,
            "tolerance": self.span.tolerance,
            "zone": self.zone,
            "schedules": [schedule.to_json() for schedule in self.compared],
            "left_out": list(self.unknown),
            "unreadable": {"count": sum(firings.bad_count for firings in self.firings), "first": bad[:_SHOWN]},
            "others": {"count": sum(firings.other_count for firings in self.firings), "names": dict(others)},
        }


def _check_map(source: Source, schedules: Sequence[Schedule]) -> None:
    names = {schedule.name for schedule in schedules}
    if wrong := next((new for new in source.mapping.values() if new not in names), None):
        hint = f"Choose one of these: {', '.join(sorted(names)[:20])}." if names else "There are no shadows to compare."
        raise InvalidError(f"map: {wrong[:60]!r} is not one of the compared schedules.", field="map", hint=hint)


async def _by_pings(client: Client, schedules: Sequence[Schedule], span: _Span) -> _Report:
    compared: list[ShadowReport] = []
    firings: list[ObservedFirings] = []
    for schedule in schedules:
        pings = await read_pings(client, schedule, None if span.since is None else span.since - span.tolerance)
        compared += await _compare(client, [schedule], pings, span)
        firings.append(pings)
    return _Report(compared, firings, [], span)


async def _compare(
    client: Client, schedules: Sequence[Schedule], firings: ObservedFirings, span: _Span
) -> list[ShadowReport]:
    """Compare the schedules, and return the reports in the given order."""
    begin = span.since if span.since is not None else firings.first
    covered = (-inf if begin is None else begin, inf if span.until is None else span.until)
    # The first firing may belong to a tick just before it.
    records = {
        schedule.name: await recorded(client, schedule, covered[0] - span.tolerance, covered[1], span.now)
        for schedule in schedules
    }
    reports: dict[str, ShadowReport] = {}
    for group in firings.groups(records):
        shadows, group_firings = [records[name] for name in group], firings.in_order(group)
        for report in compare(shadows, group_firings, span.tolerance, covered, span.now.timestamp()):
            reports[report.schedule] = report
    return [reports[schedule.name] for schedule in schedules]


def _print_notes(report: _Report, source: Source, settings: GlobalOptions) -> None:
    """Warn about input that was ignored, and about likely causes of differences."""
    bad = sum(firings.bad_count for firings in report.firings)
    if bad:
        first = next(line for firings in report.firings for line in firings.bad)
        warn(f"{count(bad, 'line')} of the {source.what} could not be read: {first}")
    others = sum(firings.other_count for firings in report.firings)
    if others:
        names = ", ".join(
            f"{name} ({number:,})" for firings in report.firings for name, number in firings.others.most_common(3)
        )
        warn(f"{count(others, 'firing')} of other jobs ignored: {names[:300]}. Use --map OLD=NEW if one is a schedule.")
    if report.unknown:
        warn(f"{', '.join(report.unknown[:5])}: not compared, because no command is known. Use --map 'COMMAND=NAME'.")
    for firings in report.firings:
        last = firings.last
        if last is not None and report.span.until is None and source.what != "pings":
            late = sum(tick > last for schedule in report.compared for tick in schedule.missing)
            if late:
                end = iso(to_datetime(int(last)))
                warn(
                    f"the {source.what} ends at {end}, and {count(late, 'tick')} after it count as missing. "
                    f"Use --until {end} to exclude them."
                )
    nothing_matches = any(schedule.extra_count and not schedule.matched for schedule in report.compared)
    read_in_zone = settings.tz is None and source.what in ("log", "table")
    if read_in_zone and (nothing_matches or report.zone != "UTC"):
        warn(f"times without an offset were read in time zone {report.zone}. Use --tz for another time zone.")


def _show(screen: Printer, report: _Report, tz: str | None) -> None:
    zone = tz or "UTC"
    heads = ("SCHEDULE", "VERDICT", "FROM", "TO", "TICKS", "MATCHED", "MISSING", "EXTRA", "OLD SYSTEM")
    screen.table(heads, [_row(schedule, zone) for schedule in report.compared])
    for schedule in report.compared:
        if schedule.verdict == "differs":
            screen.title(schedule.schedule)
            screen.table(("WHEN", "DIFFERENCE"), _differences(schedule, zone))
            missing, extra = schedule.missing_count, schedule.extra_count
            more = missing + extra - min(_SHOWN, missing) - min(_SHOWN, extra)
            if more:
                screen.line(f"… and {more:,} more. --json lists them.")


def _row(report: ShadowReport, tz: str) -> Sequence[Text]:
    since, until = ("" if at is None else clock(to_datetime(int(at)), tz) for at in (report.since, report.until))
    numbers = (report.ticks, report.matched, report.missing_count, report.extra_count)
    return (
        Cell(report.schedule, "bold"),
        _VERDICTS[report.verdict],
        since,
        until,
        *(f"{number:,}" for number in numbers),
        _offset(report),
    )


def _offset(report: ShadowReport) -> str:
    if report.earliest is None or report.latest is None:
        return ""
    ends = sorted({round(report.earliest), round(report.latest)})
    return " to ".join("on time" if not end else f"{abs(end):,} s {'late' if end > 0 else 'early'}" for end in ends)


def _differences(report: ShadowReport, tz: str) -> list[tuple[Text, ...]]:
    rows: list[tuple[float, str]] = [(tick, "missing: the old system did not fire") for tick in report.missing[:_SHOWN]]
    for extra in report.extra[:_SHOWN]:
        why = f"Tickbird skips it ({extra.reason})" if extra.reason else "Tickbird has no tick then"
        rows.append((extra.at, f"extra: the old system fired, but {why}"))
    return [(clock(to_datetime(int(at)), tz), difference) for at, difference in sorted(rows)]
