"""`tickbird export --ical`: coming ticks as a file for calendar programs."""

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
    """The options of a calendar of coming ticks; they go with --ical."""
    options = (
        click.option(
            "--ical",
            "ical",
            is_flag=False,
            flag_value=STDOUT,
            metavar="[FILE]",
            shell_complete=file_names,
            help="Coming ticks for calendar programs (.ics) instead; to standard output unless FILE is given.",
        ),
        click.option(
            "--days",
            type=click.IntRange(1, MAX_DAYS),
            metavar="N",
            help=f"With --ical: how many days ahead.  [default: {DAYS}]",
        ),
        click.option(
            "--limit",
            "maximum",
            type=click.IntRange(1, MAX_EVENTS),
            metavar="N",
            help=f"With --ical: how many events at most.  [default: {EVENTS:,}]",
        ),
        click.option(
            "--schedule",
            type=storable_text,
            metavar="NAME",
            shell_complete=schedule_names,
            help="With --ical: ticks of this schedule.",
        ),
        click.option(
            "--tag",
            type=storable_text,
            metavar="TAG",
            shell_complete=tag_names,
            help="With --ical: ticks of schedules with this tag.",
        ),
        click.option("--contains", type=storable_text, metavar="TEXT", help="With --ical: … with this in their name."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def refuse_alone(asked: dict[str, Any]) -> None:
    """What says which ticks goes with --ical."""
    if given := next((name for name in _DEFAULTS if asked[name] is not None), None):
        option = {"maximum": "limit"}.get(given, given)
        raise click.UsageError(f"--{option} goes with --ical.", click.get_current_context())


def export_ical(settings: GlobalOptions, file: str, asked: dict[str, Any]) -> None:
    """Write the calendar to a file or to standard output."""
    which = {
        "days": asked["days"] or DAYS,
        "limit": asked["maximum"] or EVENTS,
        "schedule": asked["schedule"],
        "tag": asked["tag"],
        "contains": asked["contains"] or "",
    }

    async def work() -> CalendarFile:
        async with connect(settings) as client:
            return await write_ical(client, **which)

    found = run_async(work(), settings)
    for remark in found.remarks:
        warn(remark)
    document: dict[str, Any] = {"format": "ical", "events": found.events, "notes": list(found.remarks)}
    if file == STDOUT:
        if settings.as_json:
            print_result(settings, lambda: {**document, "calendar": found.text}, lambda screen: screen.line())
        else:
            # As octets: its lines end in carriage return and line feed, whatever the machine's do.
            click.echo(found.text.encode(), nl=False)
        return
    try:
        Path(file).write_bytes(found.text.encode())
    except OSError as error:
        raise Failed(f"the file {file} cannot be written ({error.strerror});", hint="choose another one.") from None
    print_result(
        settings,
        lambda: {**document, "file": file},
        lambda screen: screen.line(f"{count(found.events, 'event')} written to {file}."),
    )
