"""Commands about runs: runs, cancel, retry."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, get_args

import click

from tickbird.cli.connection import connect, run_async
from tickbird.cli.options import Command, GlobalOptions, actor_option
from tickbird.cli.output import Cell, Printer, Text, both, clock, print_result, relative, warn
from tickbird.cli.params import MAX_ID, read_payload, storable_text
from tickbird.cli.shell_completion import run_ids, schedule_names
from tickbird.client import Client
from tickbird.client.optional import if_supported
from tickbird.domain.explain.explanation import Step
from tickbird.domain.explain.queue_steps import deferral_reason, in_turn
from tickbird.domain.explain.unserved_runs import unserved_reason
from tickbird.domain.limits.rate_limits import QueuePosition, QueueStatus
from tickbird.domain.messages import brief
from tickbird.domain.runs.logs import Progress
from tickbird.domain.runs.run import AttemptRecord, RunRecord, Status
from tickbird.domain.schedules.fields import POLICIES
from tickbird.domain.time.durations import duration_text
from tickbird.domain.workers import Worker
from tickbird.wire.codec import encode

_PAGE = 500
# Rate-limited queues by name, whose next run cannot start yet.
Slow = Mapping[str, QueueStatus]
# Keeps the table readable in a pipe, where columns are not folded. `tickbird runs ID` shows all.
_MAX_NOTE_LENGTH = 120
STYLES: dict[Status, str] = {
    "waiting": "dim",
    "queued": "cyan",
    "running": "blue",
    "succeeded": "green",
    "failed": "red",
    "cancelled": "yellow",
}


@click.command(cls=Command)
@click.argument("run_id", metavar="[ID]", type=click.IntRange(1, MAX_ID), required=False, shell_complete=run_ids)
@click.option(
    "--schedule", type=storable_text, metavar="NAME", shell_complete=schedule_names, help="Only runs of this schedule."
)
@click.option("--status", type=click.Choice(get_args(Status)), help="Only runs with this status.")
@click.option("-c", "--count", type=click.IntRange(1, 1_000_000), default=20, show_default=True, help="Number of runs.")
@click.pass_obj
def runs(settings: GlobalOptions, run_id: int | None, schedule: str | None, status: Status | None, count: int) -> None:
    """List runs, newest first, or show one run.

    With ID, show the payload, result, error and attempts of that run.
    """
    if run_id is None:
        _list(settings, schedule, status, count)
    elif schedule is not None or status is not None:
        raise click.UsageError(
            "--schedule and --status filter the list and cannot be combined with an ID.", click.get_current_context()
        )
    else:
        _detail(settings, run_id)


@click.command(cls=Command)
@click.argument("run_id", metavar="RUN", type=click.IntRange(1, MAX_ID), shell_complete=run_ids)
@click.option("--reason", type=storable_text, default="", metavar="TEXT", help="Reason, stored and shown with the run.")
@actor_option
@click.pass_obj
def cancel(settings: GlobalOptions, run_id: int, reason: str, actor: str) -> None:
    """Cancel a run. If it is running, ask it to stop."""

    async def work() -> RunRecord:
        async with connect(settings) as client:
            return await client.runs.cancel(run_id, actor=actor, reason=reason)

    run = run_async(work(), settings)
    requested = f"Run {run.id}: cancellation requested. Check it with `tickbird runs {run.id}`."
    print_result(
        settings,
        lambda: {"run": encode(run)},
        lambda screen: screen.line(f"Run {run.id} is cancelled." if run.status == "cancelled" else requested),
    )


@click.command(cls=Command)
@click.argument("run_id", metavar="RUN", type=click.IntRange(1, MAX_ID), shell_complete=run_ids)
@click.option("--payload", metavar="JSON|@FILE|-", help="Payload: JSON, @file, or - for stdin (default: the same).")
@actor_option
@click.pass_obj
def retry(settings: GlobalOptions, run_id: int, payload: str | None, actor: str) -> None:
    """Re-run a finished run.

    The new run has the target, payload and policies of that run, even if its schedule was edited, deleted or parked
    since. It refers to the old run. If `max_concurrent` runs of the schedule are active, the new run waits.
    """
    sent = None if payload is None else read_payload(payload)

    async def work() -> tuple[RunRecord, Sequence[Worker]]:
        async with connect(settings) as client:
            return await client.runs.retry(run_id, actor=actor, payload=sent), await client.workers.list()

    run, workers = run_async(work(), settings)
    if run.status == "waiting":
        warn(f"run {run.id} waits until the active run of {run.schedule} is final.")
    elif unserved := unserved_reason(run.queue, run.target, workers):
        warn(f"{unserved}: run {run.id} stays queued until one does.")
    print_result(
        settings,
        lambda: {"run": encode(run)},
        lambda screen: screen.line(
            f"Run {run.id} repeats run {run_id} and is {run.status}. Show it with `tickbird runs {run.id}`."
        ),
    )


def _list(settings: GlobalOptions, schedule: str | None, status: Status | None, count: int) -> None:
    async def read() -> tuple[list[RunRecord], datetime, Slow]:
        async with connect(settings) as client:
            records: list[RunRecord] = []
            while len(records) < count:
                size = min(_PAGE, count - len(records))
                before = records[-1].id if records else None
                page = await client.runs.list(schedule=schedule, status=status, before=before, limit=size)
                records += page
                if len(page) < size:
                    break
            return records, await client.system.now(), await held_back(client, records)

    records, now, slow = run_async(read(), settings)
    print_result(
        settings,
        lambda: {"runs": [encode(run) for run in records]},
        lambda screen: run_table(screen, records, now, slow, named=schedule is None, tz=settings.tz or "UTC"),
    )


async def held_back(client: Client, records: Sequence[RunRecord]) -> Slow:
    """Return the rate-limited queues, if one of the runs is queued."""
    if not any(run.status == "queued" for run in records):
        return {}
    queues = await if_supported(client.queues.list(), ())
    return {queue.name: queue for queue in queues if queue.next_at is not None}


def run_table(
    screen: Printer,
    records: Sequence[RunRecord],
    now: datetime,
    slow: Slow | None = None,
    *,
    named: bool = False,
    tz: str = "UTC",
) -> None:
    if not records:
        screen.line("  none" if not named else "No runs.")
        return
    rows: list[Sequence[Text]] = []
    for run in records:
        name = (run.schedule or f"{run.target.kind} {run.target.name}") if named else ""
        when = clock(run.scheduled_for or run.due_at, tz)
        attempt = str(run.attempt) if run.attempt > 1 else ""
        ran = relative(run.began_at, now) if run.began_at else ""
        status = Cell(run.status, STYLES[run.status])
        rows.append(
            (str(run.id), name, status, run.origin, when, ran, _took(run), attempt, _remark(run, slow or {}, now, tz))
        )
    heads = ("ID", "SCHEDULE", "STATUS", "ORIGIN", "FOR", "STARTED", "TOOK", "ATTEMPT", "NOTE")
    screen.table(heads, rows)


def _attempt(run: RunRecord, now: datetime, tz: str) -> str:
    again = f", started {both(run.started_at, now, tz)}" if run.attempt > 1 and run.started_at else ""
    return f"{run.attempt}{again}" if run.attempt else ""


def _took(run: RunRecord) -> str:
    return "" if run.duration is None else duration_text(run.duration)


def _remark(run: RunRecord, slow: Slow, now: datetime, tz: str) -> str:
    notes = ["held"] if run.held else ["undecided"] if run.undecided else []
    queue = slow.get(run.queue) if run.status == "queued" and run.available_at <= now else None
    if queue is not None and queue.next_at is not None:
        notes.append(f"rate limit of {run.queue}, {queue.rate}: waits until {clock(queue.next_at, tz)} or later")
    notes += [brief(run.error)] if run.error else []
    notes += [run.reason] if run.reason else []
    notes += [f"covers {run.covers.count:,} ticks"] if run.covers else []
    text = "; ".join(notes)
    return text if len(text) <= _MAX_NOTE_LENGTH else text[: _MAX_NOTE_LENGTH - 1] + "…"


class _Detail(NamedTuple):
    run: RunRecord
    attempts: Sequence[AttemptRecord]
    turn: QueuePosition | None
    progress: Progress | None
    waiting_for: Sequence[Step]
    now: datetime


def _detail(settings: GlobalOptions, run_id: int) -> None:
    async def read() -> _Detail:
        async with connect(settings) as client:
            return _Detail(
                await client.runs.get(run_id),
                await client.runs.list_attempts(run_id),
                await client.runs.queue_position(run_id),
                await client.runs.progress(run_id),
                await client.runs.waiting_for(run_id, tz=settings.tz),
                await client.system.now(),
            )

    run, attempts, turn, progress, waiting_for, now = run_async(read(), settings)
    tz = settings.tz or "UTC"
    document = {
        "run": encode(run),
        "attempts": [encode(attempt) for attempt in attempts],
        "queue_position": encode(turn),
        "progress": encode(progress),
        "waiting_for": [step.to_json() for step in waiting_for],
    }

    def show_run(screen: Printer) -> None:
        screen.line(Cell(f"run {run.id} {run.status}", STYLES[run.status]))
        screen.fields((name, value) for name, value in _facts(run, now, tz) if value)
        if turn is not None and turn.rate is not None:
            screen.fields([("rate limit", in_turn(turn, both(turn.at, now, tz)))])
        if turn is not None and turn.deferred_until is not None:
            screen.fields([("fairness", deferral_reason(turn, both(turn.deferred_until, now, tz)))])
        if progress is not None:
            screen.fields(
                [("progress", f"{json.dumps(progress.value, ensure_ascii=False)} ({relative(progress.at, now)})")]
            )
        # The rate limit and the fairness delay are already shown above.
        screen.fields(("waits for", step.text) for step in waiting_for if step.name not in ("rate", "line"))
        if run.error:
            screen.title("Error")
            screen.line(run.error, lines=True)
        if attempts:
            screen.title("Failed attempts")
            rows = [
                (
                    str(attempt.attempt),
                    attempt.outcome,
                    both(attempt.ended_at, now, tz),
                    attempt.worker or "",
                    brief(attempt.error),
                )
                for attempt in attempts
            ]
            screen.table(("ATTEMPT", "OUTCOME", "ENDED", "WORKER", "ERROR"), rows)

    print_result(settings, lambda: document, show_run)


def _facts(run: RunRecord, now: datetime, tz: str) -> Sequence[tuple[str, str]]:
    covers = run.covers
    late = "" if run.lateness is None else f", {duration_text(run.lateness)} after due"
    revision = f" r{run.revision}" if run.revision else ""
    return (
        ("schedule", f"{run.schedule}{revision}" if run.schedule else ""),
        (run.target.kind, run.target.name),
        ("origin", run.origin + (f" by {run.actor}" if run.actor else "")),
        ("scheduled for", both(run.scheduled_for, now, tz)),
        ("due", both(run.due_at, now, tz)),
        ("available", both(run.available_at, now, tz) if run.status in ("waiting", "queued") else ""),
        (
            "covers",
            "" if covers is None else f"{covers.count:,} ticks, {clock(covers.first, tz)} to {clock(covers.last, tz)}",
        ),
        ("started", f"{both(run.began_at, now, tz)}{late}" if run.began_at else ""),
        ("finished", both(run.finished_at, now, tz)),
        ("took", _took(run)),
        ("attempt", _attempt(run, now, tz)),
        ("lease until", both(run.lease_until, now, tz) if run.status == "running" else ""),
        ("worker", run.worker or ""),
        ("queue", run.queue),
        ("priority", POLICIES["priority"].describe(run.priority) if run.priority else ""),
        ("concurrency key", run.concurrency_key or ""),
        ("reason", run.reason or ""),
        ("stop requested", f"by {run.cancel_requested_by}" if run.cancel_requested_at else ""),
        ("failure", run.failure_kind or ""),
        ("retry of", f"run {run.retry_of}" if run.retry_of else ""),
        ("backfill", f"{run.backfill_id}" if run.backfill_id else ""),
        ("held", "until `tickbird release` or `tickbird drop`" if run.held else ""),
        ("undecided", "until `tickbird resolve`" if run.undecided else ""),
        ("released", f"{both(run.released_at, now)} by {run.released_by}" if run.released_at else ""),
        ("payload", json.dumps(dict(run.payload), ensure_ascii=False) if run.payload else ""),
        ("result", json.dumps(run.result, ensure_ascii=False) if run.result is not None else ""),
    )
