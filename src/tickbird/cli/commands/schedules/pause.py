"""The `pause` and `resume` commands."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from tickbird.cli.commands.schedules.bulk import change_many, many_options, selected
from tickbird.cli.commands.schedules.schedules import state_text, zone_of
from tickbird.cli.connection import connect, run_async
from tickbird.cli.options import Command, GlobalOptions, actor_option
from tickbird.cli.output import Printer, clock, print_result
from tickbird.cli.params import note_option, optional_name_argument, storable_text
from tickbird.cli.time_input import InstantParser, reader
from tickbird.client import Client
from tickbird.domain.planning.bulk import BulkResult
from tickbird.domain.schedules.schedule import Schedule
from tickbird.wire.codec import encode


@click.command(cls=Command)
@optional_name_argument
@click.option("--note", type=storable_text, required=True, metavar="TEXT", help="Reason, shown with the schedule.")
@click.option(
    "--until",
    type=storable_text,
    metavar="INSTANT",
    help='Resume automatically at this instant: "2h", "tomorrow 09:00".',
)
@click.option(
    "--cancel-runs", is_flag=True, help="Also cancel its waiting and queued runs, and ask running ones to stop."
)
@many_options
@actor_option
@click.pass_obj
def pause(
    settings: GlobalOptions,
    /,
    name: str | None,
    note: str,
    until: str | None,
    cancel_runs: bool,
    actor: str,
    **many: Any,
) -> int:
    """Pause a schedule until you resume it, or until an instant.

    With --all, pause every schedule that matches. Schedules that are already paused keep their note and end.
    """

    async def pause_all(client: Client, which: dict[str, Any]) -> BulkResult:
        read = InstantParser(await client.system.now(), settings.tz)
        end = None if until is None else read(until, "until", ahead=True).at
        return await client.schedules.pause_all(actor=actor, note=note, until=end, cancel_runs=cancel_runs, **which)

    if (selection := selected(settings, name, many)) is not None:
        return change_many(settings, "pause", selection, pause_all)
    assert name is not None

    async def work() -> Schedule:
        async with connect(settings) as client:
            end: datetime | None = None
            if until is not None:
                _, read = await reader(client, name, settings)
                end = read(until, "until", ahead=True).at
            return await client.schedules.pause(name, actor=actor, note=note, until=end, cancel_runs=cancel_runs)

    _print_state(settings, run_async(work(), settings))
    return 0


@click.command(cls=Command)
@optional_name_argument
@note_option
@many_options
@actor_option
@click.pass_obj
def resume(settings: GlobalOptions, /, name: str | None, note: str, actor: str, **many: Any) -> int:
    """Resume a paused schedule, or a parked one that is repaired.

    With --all, resume every paused schedule that matches, except schedules that were removed from code.
    """
    if (selection := selected(settings, name, many)) is not None:
        return change_many(
            settings,
            "resume",
            selection,
            lambda client, which: client.schedules.resume_all(actor=actor, note=note, **which),
        )
    assert name is not None

    async def work() -> Schedule:
        async with connect(settings) as client:
            return await client.schedules.resume(name, actor=actor, note=note)

    _print_state(settings, run_async(work(), settings))
    return 0


def _print_state(settings: GlobalOptions, schedule: Schedule) -> None:
    def show_state(screen: Printer) -> None:
        tz = zone_of(schedule, settings)
        text = f"{schedule.name} is {state_text(schedule, tz).text}."
        if schedule.state == "active" and schedule.next_run_at is not None:
            text += f" Next run: {clock(schedule.next_run_at, tz)}."
        screen.line(text)

    print_result(settings, lambda: {"schedule": encode(schedule)}, show_state)
