"""Commands about runs of lost workers that wait for an answer: undecided, resolve."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import click

from tickbird.cli.connection import connect, run_async
from tickbird.cli.options import Command, GlobalOptions, actor_option
from tickbird.cli.output import Cell, Printer, print_result, relative
from tickbird.cli.params import MAX_ID, note_option
from tickbird.cli.shell_completion import run_ids
from tickbird.domain.messages import brief
from tickbird.domain.runs.lost_runs import Decision, LostRun
from tickbird.domain.runs.run import RunRecord
from tickbird.wire.codec import encode


@click.command(cls=Command)
@click.option(
    "-c", "--count", "limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Number of runs."
)
@click.pass_obj
def undecided(settings: GlobalOptions, limit: int) -> None:
    """List lost runs that wait for the answer whether they had their effect."""

    async def read() -> tuple[Sequence[LostRun], datetime]:
        async with connect(settings) as client:
            return await client.runs.list_undecided(limit=limit), await client.system.now()

    runs, now = run_async(read(), settings)

    def show(screen: Printer) -> None:
        if not runs:
            screen.line("No run waits for an answer.")
            return
        heads = ("ID", "SCHEDULE", "TASK", "ATTEMPT", "LOST", "CALLS", "NOTE")
        rows = [
            (
                Cell(str(lost.run_id), "bold"),
                lost.schedule or "",
                lost.target,
                str(lost.attempt),
                relative(lost.lost_at, now),
                str(lost.calls or ""),
                brief(lost.error) if lost.error else "",
            )
            for lost in runs
        ]
        screen.table(heads, rows)
        screen.line()
        screen.line("Did it have its effect? Answer with `tickbird resolve ID yes` or `tickbird resolve ID no`.")

    print_result(settings, lambda: {"runs": [encode(lost) for lost in runs]}, show)


@click.command(cls=Command)
@click.argument("run_id", metavar="RUN", type=click.IntRange(1, MAX_ID), shell_complete=run_ids)
@click.argument("effect", metavar="yes|no", type=click.Choice(["yes", "no"]))
@note_option
@actor_option
@click.pass_obj
def resolve(settings: GlobalOptions, run_id: int, effect: Decision, note: str, actor: str) -> None:
    """Answer whether the lost attempt of a run had its effect.

    After yes, the run has succeeded. After no, it gets another attempt.
    """

    async def work() -> RunRecord:
        async with connect(settings) as client:
            return await client.runs.resolve(run_id, effect, note=note, actor=actor)

    run = run_async(work(), settings)
    what = "has succeeded" if run.status == "succeeded" else f"is {run.status}"
    print_result(settings, lambda: {"run": encode(run)}, lambda screen: screen.line(f"Run {run.id} {what}."))
