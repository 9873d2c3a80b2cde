"""The `worker` command."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import Counter

import click

from tickbird.app import Tickbird
from tickbird.cli.app_loading import app_argument, find_app
from tickbird.cli.logging import LEVELS, log_to_stderr
from tickbird.cli.options import Command, GlobalOptions
from tickbird.cli.params import length
from tickbird.cli.shell_completion import queue_names
from tickbird.domain.messages import count
from tickbird.domain.targets.command import check_variables
from tickbird.domain.targets.target import TASK
from tickbird.domain.text import check_name

log = logging.getLogger("tickbird.worker")


@click.command(cls=Command)
@app_argument
@click.option(
    "--slots", type=click.IntRange(1, 10_000), default=10, show_default=True, help="Maximum number of concurrent runs."
)
@click.option(
    "--queues",
    metavar="A,B",
    shell_complete=queue_names,
    help="Execute only runs of these queues (default: all queues in the app's code).",
)
@click.option(
    "--allow-command",
    "commands",
    metavar="PROGRAM",
    multiple=True,
    help="Program that commands may start: path or pattern such as '/opt/jobs/*'; repeatable (default: the app's).",
)
@click.option(
    "--allow-env",
    "variables",
    metavar="NAME",
    multiple=True,
    help="Environment variable that commands may set, and inherit from the worker: name or pattern such as "
    "'BACKUP_*'; repeatable (default: the app's `command_env`).",
)
@click.option("--plan-only", is_flag=True, help="Plan, but do not execute runs.")
@click.option("--execute-only", is_flag=True, help="Execute runs, but do not plan.")
@click.option(
    "--drain",
    type=length,
    default=30,
    metavar="SECONDS",
    help="Seconds, or a duration such as 2m, to finish runs after SIGTERM (default: 30). Longer runs are requeued.",
)
@click.option(
    "--lease",
    type=length,
    default=30,
    metavar="SECONDS",
    help="Lease: seconds until the runs of a lost worker are retried (default: 30).",
)
@click.option(
    "--log-level", type=click.Choice(LEVELS), default="info", show_default=True, help="Minimum level logged to stderr."
)
@click.pass_obj
def worker(
    settings: GlobalOptions,
    app: str | None,
    app_option: str | None,
    slots: int,
    queues: str | None,
    commands: tuple[str, ...],
    variables: tuple[str, ...],
    plan_only: bool,
    execute_only: bool,
    drain: int,
    lease: int,
    log_level: str,
) -> None:
    """Plan and execute the schedules of an app.

    SIGTERM or Ctrl-C drains the worker: it claims no new runs, finishes its current runs, and ends with 0. Runs that
    exceed the drain timeout are stopped and requeued. A second signal ends the worker at once. With --allow-command,
    the app is optional.
    """
    if plan_only and execute_only:
        raise click.UsageError("--plan-only and --execute-only cannot be combined.", click.get_current_context())
    served = None if queues is None else tuple(check_name(name.strip(), "queue") for name in queues.split(","))
    log_to_stderr("debug" if settings.debug else log_level)
    bird = _bird(settings, app, app_option, commands)
    bird.allows_env += check_variables(variables)

    from tickbird.engine.engine import EngineOptions
    from tickbird.worker import WorkerProcess

    options = EngineOptions(plan=not execute_only, execute=not plan_only, lease=float(lease), drain=float(drain))
    process = WorkerProcess(bird, slots=slots, queues=served, options=options)
    described = process.worker

    kinds = Counter(kind for kind, _ in described.targets)
    others = "".join(f", {count(number, f'{kind} target')}" for kind, number in sorted(kinds.items()) if kind != TASK)

    def started() -> None:
        doing = {"planner": "plans", "executor": "executes"}.get(described.kind, "plans and executes")
        doing = doing if process.may_work else "is on standby"
        log.info(
            "worker %s %s: app %s, %s%s, %s, queues %s, %s",
            described.id,
            doing,
            bird.app,
            count(kinds[TASK], "task"),
            others,
            count(len(described.declared), "schedule"),
            ", ".join(described.queues) or "none",
            count(described.slots, "slot"),
        )

    process.on_started = started
    asyncio.run(process.run(signals=True))
    log.info("worker %s ended", described.id)


def _bird(settings: GlobalOptions, app: str | None, app_option: str | None, commands: tuple[str, ...]) -> Tickbird:
    """Return the app, or an app without code if none is given and programs are allowed."""
    if commands and not (app or app_option or os.environ.get("TICKBIRD_APP")):
        return Tickbird(settings.url, app="programs", namespace=settings.namespace or "default", commands=commands)
    bird = find_app(settings, app, app_option)
    bird.allows += commands
    return bird
