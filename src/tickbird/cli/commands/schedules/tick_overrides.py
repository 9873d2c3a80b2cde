"""The `override` command: override one future tick, list overrides, remove an override."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import click

from tickbird.cli.commands.schedules.schedules import zone_of
from tickbird.cli.commands.schedules.ticks import override_table
from tickbird.cli.connection import connect, run_async
from tickbird.cli.options import Command, GlobalOptions, actor_option, revision_option
from tickbird.cli.output import Printer, clock, iso, print_result, warn
from tickbird.cli.params import name_argument, read_payload, storable_text
from tickbird.cli.time_input import Instant, reader
from tickbird.client import Client
from tickbird.domain.messages import count as in_numbers
from tickbird.domain.planning.upcoming import UpcomingTick
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.schedules.tick_overrides import OverrideRecord
from tickbird.wire.codec import encode


# Unknown options are arguments, so that -1h is an instant and is refused as one.
@click.command(cls=Command, context_settings={"ignore_unknown_options": True})
@name_argument
@click.argument("tick", type=storable_text, required=False)
@click.option("--skip", is_flag=True, help="Skip the tick. It is recorded as skipped when it is due.")
@click.option(
    "--move-to", type=storable_text, metavar="INSTANT", help='Run the tick at this instant: "2h", "tomorrow 15:00".'
)
@click.option("--payload", metavar="JSON|@FILE|-", help="Payload of its run, instead of the schedule's.")
@click.option("--list", "listed", is_flag=True, help="List the overrides of the schedule.")
@click.option("--undo", type=storable_text, metavar="TICK", help="Remove the override of this tick.")
@click.option("--note", type=storable_text, default="", metavar="TEXT", help="Reason, shown with the tick.")
@revision_option
@actor_option
@click.pass_obj
def override(
    settings: GlobalOptions,
    name: str,
    tick: str | None,
    skip: bool,
    move_to: str | None,
    payload: str | None,
    listed: bool,
    undo: str | None,
    note: str,
    revision: int | None,
    actor: str,
) -> None:
    """Skip or move one future tick, or change its payload.

    TICK is the instant of a future tick, with a time zone ("2026-12-24T09:00+01:00") or relative ("tomorrow 09:00").
    You can combine --move-to and --payload. A new override replaces the previous one of that tick.
    """
    sent = None if payload is None else read_payload(payload)
    decided = skip or move_to is not None or payload is not None
    if [tick is not None, listed, undo is not None].count(True) != 1 or (decided and tick is None):
        raise click.UsageError(
            "give a tick with --skip, --move-to or --payload, or give --list, or --undo with a tick.",
            click.get_current_context(),
        )
    if listed:
        _list(settings, name)
    elif undo is not None:
        _undo(settings, name, undo, note, revision, actor)
    elif not decided or (skip and (move_to is not None or payload is not None)):
        raise click.UsageError("give --skip alone, or --move-to, --payload or both.", click.get_current_context())
    else:
        assert tick is not None
        _put(settings, name, tick, skip, move_to, sent, note, revision, actor)


def _put(
    settings: GlobalOptions,
    name: str,
    tick: str,
    skip: bool,
    move_to: str | None,
    payload: Any,
    note: str,
    revision: int | None,
    actor: str,
) -> None:
    async def work() -> tuple[Schedule, OverrideRecord, Sequence[Instant]]:
        async with connect(settings) as client:
            schedule, read = await reader(client, name, settings)
            at = read(tick, "TICK", ahead=True)
            to = None if move_to is None else read(move_to, "move-to", ahead=True)
            record = await client.overrides.put(
                name,
                at.at,
                actor=actor,
                skip=skip,
                move_to=None if to is None else to.at,
                payload=payload,
                note=note,
                revision=revision,
            )
            return schedule, record, [at] if to is None else [at, to]

    schedule, record, instants = run_async(work(), settings)
    _print_readings(instants)

    def show_override(screen: Printer) -> None:
        tz = zone_of(schedule, settings)
        screen.line(f"{name}: the tick of {clock(record.scheduled_for, tz)} {_effect(record, tz)}.")
        screen.line(f"Undo it with `tickbird override {name} --undo {iso(record.scheduled_for)}`.")

    print_result(settings, lambda: {"schedule": name, "override": encode(record)}, show_override)


def _print_readings(instants: Sequence[Instant]) -> None:
    for instant in instants:
        if instant.read_as:
            warn(f"{instant.read_as}.")


def _effect(record: OverrideRecord, tz: str) -> str:
    if record.skip:
        return "will be skipped"
    parts = [f"is due at {clock(record.due_at, tz)}"] if record.moved else ["will run"]
    parts += ["with another payload"] if record.payload is not None else []
    between = f"; {in_numbers(record.passes_over, 'tick')} between will be skipped" if record.passes_over else ""
    return " ".join(parts) + between


def _undo(settings: GlobalOptions, name: str, tick: str, note: str, revision: int | None, actor: str) -> None:
    async def work() -> tuple[Schedule, UpcomingTick | None, Instant]:
        async with connect(settings) as client:
            _, read = await reader(client, name, settings)
            at = read(tick, "TICK", ahead=True)
            schedule = await client.overrides.undo(name, at.at, actor=actor, note=note, revision=revision)
            return schedule, await _upcoming(client, name, at.at), at

    schedule, coming, at = run_async(work(), settings)
    _print_readings([at])

    def show_undone(screen: Printer) -> None:
        tz = zone_of(schedule, settings)
        text = f"{name}: the override of the tick of {clock(at.at, tz)} is removed"
        if coming is not None and coming.skipped:
            text += f"; it will be skipped ({coming.skipped})"
        elif coming is not None:
            text += f"; it is due at {clock(coming.due_at, tz)}"
        screen.line(f"{text}.")

    document = {"schedule": encode(schedule), "tick": None if coming is None else encode(coming)}
    print_result(settings, lambda: document, show_undone)


async def _upcoming(client: Client, name: str, at: datetime) -> UpcomingTick | None:
    """Return a tick if it is among the next 1,000."""
    return next((tick for tick in await client.ticks.next(name, 1_000) if tick.scheduled_for == at), None)


def _list(settings: GlobalOptions, name: str) -> None:
    async def read() -> tuple[Schedule, Sequence[OverrideRecord], datetime]:
        async with connect(settings) as client:
            return await client.schedules.get(name), await client.overrides.list(name), await client.system.now()

    schedule, overrides, now = run_async(read(), settings)

    def show_list(screen: Printer) -> None:
        if not overrides:
            screen.line(f"{name} has no tick overrides.")
        else:
            override_table(screen, overrides, zone_of(schedule, settings), now)

    print_result(
        settings, lambda: {"schedule": name, "overrides": [encode(override) for override in overrides]}, show_list
    )
