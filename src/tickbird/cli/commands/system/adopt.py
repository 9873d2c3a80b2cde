"""The `adopt` command: schedules in memory become durable, all or as a canary."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import click

from tickbird.cli.adoption import DAYS, Candidate, list_candidates, make_durable, return_to_memory, watch
from tickbird.cli.app_loading import app_argument, find_app
from tickbird.cli.connection import run_async
from tickbird.cli.errors import FAILED, INVALID
from tickbird.cli.options import Command, GlobalOptions, actor_option
from tickbird.cli.output import Cell, Printer, Text, clock, iso, print_result, warn
from tickbird.cli.params import length, storable_text
from tickbird.client import Client, StoreClient
from tickbird.domain.messages import count
from tickbird.domain.time.durations import duration_text
from tickbird.stores import must_exist, open_store

if TYPE_CHECKING:
    from tickbird.app import Tickbird

_HEADS = ("NAME", "IN MEMORY", "DURABLE", "NEXT TICK", "RESULT")


def percent(value: str) -> float:
    """Parse a share such as 10% or 0.5."""
    try:
        share = float(value.removesuffix("%"))
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a share such as 10%.") from None
    if not 0 < share <= 100:
        raise click.BadParameter("must be more than 0% and at most 100%.")
    return share


@click.command(cls=Command)
@app_argument
@click.option(
    "--only", "names", type=storable_text, multiple=True, metavar="NAME", help="Adopt this schedule; repeatable."
)
@click.option(
    "--share", type=percent, metavar="PERCENT", help="Adopt a share, such as 10%, chosen by a stable hash of the names."
)
@click.option(
    "--watch",
    "seconds",
    type=length,
    metavar="DURATION",
    help="Watch for this time, such as 24h, and undo the adoption if a tick is doubled, lost or late.",
)
@click.option("-y", "--yes", is_flag=True, help="Adopt without asking.")
@actor_option
@click.pass_obj
def adopt(
    settings: GlobalOptions,
    app: str | None,
    app_option: str | None,
    names: tuple[str, ...],
    share: float | None,
    seconds: int | None,
    yes: bool,
    actor: str,
) -> int:
    """Make an app's schedules in memory durable.

    Lists the schedules that the code declares in memory, with the ticks of the next week on both sides. After your
    confirmation, `durable` of each is set to true, one by one; it overrides the code. Schedules that are durable
    already, or belong to another app, do not change. Undo it with `tickbird set NAME --unset durable`.
    """
    bird = find_app(settings, app, app_option)
    declared = bird.declarations.schedules

    async def read() -> Sequence[Candidate]:
        async with _connect(bird) as client:
            return await list_candidates(client, bird.app, declared, share=share, names=names)

    candidates = run_async(read(), settings)
    chosen = [candidate.name for candidate in candidates if candidate.fate == "adopt"]
    if not settings.as_json:
        print_result(settings, dict, lambda screen: _show(screen, candidates, settings))
    refused = 0
    if chosen and not yes:
        if settings.as_json or not sys.stdin.isatty():
            warn("nothing was changed: the terminal is not interactive. Confirm with --yes.")
            chosen, refused = [], INVALID
        elif not click.confirm(f"Make {count(len(chosen), 'schedule')} durable?", err=True):
            warn("nothing was changed.")
            chosen, refused = [], FAILED

    async def work() -> Mapping[str, str]:
        async with _connect(bird) as client:
            await make_durable(client, chosen, actor)
            if seconds is None:
                return {}
            if not settings.as_json:
                lasting = duration_text(seconds)
                warn(f"watching {count(len(chosen), 'schedule')} for {lasting}; Ctrl-C only ends the watch.")
            problems = await watch(client, chosen, seconds)
            if problems:
                await return_to_memory(client, chosen, actor)
            return problems

    problems = run_async(work(), settings) if chosen else {}
    adopted = [] if problems else chosen
    rest = [item.name for item in candidates if item.name not in adopted and item.fate != "durable"]

    def document() -> dict[str, Any]:
        return {
            "app": bird.app,
            "schedules": [_document(candidate) for candidate in candidates],
            "adopted": adopted,
            "undone": [{"schedule": name, "problem": problem} for name, problem in problems.items()],
            "in_memory": rest,
        }

    def show_result(screen: Printer) -> None:
        for name, problem in problems.items():
            screen.line(Cell(f"{name}: {problem}", "red"))
        if problems:
            screen.line(f"The adoption of {count(len(chosen), 'schedule')} was undone.")
        for name in adopted:
            screen.line(f"{name}: durable")
        if not chosen:
            screen.line("No schedule was adopted.")

    print_result(settings, document, show_result)
    if rest:
        warn(f"deprecated: {count(len(rest), 'schedule')} still in memory: {', '.join(rest)}.")
    return FAILED if problems else refused


@asynccontextmanager
async def _connect(bird: Tickbird) -> AsyncIterator[Client]:
    """Connect to the store of the app."""
    store = open_store(bird.url)
    must_exist(store)
    await store.open()
    try:
        yield StoreClient(store, bird.namespace)
    finally:
        await store.close()


def _show(screen: Printer, candidates: Sequence[Candidate], settings: GlobalOptions) -> None:
    if not candidates:
        screen.line("The app declares no schedule in memory.")
        return
    screen.line(f"Ticks of the next {DAYS} days, by each worker and by the planner of the store:")
    screen.table(_HEADS, (_row(candidate, settings) for candidate in candidates))


def _row(candidate: Candidate, settings: GlobalOptions) -> Sequence[Text]:
    tz = settings.tz or "UTC"
    counts = [
        "" if number is None else f"{number:,}" for number in (candidate.ticks_in_memory, candidate.ticks_durable)
    ]
    result: Text = Cell(candidate.fate, "green" if candidate.fate == "adopt" else "dim")
    if candidate.differs_at is not None:
        result = Cell(f"{candidate.fate}; the ticks differ from {clock(candidate.differs_at, tz)} on", "yellow")
    next_at = "" if candidate.next_at is None else clock(candidate.next_at, tz)
    return (Cell(candidate.name, "bold"), *counts, next_at, result)


def _document(candidate: Candidate) -> dict[str, Any]:
    return {
        "name": candidate.name,
        "result": candidate.fate,
        "ticks_in_memory": candidate.ticks_in_memory,
        "ticks_durable": candidate.ticks_durable,
        "next_at": None if candidate.next_at is None else iso(candidate.next_at),
        "differs_at": None if candidate.differs_at is None else iso(candidate.differs_at),
    }
