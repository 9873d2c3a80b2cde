"""The command that plans and executes."""

from __future__ import annotations

import asyncio
import logging

import click

from tickbird.cli.apps import app_argument, find_app
from tickbird.cli.arguments import length
from tickbird.cli.settings import Command, Settings
from tickbird.cli.stderr import LEVELS, log_to_stderr
from tickbird.domain.definition import check_name
from tickbird.domain.progress import count

log = logging.getLogger("tickbird.worker")


@click.command(cls=Command)
@app_argument
@click.option("--slots", type=click.IntRange(1, 10_000), default=10, show_default=True, help="Runs at a time.")
@click.option("--queues", metavar="A,B", help="Execute only runs of these queues; else all that the app's code names.")
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
    settings: Settings,
    app: str | None,
    app_option: str | None,
    slots: int,
    queues: str | None,
    plan_only: bool,
    execute_only: bool,
    drain: int,
    lease: int,
    log_level: str,
) -> None:
    """Plan and execute the schedules of an app.

    SIGTERM or Ctrl-C drains: nothing new is taken, what executes may finish, then the process ends with 0. A second
    signal ends it at once. A server database is never migrated by a worker: `tickbird migrate` does that.
    """
    if plan_only and execute_only:
        raise click.UsageError("--plan-only and --execute-only exclude each other.", click.get_current_context())
    served = None if queues is None else tuple(check_name(name.strip(), "queue") for name in queues.split(","))
    log_to_stderr("debug" if settings.debug else log_level)
    bird = find_app(settings, app, app_option)

    from tickbird.engine.engine import EngineOptions
    from tickbird.worker import WorkerProcess

    options = EngineOptions(plan=not execute_only, execute=not plan_only, lease=float(lease), drain=float(drain))
    process = WorkerProcess(bird, slots=slots, queues=served, options=options)
    described = process.worker

    def started() -> None:
        doing = {"planner": "plans", "executor": "executes"}.get(described.kind, "plans and executes")
        log.info(
            "worker %s %s: app %s, %s, %s, queues %s, %s",
            described.id,
            doing,
            bird.app,
            count(len(described.tasks), "task"),
            count(len(described.declares), "schedule"),
            ", ".join(described.queues) or "none",
            count(described.slots, "slot"),
        )

    process.on_started = started
    asyncio.run(process.run(signals=True))
    log.info("worker %s has ended", described.id)
