"""The `skip` command."""

from __future__ import annotations

from dataclasses import replace

import click

from tickbird.cli.commands.schedules.schedules import zone_of
from tickbird.cli.connection import connect, run_async
from tickbird.cli.options import Command, GlobalOptions, actor_option, revision_option
from tickbird.cli.output import Printer, clock, iso, print_result
from tickbird.cli.params import name_argument, note_option, storable_text
from tickbird.cli.time_input import reader
from tickbird.domain.planning.pending_ticks import PendingTicks
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import to_datetime
from tickbird.wire.codec import encode


@click.command(cls=Command)
@name_argument
@click.option("-c", "--count", type=click.IntRange(1, 10_000), metavar="N", help="Number of ticks (default: 1).")
@click.option(
    "--until", type=storable_text, metavar="INSTANT", help='Skip all ticks before this instant: "2h", "tomorrow 09:00".'
)
@note_option
@revision_option
@actor_option
@click.pass_obj
def skip(
    settings: GlobalOptions,
    name: str,
    count: int | None,
    until: str | None,
    note: str,
    revision: int | None,
    actor: str,
) -> None:
    """Skip the next ticks of a schedule.

    Each tick is recorded as skipped by you when it is due. A second `skip` skips additional ticks.
    """
    if count is not None and until is not None:
        raise click.UsageError("--count and --until cannot be combined.", click.get_current_context())

    async def work() -> Schedule:
        async with connect(settings) as client:
            _, read = await reader(client, name, settings)
            end = None if until is None else read(until, "until", ahead=True).at
            return await client.schedules.skip(name, count, until=end, actor=actor, note=note, revision=revision)

    schedule = run_async(work(), settings)
    reached, last = schedule.cursor.planned_until, schedule.cursor.skip_until
    assert reached is not None and last is not None
    skipped = schedule.grid.range(reached, last)
    assert skipped is not None
    ahead = PendingTicks(schedule)
    skipped = replace(skipped, first=ahead.next(reached) or skipped.first, count=ahead.count(reached, last))
    following = ahead.next(last)

    def show_skip(screen: Printer) -> None:
        tz = zone_of(schedule, settings)
        first, end = (clock(to_datetime(tick), tz) for tick in (skipped.first, skipped.last))
        span = f"the tick of {first}" if skipped.count == 1 else f"{skipped.count:,} ticks from {first} to {end}"
        after = f" The next tick is {clock(to_datetime(following), tz)}." if following is not None else ""
        screen.line(f"{name} will skip {span}.{after}")

    document = {
        "schedule": encode(schedule),
        "first": iso(to_datetime(skipped.first)),
        "last": iso(to_datetime(skipped.last)),
        "count": skipped.count,
        "next": None if following is None else iso(to_datetime(following)),
    }
    print_result(settings, lambda: document, show_skip)
