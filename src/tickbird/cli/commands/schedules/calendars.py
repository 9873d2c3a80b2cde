"""Commands about calendars: put, ls, show, rm, preview."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

import click

from tickbird.cli.connection import connect, run_async
from tickbird.cli.options import Command, GlobalOptions, Group, actor_option
from tickbird.cli.output import Cell, Printer, Text, both, clock, print_result, warn
from tickbird.cli.params import length, read_payload, storable_text
from tickbird.cli.shell_completion import calendar_names
from tickbird.client.calendars import HORIZON
from tickbird.domain.calendars.calendar import BUILT_IN, calendar_to_json
from tickbird.domain.calendars.definition import CalendarRecord
from tickbird.domain.errors import InvalidError
from tickbird.domain.messages import count
from tickbird.domain.planning.calendar_impact import CalendarImpact, CalendarReport
from tickbird.domain.time.durations import duration_text
from tickbird.wire.codec import encode

F = TypeVar("F", bound=Callable[..., Any])
# Number of ticks shown per schedule and kind of change. --json has more.
_SHOWN = 5


@click.group(cls=Group, no_args_is_help=True)
def calendar() -> None:
    """Manage calendars of closed days, and preview their effect."""


def _defined(function: F) -> F:
    """Add the options that define a calendar."""
    options = (
        click.option(
            "--weekday",
            "weekdays",
            multiple=True,
            type=storable_text,
            metavar="DAY",
            help="Closed weekday, such as sat; repeatable.",
        ),
        click.option(
            "--date",
            "dates",
            multiple=True,
            type=storable_text,
            metavar="DATE",
            help="Closed date 2026-12-24, range 2026-12-24/2026-12-31, or yearly 12-25 or 12-24/01-02; repeatable.",
        ),
        click.option(
            "--include",
            multiple=True,
            type=storable_text,
            metavar="DATE",
            help="Date or range that stays open even if another rule closes it; repeatable.",
        ),
        click.option(
            "--country",
            type=storable_text,
            metavar="CODE",
            help="Close the public holidays of a country, such as DE. Requires tickbird[holidays].",
        ),
        click.option(
            "--subdivision", type=storable_text, metavar="CODE", help="With --country: a state or region, such as BW."
        ),
        click.option(
            "--years",
            type=storable_text,
            metavar="FIRST-LAST",
            help="With --country: holidays of these years (default: last year to ten years ahead).",
        ),
        click.option(
            "--description", type=storable_text, default="", metavar="TEXT", help="Description of the calendar."
        ),
        click.option(
            "--file", "document", metavar="JSON|@FILE|-", help="The calendar as one JSON object, instead of options."
        ),
        click.option(
            "--horizon",
            type=length,
            default=HORIZON,
            metavar="DURATION",
            help="How far ahead to compare ticks (default: 366d).",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def _definition(given: dict[str, Any]) -> dict[str, Any]:
    document = given.pop("document")
    country, subdivision, years = (given.pop(name) for name in ("country", "subdivision", "years"))
    if document is not None:
        if any(given.values()) or country or subdivision or years:
            raise InvalidError(
                "--file cannot be combined with other options of the calendar.",
                field="file",
                hint="Write them into the file.",
            )
        return read_payload(document)
    definition = {name: list(value) if isinstance(value, tuple) else value for name, value in given.items() if value}
    if country is None and (subdivision or years):
        raise InvalidError("country is missing.", field="country", hint="Give --country too.")
    if country is not None:
        definition["holidays"] = {"country": country, "subdivision": subdivision, "years": _years(years)}
    return definition


def _years(text: str | None) -> list[int] | None:
    if text is None:
        return None
    first, _, last = text.partition("-")
    if not (first.isascii() and first.isdigit() and last.isascii() and last.isdigit() and len(text) <= 9):
        raise InvalidError(f"years: {text[:60]!r} is not a range of years.", field="years", hint="Write 2026-2036.")
    return [int(first), int(last)]


@calendar.command(cls=Command)
@click.argument("name", type=storable_text, shell_complete=calendar_names)
@_defined
@actor_option
@click.pass_obj
def put(settings: GlobalOptions, /, name: str, horizon: int, actor: str, **given: Any) -> None:
    """Create or replace a calendar, and update the schedules that use it."""
    definition = _definition(given)

    async def work() -> CalendarReport:
        async with connect(settings) as client:
            return await client.calendars.put(name, definition, actor=actor, horizon=horizon)

    report = run_async(work(), settings)
    for schedule, reason in report.failed:
        warn(f"schedule {schedule} was not updated: {reason}")
    _report(settings, report, "stored")


@calendar.command(cls=Command)
@click.argument("name", type=storable_text, shell_complete=calendar_names)
@_defined
@click.pass_obj
def preview(settings: GlobalOptions, /, name: str, horizon: int, **given: Any) -> None:
    """Show which ticks a calendar would move, add or remove. Nothing is changed."""
    definition = _definition(given)

    async def work() -> CalendarReport:
        async with connect(settings) as client:
            return await client.calendars.preview(name, definition, horizon=horizon)

    _report(settings, run_async(work(), settings), "not stored")


@calendar.command(cls=Command)
@click.pass_obj
def ls(settings: GlobalOptions) -> None:
    """List all calendars, including built-in ones."""

    async def work() -> tuple[Sequence[CalendarRecord], datetime]:
        async with connect(settings) as client:
            return await client.calendars.list(), await client.system.now()

    records, now = run_async(work(), settings)

    def show_list(screen: Printer) -> None:
        rows: list[Sequence[Text]] = [
            (
                Cell(record.name, "bold"),
                _in_short(record),
                str(record.definition.get("description", "")),
                record.changed_by,
                both(record.changed_at, now, settings.tz or "UTC"),
            )
            for record in records
        ]
        rows += [
            (Cell(name, "bold"), ", ".join(calendar_to_json(days)), "built in", "", "")
            for name, days in BUILT_IN.items()
        ]
        screen.table(("NAME", "CLOSED", "DESCRIPTION", "CHANGED BY", "CHANGED"), rows)

    print_result(settings, lambda: {"calendars": [encode(record) for record in records]}, show_list)


@calendar.command(cls=Command)
@click.argument("name", type=storable_text, shell_complete=calendar_names)
@click.pass_obj
def show(settings: GlobalOptions, name: str) -> None:
    """Show one calendar: its days and their source."""

    async def work() -> tuple[CalendarRecord, datetime]:
        async with connect(settings) as client:
            return await client.calendars.get(name), await client.system.now()

    record, now = run_async(work(), settings)

    def show_calendar(screen: Printer) -> None:
        facts: list[tuple[str, Text]] = [("closed", _in_short(record))]
        if record.definition.get("description"):
            facts.append(("description", str(record.definition["description"])))
        if record.source:
            first, last = record.source["years"]
            facts.append(("holidays", f"{record.source['library']}, {first} to {last}"))
        facts.append(("changed", f"{both(record.changed_at, now, settings.tz or 'UTC')} by {record.changed_by}"))
        facts.append(("revision", str(record.revision)))
        screen.line(Cell(record.name, "bold"))
        screen.fields(facts)
        screen.title("Days")
        names = record.source.get("names", {})
        screen.table(("DAY", "NAME"), [(day, str(names.get(day, ""))) for day in calendar_to_json(record.closed)])

    print_result(settings, lambda: encode(record), show_calendar)


@calendar.command(cls=Command)
@click.argument("name", type=storable_text, shell_complete=calendar_names)
@actor_option
@click.pass_obj
def rm(settings: GlobalOptions, name: str, actor: str) -> None:
    """Delete a calendar that no schedule uses."""

    async def work() -> None:
        async with connect(settings) as client:
            await client.calendars.delete(name, actor=actor)

    run_async(work(), settings)
    print_result(settings, lambda: {"deleted": name}, lambda screen: screen.line(f"Calendar {name} is deleted."))


def _in_short(record: CalendarRecord) -> str:
    closed = record.closed
    parts = calendar_to_json(type(closed)(weekdays=closed.weekdays))
    for days, what in ((closed.yearly, "yearly day"), (closed.dates, "date"), (closed.opened, "opened date")):
        parts += [count(len(days), what)] if days else []
    return ", ".join(parts)


def _report(settings: GlobalOptions, report: CalendarReport, done: str) -> None:
    def show_report(screen: Printer) -> None:
        summary = f"Calendar {report.name} is {done}. Used by {count(report.schedules, 'schedule')}."
        within = f"within {duration_text(report.horizon)}"
        changes = f"These ticks change {within}:" if report.effects else f"No tick changes {within}."
        screen.line(f"{summary} {changes}")
        if not report.complete:
            screen.line("The list may be incomplete: not all ticks were examined.")
        if rows := [row for effect in report.effects for row in _rows(effect, settings)]:
            screen.table(("SCHEDULE", "TICK", "CHANGE"), rows)

    print_result(settings, lambda: encode(report), show_report)


def _rows(effect: CalendarImpact, settings: GlobalOptions) -> Sequence[Sequence[Text]]:
    tz = settings.tz or "UTC"
    rows: list[Sequence[Text]] = []
    rows += [(effect.schedule, clock(old, tz), f"moves to {clock(new, tz)}") for old, new in effect.moved[:_SHOWN]]
    for ticks, what, style in ((effect.vanish, "vanishes", "yellow"), (effect.appear, "appears", "green")):
        rows += [(effect.schedule, clock(tick, tz), Cell(what, style)) for tick in ticks[:_SHOWN]]
    shown = len(rows)
    left = len(effect.moved) + len(effect.vanish) + len(effect.appear) - shown
    if left or effect.more:
        rows.append((effect.schedule, f"and {left:,}{' or more' if effect.more else ''} others", "see --json"))
    return rows
