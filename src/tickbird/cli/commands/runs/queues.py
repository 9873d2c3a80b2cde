"""Commands about queues: list them, and set or remove their rate limits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import click

from tickbird.cli.connection import connect, run_async
from tickbird.cli.options import Command, GlobalOptions, actor_option
from tickbird.cli.output import Printer, both, print_result, warn
from tickbird.cli.params import storable_text
from tickbird.cli.shell_completion import queue_names
from tickbird.domain.explain.unserved_runs import unserved
from tickbird.domain.limits.rate_limits import QueueStatus
from tickbird.domain.time.durations import duration_text
from tickbird.domain.workers import Worker
from tickbird.wire.codec import encode

_HEADS = ("QUEUE", "RATE", "WAITING", "QUEUED", "RUNNING", "WORKERS", "NEXT START")


@click.command(cls=Command)
@click.pass_obj
def queues(settings: GlobalOptions) -> None:
    """List queues with runs, rate limits and workers."""

    async def read() -> tuple[Sequence[QueueStatus], datetime]:
        async with connect(settings) as client:
            return await client.queues.list(), await client.system.now()

    statuses, now = run_async(read(), settings)

    def show(screen: Printer) -> None:
        if not statuses:
            screen.line("No queues are in use: there are no runs, and no live worker serves a queue.")
            return
        screen.table(_HEADS, (_row(queue, now, settings.tz or "UTC") for queue in statuses))

    print_result(settings, lambda: {"queues": [encode(queue) for queue in statuses]}, show)


@click.command(cls=Command)
@click.argument("name", metavar="QUEUE", type=storable_text, shell_complete=queue_names)
@click.option(
    "--rate",
    type=storable_text,
    metavar="N/PERIOD",
    help="Rate limit, such as 100/min, 5/3s or 1000/day; none removes it.",
)
@actor_option
@click.pass_obj
def queue(settings: GlobalOptions, name: str, rate: str | None, actor: str) -> None:
    """Show a queue, or set or remove its rate limit."""

    async def work() -> tuple[QueueStatus, Sequence[Worker], datetime]:
        async with connect(settings) as client:
            if rate is not None:
                status = (
                    await client.queues.remove_rate(name, actor=actor)
                    if rate.lower() == "none"
                    else await client.queues.set_rate(name, rate, actor=actor)
                )
            else:
                statuses = {other.name: other for other in await client.queues.list()}
                status = statuses.get(name) or QueueStatus(name, None, None, 0, 0, 0)
            return status, await client.workers.list(), await client.system.now()

    status, workers, now = run_async(work(), settings)
    if reason := unserved(name, workers):
        warn(f"{reason}: its runs stay queued until one does.")

    def show(screen: Printer) -> None:
        if rate is None:
            screen.table(_HEADS, [_row(status, now, settings.tz or "UTC")])
            return
        limit = "no rate limit" if status.rate is None else f"at most {_rate_text(status)}"
        screen.line(f"{status.name}: {limit}; {status.queued} queued, {status.running} running.")

    print_result(settings, lambda: encode(status), show)


def _row(queue: QueueStatus, now: datetime, tz: str) -> Sequence[str]:
    numbers = (str(number) for number in (queue.waiting, queue.queued, queue.running, queue.workers))
    return (queue.name, "" if queue.rate is None else str(queue.rate), *numbers, both(queue.next_at, now, tz))


def _rate_text(queue: QueueStatus) -> str:
    assert queue.rate is not None
    runs = "1 run starts" if queue.rate.count == 1 else f"{queue.rate.count:,} runs start"
    return f"{runs} within any {duration_text(queue.rate.seconds)}"
