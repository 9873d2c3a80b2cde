"""The `workers` and `drain` commands."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import click

from tickbird.cli.connection import connect, run_async
from tickbird.cli.options import Command, GlobalOptions, actor_option
from tickbird.cli.output import Cell, Printer, Text, print_result, relative
from tickbird.cli.params import note_option, storable_text
from tickbird.cli.shell_completion import worker_ids
from tickbird.domain.messages import count
from tickbird.domain.runs.unreadable_runs import published, published_count
from tickbird.domain.workers import Worker
from tickbird.wire.codec import encode

_HEADS = ("WORKER", "APP", "KIND", "QUEUES", "SLOTS", "VERSION", "STARTED", "HEARTBEAT", "NOTE")


@click.command(cls=Command)
@click.pass_obj
def workers(settings: GlobalOptions) -> None:
    """List live workers: queues, slots, last heartbeat, and why a worker is idle."""

    async def read() -> tuple[Sequence[Worker], datetime]:
        async with connect(settings) as client:
            return await client.workers.list(), await client.system.now()

    live, now = run_async(read(), settings)

    def show(screen: Printer) -> None:
        if not live:
            screen.line("No live workers. Start one with `tickbird worker`.")
            return
        screen.table(_HEADS, (_row(worker, now) for worker in live))

    print_result(settings, lambda: {"workers": [encode(worker) for worker in live]}, show)


@click.command(cls=Command)
@click.argument("worker", type=storable_text, shell_complete=worker_ids)
@note_option
@actor_option
@click.pass_obj
def drain(settings: GlobalOptions, worker: str, note: str, actor: str) -> None:
    """Shut down a worker gracefully: it finishes its runs first.

    The worker reacts as it does to SIGTERM: it claims no new runs, finishes its current runs, and ends. It receives the
    request within seconds, at the latest with its next heartbeat. You cannot undo this.
    """

    async def work() -> Worker:
        async with connect(settings) as client:
            return await client.workers.drain(worker, actor=actor, note=note)

    drained = run_async(work(), settings)
    print_result(
        settings,
        lambda: {"worker": encode(drained)},
        lambda screen: screen.line(f"Worker {drained.id} will drain. `tickbird workers` lists it until it ends."),
    )


def _row(worker: Worker, now: datetime) -> Sequence[Text]:
    started, seen = (
        relative(at, now) if at is not None else "" for at in (worker.started_at, worker.last_heartbeat_at)
    )
    queues, slots = ", ".join(worker.queues), str(worker.slots)
    return (worker.id, worker.app, worker.kind, queues, slots, worker.version, started, seen, _note(worker))


def _note(worker: Worker) -> Text:
    notes = []
    if worker.drain_requested_by is not None:
        notes.append(f"{'draining' if worker.draining else 'will drain'}, requested by {worker.drain_requested_by}")
    elif worker.draining:
        notes.append("draining")
    notes += [worker.standby_reason] if worker.standby_reason else []
    stuck = worker.health.get("stuck")
    notes += [f"{count(stuck, 'slot')} stuck"] if isinstance(stuck, int) and stuck else []
    if unreadable := published(worker.health):
        number = published_count(worker.health)
        notes.append(f"cannot read {unreadable[0]}" + (f" and {number - 1} more" if number > 1 else ""))
    return Cell("; ".join(notes), "yellow" if notes else "")
