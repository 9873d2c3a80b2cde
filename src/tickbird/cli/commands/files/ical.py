"""`tickbird export --ical`: future ticks as a file for calendar programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tickbird.cli.connection import connect, run_async
from tickbird.cli.errors import Failed
from tickbird.cli.options import GlobalOptions
from tickbird.cli.output import print_result, warn
from tickbird.cli.params import storable_text
from tickbird.cli.shell_completion import file_names, schedule_names, tag_names
from tickbird.client.ical import write_ical
from tickbird.domain.forecast.ical import CalendarFile
from tickbird.domain.messages import count
from tickbird.domain.planning.agenda import DAYS, EVENTS, MAX_DAYS, MAX_EVENTS

STDOUT = "-"
_DEFAULTS = {"days": None, "maximum": None, "schedule": None, "tag": None, "contains": None}


def ical_options(command: Any) -> Any:
    options = (
        click.option(
            "--ical",
            "ical",
            is_flag=False,
            flag_value=STDOUT,
            metavar="[FILE]",
            shell_complete=file_names,
            help="Export future ticks for calendar programs (.ics) to FILE instead (default: stdout).",
        ),
        click.option(
            "--days",
            type=click.IntRange(1, MAX_DAYS),
            metavar="N",
            help=f"With --ical: number of days ahead (default: {DAYS}).",
        ),
        click.option(
            "--limit",
            "maximum",
            type=click.IntRange(1, MAX_EVENTS),
            metavar="N",
            help=f"With --ical: maximum number of events, earliest first (default: {EVENTS:,}).",
        ),
        click.option(
            "--schedule",
            type=storable_text,
            metavar="NAME",
            shell_complete=schedule_names,
            help="With --ical: only ticks of this schedule.",
        ),
        click.option(
            "--tag",
            type=storable_text,
            metavar="TAG",
            shell_complete=tag_names,
            help="With --ical: only ticks of schedules with this tag.",
        ),
        click.option(
            "--contains",
            type=storable_text,
            metavar="TEXT",
            help="With --ical: only ticks of schedules with this text in their name.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def refuse_alone(selection: dict[str, Any]) -> None:
    """Raise UsageError if an option of --ical is given without it."""
    if given := next((name for name in _DEFAULTS if selection[name] is not None), None):
        option = {"maximum": "limit"}.get(given, given)
        raise click.UsageError(f"--{option} requires --ical.", click.get_current_context())


def export_ical(settings: GlobalOptions, file: str, selection: dict[str, Any]) -> None:
    which = {
        "days": selection["days"] or DAYS,
        "limit": selection["maximum"] or EVENTS,
        "schedule": selection["schedule"],
        "tag": selection["tag"],
        "contains": selection["contains"] or "",
    }

    async def work() -> CalendarFile:
        async with connect(settings) as client:
            return await write_ical(client, **which)

    calendar = run_async(work(), settings)
    for remark in calendar.remarks:
        warn(remark)
    document: dict[str, Any] = {"format": "ical", "events": calendar.events, "notes": list(calendar.remarks)}
    if file == STDOUT:
        if settings.as_json:
            print_result(settings, lambda: {**document, "calendar": calendar.text}, lambda screen: screen.line())
        else:
            # As bytes, because iCalendar lines end with CRLF on every system.
            click.echo(calendar.text.encode(), nl=False)
        return
    try:
        Path(file).write_bytes(calendar.text.encode())
    except OSError as error:
        raise Failed(f"the file {file} cannot be written ({error.strerror}).", hint="Choose another file.") from None
    print_result(
        settings,
        lambda: {**document, "file": file},
        lambda screen: screen.line(f"{count(calendar.events, 'event')} written to {file}."),
    )
