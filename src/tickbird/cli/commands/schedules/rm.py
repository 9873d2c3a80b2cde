"""The `rm` command."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from tickbird.cli.commands.schedules.schedules import state_text, what, zone_of
from tickbird.cli.connection import connect, run_async
from tickbird.cli.errors import FAILED
from tickbird.cli.options import Command, GlobalOptions, actor_option, revision_option
from tickbird.cli.output import Printer, print_result, warn
from tickbird.cli.params import name_argument
from tickbird.domain.messages import count as in_numbers
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.wire.codec import encode

# Number of newest runs that are searched for cancelled ones.
_NEWEST = 1_000


@click.command(cls=Command)
@name_argument
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option(
    "--cancel-runs", is_flag=True, help="Also cancel its waiting and queued runs, and ask running ones to stop."
)
@revision_option
@actor_option
@click.pass_obj
def rm(settings: GlobalOptions, name: str, yes: bool, cancel_runs: bool, revision: int | None, actor: str) -> int:
    """Delete a schedule. Its runs and skips stay in the ledger.

    Active runs continue unless you give --cancel-runs. You can use the name again: the new schedule continues after
    the last decided tick.
    """
    if not yes and (settings.as_json or not sys.stdin.isatty()):
        raise click.UsageError("the terminal is not interactive. Confirm with --yes.", click.get_current_context())

    async def read_schedule() -> tuple[Schedule, Sequence[RunRecord]]:
        async with connect(settings) as client:
            return await client.schedules.get(name), await client.runs.list_active(name)

    if not yes:
        schedule, active = run_async(read_schedule(), settings)
        warn(f"{name} · {what(schedule)}, {state_text(schedule, zone_of(schedule, settings)).text}.")
        warn(_fate(active, cancel_runs))
        if not click.confirm(f"Delete {name}?", err=True):
            warn("nothing was deleted.")
            return FAILED
        # Delete only the revision that the user has seen.
        revision = revision or schedule.revision

    async def work() -> tuple[Schedule, list[RunRecord], Sequence[RunRecord]]:
        async with connect(settings) as client:
            began = await client.system.now()
            gone = await client.schedules.delete(name, actor=actor, revision=revision, cancel_runs=cancel_runs)
            newest = await client.runs.list(schedule=name, limit=_NEWEST)
            ended = [run for run in newest if run.finished_at is not None and run.finished_at >= began]
            return gone, ended, await client.runs.list_active(name)

    gone, ended, left = run_async(work(), settings)
    cancelled = [run for run in ended if run.status == "cancelled"]
    going_on = [run for run in left if run.cancel_requested_at is None]
    stopping = [run for run in left if run.cancel_requested_at is not None]
    if gone.app is not None:
        warn(f"app {gone.app} declares {name} in code: its workers and `tickbird sync` will create it again.")

    def show_gone(screen: Printer) -> None:
        effects = [
            f"{in_numbers(len(runs), 'run')} {how} ({', '.join(str(run.id) for run in runs[:10])})"
            for runs, how in ((cancelled, "cancelled"), (stopping, "stopping"), (going_on, "still active"))
            if runs
        ]
        screen.line(f"{name} is deleted. {'; '.join(effects) or 'It had no active runs'}.")

    document = {
        "schedule": encode(gone),
        "cancelled": [run.id for run in cancelled],
        "cancel_requested": [run.id for run in stopping],
        "active": [run.id for run in going_on],
    }
    print_result(settings, lambda: document, show_gone)
    return 0


def _fate(active: Sequence[RunRecord], cancel_runs: bool) -> str:
    if not active:
        return "it has no active runs."
    named = ", ".join(f"{run.id} {run.status}" for run in active[:10]) + (", …" if len(active) > 10 else "")
    fate = "will be cancelled" if cancel_runs else "will continue (use --cancel-runs to cancel)"
    return f"{in_numbers(len(active), 'active run')} {fate}: {named}."
