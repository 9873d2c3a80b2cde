"""The `trigger` command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from click.core import ParameterSource

from tickbird.cli.commands.schedules.bulk import change_many, many_options, selected
from tickbird.cli.connection import connect, run_async
from tickbird.cli.options import Command, GlobalOptions, actor_option
from tickbird.cli.output import print_result, warn
from tickbird.cli.params import optional_name_argument, read_payload
from tickbird.cli.wait import FOREVER, logged, print_end, wait_for, wait_seconds
from tickbird.domain.explain.unserved_runs import unserved_reason
from tickbird.domain.runs.logs import LogLine
from tickbird.domain.runs.run import RunRecord
from tickbird.wire.codec import encode


@click.command(cls=Command)
@optional_name_argument
@click.option(
    "--payload", metavar="JSON|@FILE|-", help="Payload: JSON, @file, or - for stdin (default: the schedule's)."
)
@click.option(
    "--wait",
    is_flag=False,
    flag_value=FOREVER,
    type=wait_seconds,
    metavar="[DURATION]",
    help="Wait until the run ends, or at most this long (90, 10m), and print its log. Exit code 1 unless it succeeds.",
)
@many_options
@actor_option
@click.pass_obj
def trigger(
    settings: GlobalOptions, /, name: str | None, payload: str | None, wait: int | None, actor: str, **many: Any
) -> int:
    """Run a schedule now. Its ticks stay unchanged.

    With --all, run every schedule that matches, each with its own payload. With --wait, Ctrl-C only ends the wait.
    """
    waits = click.get_current_context().get_parameter_source("wait") is not ParameterSource.DEFAULT
    if (selection := selected(settings, name, many)) is not None:
        if payload is not None or waits:
            raise click.UsageError(f"--{'wait' if waits else 'payload'} requires NAME.", click.get_current_context())
        return change_many(
            settings, "trigger", selection, lambda client, which: client.schedules.trigger_all(actor=actor, **which)
        )
    assert name is not None
    sent = None if payload is None else read_payload(payload)

    async def work() -> tuple[RunRecord, Sequence[LogLine]]:
        async with connect(settings) as client:
            run = await client.schedules.trigger(name, actor=actor, payload=sent)
            # If the wait fails, the caller must still learn the id of the run.
            settings.error_context = {"run": encode(run)}
            if run.status == "waiting":
                warn(f"run {run.id} waits until the active run of {name} is final.")
            elif unserved := unserved_reason(run.queue, run.target, await client.workers.list()):
                warn(f"{unserved}: run {run.id} stays queued until one does.")
            if not waits:
                return run, ()
            return await wait_for(client, settings, run.id, wait), await logged(client, settings, run.id)

    run, lines = run_async(work(), settings)
    if waits:
        return print_end(settings, run, lines)
    print_result(
        settings,
        lambda: {"run": encode(run)},
        lambda screen: screen.line(f"Run {run.id} of {name} is {run.status}. Show it with `tickbird runs {run.id}`."),
    )
    return 0
