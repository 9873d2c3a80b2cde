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
from tickbird.cli.params import MAX_ID, length
from tickbird.cli.shell_completion import queue_names
from tickbird.domain.leadership import COORDINATIONS, LEADER, Coordination
from tickbird.domain.messages import count
from tickbird.domain.targets.command import check_variables
from tickbird.domain.targets.target import TASK
from tickbird.domain.workers import WorkerRole
from tickbird.stores import has_sql_functions

log = logging.getLogger("tickbird.worker")
# The name of a worker without an app, as `tickbird workers` shows it.
_WITHOUT_APP = "sql-functions"


@click.command(cls=Command)
@app_argument
@click.option(
    "--slots", type=click.IntRange(1, 10_000), default=10, show_default=True, help="Maximum number of concurrent runs."
)
@click.option(
    "--queues",
    metavar="A,B",
    shell_complete=queue_names,
    help="Execute only runs of these queues (default: TICKBIRD_QUEUES, or all queues in the app's code).",
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
@click.option("--plan-only", is_flag=True, help="Plan, but do not execute runs (default: TICKBIRD_ROLE).")
@click.option("--execute-only", is_flag=True, help="Execute runs, but do not plan (default: TICKBIRD_ROLE).")
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
    "--max-events",
    type=click.IntRange(1, MAX_ID),
    metavar="N",
    help="Delete all but the newest N events of each namespace, also before they are 30 days old (default: no limit).",
)
@click.option(
    "--coordination",
    type=click.Choice(COORDINATIONS),
    help="shared: every worker plans. leader: one of them plans, and another one takes over (default: the app's).",
)
@click.option(
    "--leader-timeout",
    type=length,
    metavar="SECONDS",
    help="Leader mode: seconds without a heartbeat of the leader until another worker takes over (default: the app's).",
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
    max_events: int | None,
    coordination: Coordination | None,
    leader_timeout: int | None,
    log_level: str,
) -> None:
    """Plan and execute the schedules of an app.

    SIGTERM or Ctrl-C drains the worker: it claims no new runs, finishes its current runs, and ends with 0. Runs that
    exceed the drain timeout are stopped and requeued. A second signal ends the worker at once. The app is optional on
    PostgreSQL, where the worker executes the SQL functions of the store, and with --allow-command.
    """
    if plan_only and execute_only:
        raise click.UsageError("--plan-only and --execute-only cannot be combined.", click.get_current_context())
    log_to_stderr("debug" if settings.debug else log_level)
    bird = _bird(settings, app, app_option, commands)
    bird.allows_env += check_variables(variables)

    from tickbird.engine.engine import EngineOptions
    from tickbird.engine.maintenance import Retention
    from tickbird.worker import WorkerProcess

    options = EngineOptions(
        lease=float(lease),
        drain=float(drain),
        retention=Retention(max_events=max_events),
        coordination=coordination,
        leader_timeout=None if leader_timeout is None else float(leader_timeout),
    )
    role: WorkerRole | None = "plan-only" if plan_only else "execute-only" if execute_only else None
    process = WorkerProcess(bird, slots=slots, queues=queues, role=role, options=options)
    described = process.worker

    kinds = Counter(kind for kind, _ in described.targets)
    others = "".join(f", {count(number, f'{kind} target')}" for kind, number in sorted(kinds.items()) if kind != TASK)
    content = f"app {bird.app}, {count(kinds[TASK], 'task')}{others}, {count(len(described.declared), 'schedule')}"
    if bird.consumers and process.executes:
        content += f", {count(len(bird.consumers), 'consumer')}"
    if bird.app == _WITHOUT_APP:
        content = "SQL functions of the store, no tasks"

    def started() -> None:
        doing = {"planner": "plans", "executor": "executes"}.get(described.kind, "plans and executes")
        doing = f"{doing}, in leader mode" if described.coordination == LEADER else doing
        doing = doing if process.may_work else "is on standby"
        log.info(
            "worker %s %s: %s, queues %s, %s",
            described.id,
            doing,
            content,
            ", ".join(described.queues) or "none",
            count(described.slots, "slot"),
        )

    process.on_started = started
    asyncio.run(process.run(signals=True))
    log.info("worker %s ended", described.id)


def _bird(settings: GlobalOptions, app: str | None, app_option: str | None, commands: tuple[str, ...]) -> Tickbird:
    """Return the app; without one, an app without code, if there are programs or SQL functions to execute."""
    if not (app or app_option or os.environ.get("TICKBIRD_APP")):
        url = settings.store_url
        if commands or has_sql_functions(url):
            name = "programs" if commands else _WITHOUT_APP
            return Tickbird(url, app=name, namespace=settings.namespace or "default", commands=commands)
    bird = find_app(settings, app, app_option)
    bird.allows += commands
    return bird
