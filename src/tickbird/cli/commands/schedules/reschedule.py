"""The `reschedule` command."""

from __future__ import annotations

import click

from tickbird.cli.commands.schedules.schedules import zone_of
from tickbird.cli.connection import connect, run_async
from tickbird.cli.options import Command, GlobalOptions, actor_option, revision_option
from tickbird.cli.output import Printer, clock, iso, print_result
from tickbird.cli.params import name_argument, note_option, storable_text
from tickbird.cli.time_input import reader
from tickbird.domain.messages import count as in_numbers
from tickbird.domain.planning.pending_ticks import PendingTicks
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import to_datetime
from tickbird.wire.codec import encode


# Unknown options are arguments, so that -1h is an instant and is refused as one.
@click.command(cls=Command, context_settings={"ignore_unknown_options": True})
@name_argument
@click.argument("when", type=storable_text)
@note_option
@revision_option
@actor_option
@click.pass_obj
def reschedule(settings: GlobalOptions, name: str, when: str, note: str, revision: int | None, actor: str) -> None:
    """Move the next tick of a schedule to another instant.

    WHEN is relative ("2h", "in 2h", "tomorrow 09:00") or absolute with a time zone ("2026-03-29 03:00 Europe/Rome").
    Ticks between the two instants are skipped. Later ticks stay unchanged.
    """

    async def work() -> Schedule:
        async with connect(settings) as client:
            _, read = await reader(client, name, settings)
            # "now" would be in the past when the store checks it.
            to = read("3s" if when.strip() == "now" else when, "WHEN", ahead=True).at
            return await client.schedules.reschedule(name, to, actor=actor, note=note, revision=revision)

    schedule = run_async(work(), settings)
    ahead = PendingTicks(schedule)
    moved = ahead.next_runnable(ahead.decided)
    assert moved is not None
    due_at = ahead.due_at(moved)
    passed = schedule.grid.count(moved, due_at - schedule.offset)

    def show_move(screen: Printer) -> None:
        tz = zone_of(schedule, settings)
        text = f"{name}: the tick of {clock(to_datetime(moved), tz)} is due at {clock(to_datetime(due_at), tz)}."
        screen.line(text + (f" {in_numbers(passed, 'tick')} between them will be skipped." if passed else ""))

    document = {
        "schedule": encode(schedule),
        "tick": iso(to_datetime(moved)),
        "due_at": iso(to_datetime(due_at)),
        "passed_over": passed,
    }
    print_result(settings, lambda: document, show_move)
