"""Shadows: what they would have run, beside what the old system really did."""

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
    "nothing": Cell("nothing yet", "dim"),
}


@click.group(cls=Group, no_args_is_help=True)
def shadow() -> None:
    """Compare shadows with what the old system really did, until you cut over."""


@shadow.command(cls=Command)
@name_argument
@click.option("--at", type=storable_text, metavar="INSTANT", help="When it really ran; else now.")
@click.pass_obj
def ping(settings: GlobalOptions, name: str, at: str | None) -> None:
    """Tell that the old system really ran it: to be called by the old job itself."""

    async def work() -> datetime:
        async with connect(settings) as client:
            moment = None if at is None else InstantParser(await client.system.now(), settings.tz)(at, "at").at
            return await client.pings.create(name, moment)

    told = run_async(work(), settings)
    print_result(
        settings,
        lambda: {"schedule": name, "at": iso(told)},
        lambda screen: screen.line(f"{name} really ran at {clock(told, settings.tz or 'UTC')}."),
    )


_file = click.Path(dir_okay=False, allow_dash=True)


@shadow.command(cls=Command)
@click.argument("names", type=storable_text, nargs=-1, metavar="[NAME]...", shell_complete=schedule_names)
@click.option(
    "--log", "logs", type=_file, multiple=True, help="A log with lines of cron, also .gz; `-` is standard input."
)
@click.option("--table", "tables", type=_file, multiple=True, help="CSV, JSON or JSON lines with names and times.")
@click.option("--kubernetes", type=_file, multiple=True, help="What `kubectl get jobs -A -o json` prints.")
@click.option(
    "--django-celery-results", "celery", type=storable_text, metavar="URL", help="Its database, or a file of SQLite."
)
@click.option("--pings", is_flag=True, help="What the old jobs told by `tickbird shadow ping`.")
@click.option(
    "--since", type=storable_text, metavar="INSTANT", help="From here on; else from what the source first tells."
)
@click.option("--until", type=storable_text, metavar="INSTANT", help="Up to here; else up to what is decided.")
@click.option("--tolerance", type=length, default=60, show_default="60s", help="So far apart is still the same.")
@click.option(
    "--map", "maps", type=storable_text, multiple=True, metavar="OLD=NEW", help="The schedule of another name."
)
@click.option("--app", type=storable_text, metavar="APP", help="Only the shadows of this app.")
@click.option("--user", type=storable_text, metavar="NAME", help="With --log: only what this user ran.")
@click.option("--name-column", type=storable_text, metavar="COLUMN", help="With --table: where the names are.")
@click.option("--time-column", type=storable_text, metavar="COLUMN", help="With --table: where the times are.")
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
    """Compare what shadows would have run with what the old system really did.

    Of the named schedules, or of all shadows. Exit code 0 tells that all agree, 1 that something differs or nothing
    could be compared, 2 that something is wrong.
    """
    from tickbird.importers.history.tables import parse_map

    settings.error_code = INVALID
    source = Source(said=parse_map(maps), **sources)

    async def read() -> _Report:
        async with connect(settings) as client:
            now = await client.system.now()
            start, end = (
                None if text is None else InstantParser(now, settings.tz)(text, option).at.timestamp()
                for text, option in ((since, "since"), (until, "until"))
            )
            if start is not None and end is not None and end < start:
                raise InvalidError("until: lies before since.", field="until", hint="Swap them.")
            schedules = await shadows_of(client, names, app)
            _check_map(source, schedules)
            span = _Span(start, end, tolerance, now)
            if source.pings:
                return await _by_pings(client, schedules, span)
            heard, unknown = source.read(settings, schedules, now)
            if unknown and names:
                raise InvalidError(
                    f"nothing in a log of cron tells what {unknown[0]!r} is, for it starts no command;",
                    field="name",
                    hint=f"give its line there: --map 'COMMAND={unknown[0]}'.",
                )
            known = [each for each in schedules if each.name not in unknown]
            zone = settings.tz or own_zone(schedules)
            return _Report(await _compare(client, known, heard, span), [heard], unknown, span, zone)

    found = run_async(read(), settings)
    _remark(found, source, settings)
    print_result(settings, lambda: found.to_json(source), lambda screen: _show(screen, found, settings.tz))
    return 0 if found.agrees else FAILED


@dataclass(frozen=True, slots=True)
class _Span:
    """What was asked for, in seconds since the epoch."""

    since: float | None
    until: float | None
    tolerance: float
    now: datetime


@dataclass(frozen=True, slots=True)
class _Report:
    compared: Sequence[ShadowReport]
    heard: Sequence[ObservedFirings]
    # Schedules of which the source can tell nothing.
    unknown: Sequence[str]
    span: _Span
    # On whose clock times without an offset were read.
    zone: str = "UTC"

    @property
    def agrees(self) -> bool:
        verdicts = {each.verdict for each in self.compared}
        return "agrees" in verdicts and "differs" not in verdicts

    def to_json(self, source: Source) -> dict[str, Any]:
        bad = [str(each) for heard in self.heard for each in heard.bad]
        others = [(name, number) for heard in self.heard for name, number in heard.others.most_common(100)]
        return {
            "agrees": self.agrees,
            "source": source.what,
            "tolerance": self.span.tolerance,
            "zone": self.zone,
            "schedules": [each.to_json() for each in self.compared],
            "left_out": list(self.unknown),
            "unreadable": {"count": sum(heard.bad_count for heard in self.heard), "first": bad[:_SHOWN]},
            "others": {"count": sum(heard.other_count for heard in self.heard), "names": dict(others)},
        }


def _check_map(source: Source, schedules: Sequence[Schedule]) -> None:
    known = {each.name for each in schedules}
    if wrong := next((new for new in source.said.values() if new not in known), None):
        raise InvalidError(
            f"map: {wrong[:60]!r} is none of the schedules that are compared;", field="map", hint="write OLD=NEW."
        )


async def _by_pings(client: Client, schedules: Sequence[Schedule], span: _Span) -> _Report:
    compared: list[ShadowReport] = []
    heard: list[ObservedFirings] = []
    for schedule in schedules:
        one = await read_pings(client, schedule, None if span.since is None else span.since - span.tolerance)
        compared += await _compare(client, [schedule], one, span)
        heard.append(one)
    return _Report(compared, heard, [], span)


async def _compare(
    client: Client, schedules: Sequence[Schedule], heard: ObservedFirings, span: _Span
) -> list[ShadowReport]:
    """Each schedule, by the order in which they were given."""
    begin = span.since if span.since is not None else heard.first
    known = (-inf if begin is None else begin, inf if span.until is None else span.until)
    # A tick just before may be what was first heard of.
    records = {
        each.name: await recorded(client, each, known[0] - span.tolerance, known[1], span.now) for each in schedules
    }
    found: dict[str, ShadowReport] = {}
    for together in heard.groups(records):
        shadows, firings = [records[name] for name in together], heard.in_order(together)
        for each in compare(shadows, firings, span.tolerance, known, span.now.timestamp()):
            found[each.schedule] = each
    return [found[each.name] for each in schedules]


def _remark(found: _Report, source: Source, settings: GlobalOptions) -> None:
    """What was passed over, and what may be behind a difference."""
    bad = sum(heard.bad_count for heard in found.heard)
    if bad:
        first = next(each for heard in found.heard for each in heard.bad)
        warn(f"{count(bad, 'line')} of the {source.what} could not be read and {_were(bad)} passed over; {first}")
    others = sum(heard.other_count for heard in found.heard)
    if others:
        names = ", ".join(
            f"{name} ({number:,})" for heard in found.heard for name, number in heard.others.most_common(3)
        )
        warn(
            f"{count(others, 'firing')} of what is not compared: {names[:300]}; --map OLD=NEW where one is a schedule."
        )
    if found.unknown:
        warn(
            f"{', '.join(found.unknown[:5])}: left out, since no command tells their lines; give --map 'COMMAND=NAME'."
        )
    for heard in found.heard:
        last = heard.last
        if last is not None and found.span.until is None and source.what != "pings":
            late = sum(tick > last for each in found.compared for tick in each.missing)
            if late:
                end = iso(to_datetime(int(last)))
                warn(
                    f"the {source.what} ends at {end}, and {count(late, 'tick')} after it count as missing; "
                    f"--until {end} leaves them out."
                )
    nothing_fits = any(each.extra_count and not each.matched for each in found.compared)
    read_by_clock = settings.tz is None and source.what in ("log", "table")
    if read_by_clock and (nothing_fits or found.zone != "UTC"):
        warn(f"times without an offset were read on the clock of {found.zone}; --tz names another zone.")


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def _show(screen: Printer, found: _Report, tz: str | None) -> None:
    zone = tz or "UTC"
    heads = ("SCHEDULE", "VERDICT", "FROM", "TO", "TICKS", "MATCHED", "MISSING", "EXTRA", "OLD SYSTEM")
    screen.table(heads, [_row(each, zone) for each in found.compared])
    for each in found.compared:
        if each.verdict == "differs":
            screen.title(each.schedule)
            screen.table(("WHEN", "WHAT"), _differences(each, zone))
            more = (
                each.missing_count + each.extra_count - min(_SHOWN, each.missing_count) - min(_SHOWN, each.extra_count)
            )
            if more:
                screen.line(f"… and {more:,} more; --json lists them.")


def _row(each: ShadowReport, tz: str) -> Sequence[Text]:
    since, until = ("" if at is None else clock(to_datetime(int(at)), tz) for at in (each.since, each.until))
    numbers = (each.ticks, each.matched, each.missing_count, each.extra_count)
    return (
        Cell(each.schedule, "bold"),
        _VERDICTS[each.verdict],
        since,
        until,
        *(f"{number:,}" for number in numbers),
        _difference(each),
    )


def _difference(each: ShadowReport) -> str:
    if each.earliest is None or each.latest is None:
        return ""
    ends = sorted({round(each.earliest), round(each.latest)})
    return " to ".join("on time" if not end else f"{abs(end):,} s {'late' if end > 0 else 'early'}" for end in ends)


def _differences(each: ShadowReport, tz: str) -> list[tuple[Text, ...]]:
    rows: list[tuple[float, str]] = [(tick, "missing: the old system did not fire") for tick in each.missing[:_SHOWN]]
    for extra in each.extra[:_SHOWN]:
        why = f"Tickbird skips it ({extra.reason})" if extra.reason else "Tickbird has no tick then"
        rows.append((extra.at, f"extra: the old system fired; {why}"))
    return [(clock(to_datetime(int(at)), tz), what) for at, what in sorted(rows)]
