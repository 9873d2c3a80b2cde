"""The `logs` command."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

import click

from tickbird.cli.connection import connect, run_async
from tickbird.cli.options import Command, GlobalOptions
from tickbird.cli.output import Printer, clean, clock, print_result, warn
from tickbird.cli.params import MAX_ID
from tickbird.cli.shell_completion import run_ids
from tickbird.client import Client
from tickbird.domain.runs.logs import LogLine, level_name
from tickbird.domain.runs.run import RunRecord
from tickbird.wire.codec import encode

_PAGE = 1_000


@click.command(cls=Command)
@click.argument("run_id", metavar="RUN", type=click.IntRange(1, MAX_ID), shell_complete=run_ids)
@click.option("-f", "--follow", is_flag=True, help="Print new lines until the run ends, then its status.")
@click.pass_obj
def logs(settings: GlobalOptions, run_id: int, follow: bool) -> None:
    """Show the log of a run.

    With --follow and --json, the output is one object per line.
    """
    if follow:
        run_async(_follow(settings, run_id), settings)
        return

    async def read() -> tuple[RunRecord, list[LogLine]]:
        async with connect(settings) as client:
            run = await client.runs.get(run_id)
            return run, await rest(client, run_id, (0, 0))

    run, lines = run_async(read(), settings)
    if not lines and not settings.as_json:
        warn(f"run {run_id} is {run.status}, and its log is empty.")
    print_result(
        settings,
        lambda: {"run_id": run_id, "status": run.status, "lines": [encode(line) for line in lines]},
        lambda screen: _show(screen, lines, settings.tz or "UTC"),
    )


def _show(screen: Printer, lines: Sequence[LogLine], tz: str) -> None:
    for line in lines:
        screen.line(_text(line, tz), lines=True)


async def _follow(settings: GlobalOptions, run_id: int) -> None:
    async with connect(settings) as client:
        async for line in client.runs.follow_logs(run_id):
            print_line(settings, line)
        run = await client.runs.get(run_id)
    if settings.as_json:
        click.echo(json.dumps({"run_id": run_id, "status": run.status}))
    else:
        warn(f"run {run_id} is {run.status}.")


async def rest(client: Client, run_id: int, after: tuple[int, int]) -> list[LogLine]:
    """Return all lines after a position (attempt, number)."""
    lines: list[LogLine] = []
    while page := await client.runs.logs(run_id, after=after, limit=_PAGE):
        lines += page
        after = (page[-1].attempt, page[-1].number)
        if len(page) < _PAGE:
            break
    return lines


def print_line(settings: GlobalOptions, line: LogLine) -> None:
    """Print a line and flush, so that a pipe shows it at once."""
    shown = _text(line, settings.tz or "UTC")
    click.echo(json.dumps(encode(line)) if settings.as_json else clean(shown, lines=True))
    sys.stdout.flush()


def _text(line: LogLine, tz: str) -> str:
    attempt = f" (attempt {line.attempt})" if line.attempt > 1 else ""
    return f"{clock(line.at, tz)} {level_name(line.level).upper()}{attempt} {line.text}"
