"""Commands about runs that are held after an outage: held, release, drop."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime

import click

from tickbird.cli.commands.runs.runs import run_table
from tickbird.cli.commands.schedules.schedules import zone_of
from tickbird.cli.connection import connect, run_async
from tickbird.cli.errors import FAILED
from tickbird.cli.options import Command, GlobalOptions, actor_option
from tickbird.cli.output import Cell, Printer, clock, print_result, relative, warn
from tickbird.cli.params import name_argument, note_option, optional_name_argument
from tickbird.domain.messages import count as counted
from tickbird.domain.runs.held import MAX_COUNT, HeldSchedule
from tickbird.domain.runs.run import RunRecord
from tickbird.wire.codec import encode

_count_option = click.option(
    "--count", type=click.IntRange(1, MAX_COUNT), metavar="N", help="Number of runs, oldest first (default: all)."
)


@click.command(cls=Command)
@optional_name_argument
@click.option(
    "-c", "--count", "limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Number of runs."
)
@click.pass_obj
def held(settings: GlobalOptions, name: str | None, limit: int) -> None:
    """List held runs, by schedule.

    With NAME, list the held runs of that schedule.
    """

    async def read() -> tuple[Sequence[HeldSchedule], Sequence[RunRecord], str, datetime]:
        async with connect(settings) as client:
            schedules, now = await client.held.list(name), await client.system.now()
            if name is None or not schedules:
                return schedules, [], "UTC", now
            return (
                schedules,
                await client.held.list_runs(name, limit=limit),
                zone_of(await client.schedules.get(name), settings),
                now,
            )

    schedules, runs, tz, now = run_async(read(), settings)

    def show_schedules(screen: Printer) -> None:
        if not schedules:
            screen.line(f"{name} has no held runs." if name else "There are no held runs.")
            return
        heads = ("NAME", "HELD", "OLDEST TICK", "NEWEST TICK", "SINCE")
        screen.table(
            heads,
            (
                (
                    Cell(schedule.schedule, "bold"),
                    f"{schedule.count:,}",
                    clock(schedule.first, tz),
                    clock(schedule.last, tz),
                    relative(schedule.since, now),
                )
                for schedule in schedules
            ),
        )
        if name is not None:
            screen.title("Held runs, oldest first")
            run_table(screen, runs, now, tz=tz)
            if schedules[0].count > len(runs):
                screen.line(f"… and {schedules[0].count - len(runs):,} more")
        screen.line()
        which = name or "NAME"
        screen.line(f"Run them with `tickbird release {which}`, or cancel them with `tickbird drop {which}`.")

    documents = {"held": [encode(schedule) for schedule in schedules], "runs": [encode(run) for run in runs]}
    print_result(settings, lambda: documents, show_schedules)


@click.command(cls=Command)
@name_argument
@_count_option
@click.option("--per-minute", type=click.IntRange(1, MAX_COUNT), metavar="N", help="Start at most N runs per minute.")
@note_option
@actor_option
@click.pass_obj
def release(
    settings: GlobalOptions, name: str, count: int | None, per_minute: int | None, note: str, actor: str
) -> None:
    """Release the held runs of a schedule, oldest first."""

    async def work() -> tuple[int, int]:
        async with connect(settings) as client:
            done = await client.held.release(name, count=count, per_minute=per_minute, note=note, actor=actor)
            return done, sum(schedule.count for schedule in await client.held.list(name))

    done, left = run_async(work(), settings)
    rate = f", {per_minute:,} per minute" if per_minute else ""
    _report(settings, name, "released", done, left, rate)


@click.command(cls=Command)
@name_argument
@_count_option
@note_option
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@actor_option
@click.pass_obj
def drop(settings: GlobalOptions, name: str, count: int | None, note: str, yes: bool, actor: str) -> int:
    """Cancel the held runs of a schedule, oldest first."""
    if not yes and (settings.as_json or not sys.stdin.isatty()):
        raise click.UsageError("the terminal is not interactive. Confirm with --yes.", click.get_current_context())
    if not yes:
        which = "all held runs" if count is None else f"the {counted(count, 'oldest held run')}"
        if not click.confirm(f"Cancel {which} of {name}?", err=True):
            warn("no run was dropped.")
            return FAILED

    async def work() -> tuple[int, int]:
        async with connect(settings) as client:
            done = await client.held.drop(name, count=count, note=note, actor=actor)
            return done, sum(schedule.count for schedule in await client.held.list(name))

    done, left = run_async(work(), settings)
    _report(settings, name, "dropped", done, left, "")
    return 0


def _report(settings: GlobalOptions, name: str, what: str, done: int, left: int, rate: str) -> None:
    still = f" {left:,} still held." if left else ""
    print_result(
        settings,
        lambda: {"schedule": name, what: done, "held": left},
        lambda screen: screen.line(f"{counted(done, 'held run')} of {name} {what}{rate}.{still}"),
    )
