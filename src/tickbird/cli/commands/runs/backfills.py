"""Commands about backfills: start, follow, list and cancel them."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Any, get_args

import click

from tickbird.cli.commands.schedules.schedules import zone_of
from tickbird.cli.connection import connect, run_async
from tickbird.cli.errors import FAILED, INTERRUPTED
from tickbird.cli.options import Command, GlobalOptions, actor_option
from tickbird.cli.output import Cell, Printer, Text, both, clock, print_result, relative, warn
from tickbird.cli.params import MAX_ID, optional_name_argument, read_payload, storable_text
from tickbird.cli.shell_completion import backfill_ids, schedule_names
from tickbird.cli.time_input import InstantParser
from tickbird.domain.explain.unserved_runs import unserved_reason
from tickbird.domain.messages import count
from tickbird.domain.planning.backfills import MAX_CONCURRENCY, BackfillPlan, BackfillRecord, Order
from tickbird.wire.codec import encode

# A date without a time, optionally with a time zone.
_DAY = re.compile(r"(\d{4}-\d\d-\d\d|yesterday|today|tomorrow)(Z| [A-Za-z]\S*)?", re.ASCII)
_SHOWN = 20
_PAUSE = 0.5


@click.command(cls=Command)
@optional_name_argument
@click.option(
    "--from",
    "first",
    type=storable_text,
    metavar="INSTANT",
    help="First instant of the range; a date means the start of that day.",
)
@click.option(
    "--to",
    "last",
    type=storable_text,
    metavar="INSTANT",
    help="Last instant of the range; a date means the end of that day.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, MAX_CONCURRENCY),
    default=1,
    show_default=True,
    help="Maximum number of concurrent runs.",
)
@click.option(
    "--order", type=click.Choice(get_args(Order)), default="oldest", show_default=True, help="Order of the ticks."
)
@click.option(
    "--payload", metavar="JSON|@FILE|-", help="Payload: JSON, @file, or - for stdin (default: the schedule's)."
)
@click.option(
    "--note",
    type=storable_text,
    default="",
    metavar="TEXT",
    help="Reason, shown with the backfill and in the audit log.",
)
@click.option("--dry-run", is_flag=True, help="Only show which ticks would run.")
@click.option("--detach", is_flag=True, help="Do not wait until the runs end.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option(
    "--cancel",
    "cancelled",
    type=click.IntRange(1, MAX_ID),
    metavar="ID",
    shell_complete=backfill_ids,
    help="Cancel the runs of this backfill that have not started.",
)
@click.option("--stop-running", is_flag=True, help="With --cancel: also stop running runs.")
@actor_option
@click.pass_obj
def backfill(
    settings: GlobalOptions,
    name: str | None,
    first: str | None,
    last: str | None,
    concurrency: int,
    order: Order,
    payload: str | None,
    note: str,
    dry_run: bool,
    detach: bool,
    yes: bool,
    cancelled: int | None,
    stop_running: bool,
    actor: str,
) -> int:
    """Run the past ticks of a range that have no run.

    The schedule's own ticks have precedence. Ctrl-C does not stop a backfill: use --cancel.
    """
    if cancelled is not None:
        if name is not None or first is not None or last is not None:
            raise _wrong("--cancel takes a backfill id, and excludes NAME, --from and --to.")
        return _cancel(settings, cancelled, actor, note, stop_running)
    if name is None or first is None or last is None:
        raise _wrong("give a schedule, --from and --to, or --cancel with a backfill id.")
    if stop_running:
        raise _wrong("--stop-running requires --cancel.")
    if not (yes or dry_run) and (settings.as_json or not sys.stdin.isatty()):
        raise _wrong("the terminal is not interactive. Confirm with --yes, or check with --dry-run first.")
    sent = None if payload is None else read_payload(payload)
    options: dict[str, Any] = {
        "concurrency": concurrency,
        "order": order,
        "payload": sent,
        "note": note,
        "actor": actor,
    }

    async def make(*, dry: bool) -> tuple[BackfillPlan, str, str]:
        async with connect(settings) as client:
            schedule = await client.schedules.get(name)
            definition = schedule.definition
            instant = InstantParser(
                await client.system.now(), settings.tz, None if definition is None else definition.trigger.tz
            )
            start, end = instant(first, "from").at, instant(_end_of_day(last), "to").at
            plan = await client.backfills.create(name, start, end, dry_run=dry, **options)
            target = None if definition is None else (definition.queue, definition.target)
            unserved = "" if target is None else unserved_reason(*target, await client.workers.list())
            return plan, zone_of(schedule, settings), unserved

    if dry_run or not yes:
        plan, tz, _ = run_async(make(dry=True), settings)
        if dry_run:
            print_result(settings, lambda: {"backfill": encode(plan)}, lambda screen: _preview(screen, plan, tz))
            return 0
        screen = Printer()
        _preview(screen, plan, tz)
        screen.flush()
        if not plan.count:
            return 0
        if not click.confirm(f"Create {count(plan.count, 'run')}?", err=True):
            warn("no run was created.")
            return FAILED
    plan, tz, unserved = run_async(make(dry=False), settings)
    if plan.backfill_id is None:
        print_result(settings, lambda: {"backfill": encode(plan)}, lambda screen: _preview(screen, plan, tz))
        return 0
    if unserved:
        warn(f"{unserved}: the runs stay queued until one does.")
    return _follow(settings, plan, plan.backfill_id, detach=detach)


def _end_of_day(text: str) -> str:
    """Turn a date into its last second, because the last day of a range is included."""
    match = _DAY.fullmatch(" ".join(text.split()))
    if match is None:
        return text
    day, zone = match[1], match[2] or ""
    return f"{day}{'T' if day[0].isdigit() else ' '}23:59:59{zone}"


def _wrong(text: str) -> click.UsageError:
    return click.UsageError(text, click.get_current_context())


def _preview(screen: Printer, plan: BackfillPlan, tz: str) -> None:
    left_out = f"{count(plan.taken, 'tick')} of the range already {'has' if plan.taken == 1 else 'have'} a run"
    if plan.excluded:
        left_out += f", {plan.excluded:,} {'is' if plan.excluded == 1 else 'are'} excluded by the calendar"
    verb = "created" if plan.backfill_id is not None else "would be created"
    if not plan.count:
        screen.line(f"Nothing to run: {left_out}.")
    else:
        screen.line(f"{count(plan.count, 'run')} of {plan.schedule} {verb}; {left_out}.")
    if plan.pruned and plan.pruned_until is not None:
        screen.line(
            f"{count(plan.pruned, 'tick')} up to {clock(plan.pruned_until, tz)} "
            f"{'is' if plan.pruned == 1 else 'are'} excluded: their runs may have been pruned, and no tick runs twice."
        )
    if plan.cut_at is not None:
        screen.line(
            f"The range ends at {clock(plan.cut_at, tz)}: later ticks are not decided yet and will run on schedule."
        )
    for tick in plan.ticks[:_SHOWN]:
        screen.line(f"  {clock(tick, tz)}")
    if plan.count > _SHOWN:
        screen.line(f"  … and {plan.count - _SHOWN:,} more")


def _follow(settings: GlobalOptions, plan: BackfillPlan, backfill_id: int, *, detach: bool) -> int:
    """Wait with a progress bar until the runs end, unless detached."""
    try:
        if not settings.as_json:
            click.echo(f"Backfill {backfill_id} of {plan.schedule}: {count(plan.count, 'run')}.")
        record = run_async(_watch(settings, backfill_id, wait=not detach), settings)
    except KeyboardInterrupt:
        click.echo(f"\n{_continues(backfill_id)}", err=True)
        return INTERRUPTED
    print_result(settings, lambda: {"backfill": encode(record)}, lambda screen: _outcome(screen, record))
    return FAILED if not detach and record.count("failed", "cancelled") else 0


def _continues(backfill_id: int) -> str:
    return (
        f"The backfill continues. Show it with `tickbird backfills {backfill_id}`, "
        f"or cancel it with `tickbird backfill --cancel {backfill_id}`."
    )


async def _watch(settings: GlobalOptions, backfill_id: int, *, wait: bool) -> BackfillRecord:
    async with connect(settings) as client:
        record = await client.backfills.get(backfill_id)
        if not wait:
            return record
        with _Bar(record, shown=not settings.as_json and sys.stderr.isatty()) as bar:
            while record.active:
                await asyncio.sleep(_PAUSE)
                record = await client.backfills.get(backfill_id)
                bar.show(record)
        return record


class _Bar:
    """A progress bar; does nothing if `shown` is False."""

    def __init__(self, record: BackfillRecord, *, shown: bool) -> None:
        self._progress: Any = None
        if shown:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self._progress = Progress(
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                TextColumn("{task.description}"),
                console=Console(stderr=True),
            )
            self._task = self._progress.add_task("", total=record.total, completed=record.done)

    def __enter__(self) -> _Bar:
        if self._progress is not None:
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def show(self, record: BackfillRecord) -> None:
        if self._progress is not None:
            self._progress.update(self._task, completed=record.done, description=_counts(record, "running", "failed"))


def _counts(record: BackfillRecord, *statuses: Any) -> str:
    listed = statuses or ("waiting", "queued", "running", "succeeded", "failed", "cancelled")
    return ", ".join(f"{record.counts[status]:,} {status}" for status in listed if record.counts.get(status))


def _outcome(screen: Printer, record: BackfillRecord) -> None:
    bad = record.count("failed", "cancelled")
    text = f"Backfill {record.id} of {record.schedule}: {_counts(record) or 'all runs were pruned'}."
    screen.line(Cell(text, "red" if bad else "green" if not record.active else ""))
    if record.active:
        screen.line(_continues(record.id))
    elif bad:
        screen.line(f"Show the runs with `tickbird runs --schedule {record.schedule}`.")


def _cancel(settings: GlobalOptions, backfill_id: int, actor: str, note: str, stop_running: bool) -> int:
    async def work() -> BackfillRecord:
        async with connect(settings) as client:
            return await client.backfills.cancel(backfill_id, actor=actor, note=note, stop_running=stop_running)

    record = run_async(work(), settings)

    def show(screen: Printer) -> None:
        screen.line(f"Backfill {record.id} of {record.schedule} is cancelled: {_counts(record)}.")
        if record.count("running"):
            screen.line("Running runs " + ("were asked to stop." if stop_running else "continue to their end."))

    print_result(settings, lambda: {"backfill": encode(record)}, show)
    return 0


@click.command(cls=Command)
@click.argument(
    "backfill_id", metavar="[ID]", type=click.IntRange(1, MAX_ID), required=False, shell_complete=backfill_ids
)
@click.option(
    "--schedule",
    type=storable_text,
    metavar="NAME",
    shell_complete=schedule_names,
    help="Only backfills of this schedule.",
)
@click.option(
    "-c", "--count", "limit", type=click.IntRange(1, 1_000), default=20, show_default=True, help="Number of backfills."
)
@click.pass_obj
def backfills(settings: GlobalOptions, backfill_id: int | None, schedule: str | None, limit: int) -> None:
    """List backfills, newest first, or show one backfill."""

    async def read() -> tuple[Sequence[BackfillRecord], datetime]:
        async with connect(settings) as client:
            if backfill_id is not None:
                return [await client.backfills.get(backfill_id)], await client.system.now()
            return await client.backfills.list(schedule=schedule, limit=limit), await client.system.now()

    if backfill_id is not None and schedule is not None:
        raise _wrong("--schedule filters the list and cannot be combined with an ID.")
    records, now = run_async(read(), settings)
    if backfill_id is None:
        documents = {"backfills": [encode(record) for record in records]}
        print_result(settings, lambda: documents, lambda screen: _table(screen, records, now))
    else:
        print_result(settings, lambda: {"backfill": encode(records[0])}, lambda screen: _show(screen, records[0], now))


def _state(record: BackfillRecord) -> Cell:
    if record.cancelled_at is not None:
        return Cell("cancelled" + (", ending" if record.active else ""), "yellow")
    if record.active:
        return Cell("running", "blue")
    return Cell("done, with failures", "red") if record.count("failed", "cancelled") else Cell("done", "green")


def _table(screen: Printer, records: Sequence[BackfillRecord], now: datetime) -> None:
    if not records:
        screen.line("No backfills. Start one with `tickbird backfill NAME --from INSTANT --to INSTANT`.")
        return
    rows: list[Sequence[Text]] = [
        (
            str(record.id),
            record.schedule,
            _state(record),
            f"{record.done:,}/{record.total:,}",
            Cell(str(record.count("failed") or ""), "red"),
            clock(record.first),
            clock(record.last),
            relative(record.created_at, now),
            record.actor,
            record.note,
        )
        for record in records
    ]
    screen.table(("ID", "SCHEDULE", "STATE", "DONE", "FAILED", "FROM", "TO", "CREATED", "BY", "NOTE"), rows)


def _show(screen: Printer, record: BackfillRecord, now: datetime) -> None:
    state = _state(record)
    screen.line(Cell(f"backfill {record.id} of {record.schedule}: {state.text}", state.style))
    screen.fields(
        (name, value)
        for name, value in (
            ("runs", f"{record.done:,} of {record.total:,} done ({_counts(record) or 'pruned'})"),
            ("range", f"{clock(record.first)} to {clock(record.last)}"),
            ("order", f"{record.order} first, {record.concurrency} at a time"),
            ("revision", f"r{record.revision}"),
            ("created", f"{both(record.created_at, now)} by {record.actor}"),
            ("note", record.note),
            ("payload", "" if record.payload is None else json.dumps(dict(record.payload), ensure_ascii=False)),
            ("cancelled", f"{both(record.cancelled_at, now)} by {record.cancelled_by}" if record.cancelled_at else ""),
        )
        if value
    )
    if record.active and record.cancelled_at is None:
        screen.line(f"Cancel it with `tickbird backfill --cancel {record.id}`.")
