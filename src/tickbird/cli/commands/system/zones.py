"""The `zones` command: the time zone data of the store, and the ticks that other time zone data moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from tickbird.cli.connection import connect, run_async
from tickbird.cli.options import Command, GlobalOptions, actor_option
from tickbird.cli.output import Cell, Printer, clock, print_result
from tickbird.domain.messages import count
from tickbird.domain.planning.zone_impact import ZoneImpact
from tickbird.domain.time.zone_data import ZoneRecord, Zones
from tickbird.wire.codec import encode


@click.command(cls=Command)
@click.option(
    "--days", type=click.IntRange(1, 36_500), default=400, show_default=True, help="With --against: days to compare."
)
@click.option(
    "--against",
    type=click.Path(exists=True, file_okay=False),
    metavar="FOLDER",
    help="Compare with the time zone data in this folder, tick by tick.",
)
@click.option(
    "--adopt", is_flag=True, help="Switch the store and the workers to this machine's time zone data, even if older."
)
@actor_option
@click.pass_obj
def zones(settings: GlobalOptions, days: int, against: str | None, adopt: bool, actor: str) -> None:
    """Compare this machine's time zone data with the store's, and list ticks that would move.

    A worker with newer time zone data upgrades the store once and recomputes the next ticks. Without --against, the
    list shows the stored next ticks that this machine's time zone data would move.
    """

    async def work() -> tuple[Zones, Sequence[ZoneRecord], Sequence[ZoneImpact]]:
        async with connect(settings) as client:
            moves = await client.system.zone_impact(days, against)
            zones = await client.system.adopt_zone_data(actor=actor) if adopt else await client.system.zone_data()
            return zones, await client.system.zone_data_history(), moves

    zones, history, moves = run_async(work(), settings)

    def show_zones(screen: Printer) -> None:
        screen.line(f"here   {zones.here} from {zones.here.source}")
        if zones.stored is not None:
            stored, now = zones.stored, " just now" if zones.adopted else f" at {clock(zones.stored.adopted_at)}"
            screen.line(f"store  {stored.version} ({stored.digest[:8]}), adopted{now} by {stored.adopted_by}")
        screen.line(Cell(_relation(zones), "green" if zones.same else "yellow"))
        screen.line()
        if not moves:
            screen.line("No tick moves.")
            return
        screen.line(f"Ticks move in {count(len(moves), 'schedule')}:")
        rows = [
            (
                move.schedule,
                move.zone,
                _first(move.first_removed, move.zone),
                _first(move.first_added, move.zone),
                _sum(move),
            )
            for move in moves
        ]
        screen.table(("SCHEDULE", "ZONE", "FROM", "TO", "TICKS"), rows)

    document = {
        **encode(zones),
        "history": [encode(record) for record in history],
        "against": against,
        "impact": [encode(move) for move in moves],
    }
    print_result(settings, lambda: document, show_zones)


def _relation(zones: Zones) -> str:
    if zones.same or zones.stored is None:
        return "The time zone data is the same: workers with this data plan all schedules."
    if zones.here.version > zones.stored.version:
        return "Newer than the store's: the next worker that starts with this data upgrades the store."
    if zones.here.version == zones.stored.version:
        return "The same version with different rules: use one source on all machines, or choose this one with --adopt."
    return "Older than the store's: a worker with this data plans only UTC schedules. Upgrade tzdata."


def _first(ticks: Sequence[Any], zone: str) -> str:
    return clock(ticks[0], zone) if ticks else "none"


def _sum(moves: ZoneImpact) -> str:
    return f"{moves.removed} removed, {moves.added} added"
