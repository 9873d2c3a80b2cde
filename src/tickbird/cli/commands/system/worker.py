"""The command that plans and executes."""

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
@click.option("--slots", type=click.IntRange(1, 10_000), default=10, show_default=True, help="Runs at a time.")
@click.option(
    "--queues",
    metavar="A,B",
    shell_complete=queue_names,
    help="Execute only runs of these queues; else all that the app's code names.",
)
@click.option(
    "--allow-command",
    "commands",
    metavar="PROGRAM",
    multiple=True,
    help="A program that commands may start here, by its whole path, or a pattern: '/opt/jobs/*'. Else none.",
)
@click.option(
    "--allow-env",
    "variables",
    metavar="NAME",
    multiple=True,
    help="A variable that commands may set, and read from this environment, or a pattern: 'BACKUP_*'. Else none.",
)
@click.option("--plan-only", is_flag=True, help="Plan, and execute nothing.")
@click.option("--execute-only", is_flag=True, help="Execute, and plan nothing.")
@click.option("--drain", type=length, default=30, metavar="SECONDS", help="How long SIGTERM waits for runs; else 30.")
@click.option(
    "--lease",
    type=length,
    default=30,
    metavar="SECONDS",
    help="A lost worker's runs are retried after this; else 30.",
)
@click.option(
    "--log-level", type=click.Choice(LEVELS), default="info", show_default=True, help="What is logged to stderr."
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

    SIGTERM or Ctrl-C drains: nothing new is taken, what executes may finish, then the process ends with 0. A second
    signal ends it at once. A server database is never migrated by a worker: `tickbird migrate` does that. With
    --allow-command it starts those programs, and needs no app.
    """
    if plan_only and execute_only:
        raise click.UsageError("--plan-only and --execute-only exclude each other.", click.get_current_context())
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
        doing = doing if process.may_work else "stands by"
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
    log.info("worker %s has ended", described.id)


def _bird(settings: GlobalOptions, app: str | None, app_option: str | None, commands: tuple[str, ...]) -> Tickbird:
    """The app of the command line; one without code, where it names none and allows programs."""
    if commands and not (app or app_option or os.environ.get("TICKBIRD_APP")):
        return Tickbird(settings.url, app="programs", namespace=settings.namespace or "default", commands=commands)
    bird = find_app(settings, app, app_option)
    bird.allows += commands
    return bird
