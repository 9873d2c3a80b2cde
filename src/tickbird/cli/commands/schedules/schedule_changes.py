"""Commands that change a schedule: trigger, pause, resume, reschedule, skip, set, rm."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import click
from click.core import ParameterSource

from tickbird.cli.commands.schedules.bulk import change_many, many_options, selected
from tickbird.cli.commands.schedules.schedules import state_text, what, zone_of
from tickbird.cli.connection import connect, run_async
from tickbird.cli.errors import FAILED
from tickbird.cli.field_values import SETTABLE, read_fields, split_fields
from tickbird.cli.options import Command, GlobalOptions, actor_option, revision_option
from tickbird.cli.output import Printer, clock, iso, print_result, warn
from tickbird.cli.params import name_argument, read_payload, storable_text
from tickbird.cli.shell_completion import schedule_names
from tickbird.cli.time_input import InstantParser
from tickbird.cli.wait import FOREVER, logged, print_end, wait_for, wait_seconds
from tickbird.client import Client
from tickbird.domain.explain.unserved_runs import unserved_reason
from tickbird.domain.messages import count as in_numbers
from tickbird.domain.planning.bulk import BulkResult
from tickbird.domain.planning.pending_ticks import PendingTicks
from tickbird.domain.runs.logs import LogLine
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import to_datetime
from tickbird.domain.workers import executes
from tickbird.wire.encode.runs import run_document
from tickbird.wire.encode.schedules import schedule_document

_name_or_many = click.argument("name", type=storable_text, required=False, shell_complete=schedule_names)
_note = click.option("--note", type=storable_text, default="", metavar="TEXT", help="Why, for the audit log.")
# So many runs are looked through for those that a deletion cancelled.
_NEWEST = 1_000


async def reader(client: Client, name: str, settings: GlobalOptions) -> tuple[Schedule, InstantParser]:
    """The schedule, and how instants about it are read."""
    schedule = await client.get(name)
    own = schedule.definition.trigger.tz if schedule.definition else None
    return schedule, InstantParser(await client.now(), settings.tz, own)


@click.command(cls=Command)
@_name_or_many
@click.option("--payload", metavar="JSON|@FILE|-", help="The payload, from here, a file or stdin; else the schedule's.")
@click.option(
    "--wait",
    is_flag=False,
    flag_value=FOREVER,
    type=wait_seconds,
    metavar="[SECONDS]",
    help="Wait for its end, at most so long (90, 10m), and show what it logs; exit code 1 unless it succeeds.",
)
@many_options
@actor_option
@click.pass_obj
def trigger(
    settings: GlobalOptions, /, name: str | None, payload: str | None, wait: int | None, actor: str, **many: Any
) -> int:
    """Run a schedule's task now; its own ticks are not touched.

    With --all, that of every schedule that matches, each with its own payload. With --wait, Ctrl-C ends only the wait.
    """
    waits = click.get_current_context().get_parameter_source("wait") is not ParameterSource.DEFAULT
    if (selection := selected(settings, name, many)) is not None:
        if payload is not None or waits:
            raise click.UsageError(f"--{'wait' if waits else 'payload'} goes with a NAME.", click.get_current_context())
        return change_many(
            settings, "trigger", selection, lambda client, which: client.trigger_all(actor=actor, **which)
        )
    assert name is not None
    sent = None if payload is None else read_payload(payload)

    async def work() -> tuple[RunRecord, Sequence[LogLine]]:
        async with connect(settings) as client:
            run = await client.trigger(name, actor=actor, payload=sent)
            # Whatever goes wrong from here on, a program must know what it has made.
            settings.beside = {"run": run_document(run)}
            if run.status == "waiting":
                warn(f"run {run.id} waits until the active run of {name} is final.")
            elif unserved := unserved_reason(run.queue, run.target.name, await client.workers()):
                warn(f"{unserved}: run {run.id} stays queued until one does.")
            if not waits:
                return run, ()
            return await wait_for(client, settings, run.id, wait), await logged(client, settings, run.id)

    run, lines = run_async(work(), settings)
    if waits:
        return print_end(settings, run, lines)
    print_result(
        settings,
        lambda: {"run": run_document(run)},
        lambda screen: screen.line(f"Run {run.id} of {name} is {run.status}. See it with `tickbird runs {run.id}`."),
    )
    return 0


@click.command(cls=Command)
@_name_or_many
@click.option("--note", type=storable_text, required=True, metavar="TEXT", help="Why; shown wherever the schedule is.")
@click.option(
    "--until", type=storable_text, metavar="INSTANT", help='When it goes on by itself: "2h", "tomorrow 09:00".'
)
@click.option("--cancel-runs", is_flag=True, help="Cancel its runs that are not final; a running one is asked to stop.")
@many_options
@actor_option
@click.pass_obj
def pause(
    settings: GlobalOptions,
    /,
    name: str | None,
    note: str,
    until: str | None,
    cancel_runs: bool,
    actor: str,
    **many: Any,
) -> int:
    """Stop planning a schedule, until resumed or until an instant.

    With --all, every schedule that matches; those that are paused already stay as they are. Runs that exist go on
    unless --cancel-runs is given.
    """

    async def pause_all(client: Client, which: dict[str, Any]) -> BulkResult:
        read = InstantParser(await client.now(), settings.tz)
        end = None if until is None else read(until, "until", ahead=True).at
        return await client.pause_all(actor=actor, note=note, until=end, cancel_runs=cancel_runs, **which)

    if (selection := selected(settings, name, many)) is not None:
        return change_many(settings, "pause", selection, pause_all)
    assert name is not None

    async def work() -> Schedule:
        async with connect(settings) as client:
            end: datetime | None = None
            if until is not None:
                _, read = await reader(client, name, settings)
                end = read(until, "until", ahead=True).at
            return await client.pause(name, actor=actor, note=note, until=end, cancel_runs=cancel_runs)

    _print_state(settings, run_async(work(), settings))
    return 0


@click.command(cls=Command)
@_name_or_many
@_note
@many_options
@actor_option
@click.pass_obj
def resume(settings: GlobalOptions, /, name: str | None, note: str, actor: str, **many: Any) -> int:
    """Let a paused schedule go on, or a parked one that can be planned again.

    With --all, every paused one that matches, but for those that their code no longer has.
    """
    if (selection := selected(settings, name, many)) is not None:
        return change_many(
            settings, "resume", selection, lambda client, which: client.resume_all(actor=actor, note=note, **which)
        )
    assert name is not None

    async def work() -> Schedule:
        async with connect(settings) as client:
            return await client.resume(name, actor=actor, note=note)

    _print_state(settings, run_async(work(), settings))
    return 0


def _print_state(settings: GlobalOptions, schedule: Schedule) -> None:
    def show_state(screen: Printer) -> None:
        tz = zone_of(schedule, settings)
        text = f"{schedule.name} is {state_text(schedule, tz).text}."
        if schedule.state == "active" and schedule.next_run_at is not None:
            text += f" Next run: {clock(schedule.next_run_at, tz)}."
        screen.line(text)

    print_result(settings, lambda: {"schedule": schedule_document(schedule)}, show_state)


# Unknown options are left alone, so that -1h is an instant, and refused as one.
@click.command(cls=Command, context_settings={"ignore_unknown_options": True})
@name_argument
@click.argument("when", type=storable_text)
@_note
@revision_option
@actor_option
@click.pass_obj
def reschedule(settings: GlobalOptions, name: str, when: str, note: str, revision: int | None, actor: str) -> None:
    """Make the next tick of a schedule due at another instant.

    WHEN is relative ("2h", "in 2h", "tomorrow 09:00") or absolute with a zone ("2026-03-29 03:00 Europe/Rome"). Ticks
    that lie between are skipped; those after it are not touched.
    """

    async def work() -> Schedule:
        async with connect(settings) as client:
            _, read = await reader(client, name, settings)
            # Now is past when it is heard: a moment later is meant.
            to = read("3s" if when.strip() == "now" else when, "WHEN", ahead=True).at
            return await client.reschedule(name, to, actor=actor, note=note, revision=revision)

    schedule = run_async(work(), settings)
    ahead = PendingTicks(schedule)
    moved = ahead.to_run(ahead.decided)
    assert moved is not None
    due_at = ahead.due_at(moved)
    passed = schedule.grid.count(moved, due_at - schedule.offset)

    def show_move(screen: Printer) -> None:
        tz = zone_of(schedule, settings)
        text = f"{name}: the tick of {clock(to_datetime(moved), tz)} is due at {clock(to_datetime(due_at), tz)}."
        screen.line(text + (f" {in_numbers(passed, 'tick')} between them will be skipped." if passed else ""))

    document = {
        "schedule": schedule_document(schedule),
        "tick": iso(to_datetime(moved)),
        "due_at": iso(to_datetime(due_at)),
        "passed_over": passed,
    }
    print_result(settings, lambda: document, show_move)


@click.command(cls=Command)
@name_argument
@click.option("-c", "--count", type=click.IntRange(1, 10_000), metavar="N", help="So many ticks; else one.")
@click.option("--until", type=storable_text, metavar="INSTANT", help='All before this instant: "2h", "tomorrow 09:00".')
@_note
@revision_option
@actor_option
@click.pass_obj
def skip(
    settings: GlobalOptions,
    name: str,
    count: int | None,
    until: str | None,
    note: str,
    revision: int | None,
    actor: str,
) -> None:
    """Do not run the next ticks of a schedule.

    Each is recorded as skipped when it comes. Skipping again adds to what was skipped before.
    """
    if count is not None and until is not None:
        raise click.UsageError("--count and --until exclude each other.", click.get_current_context())

    async def work() -> Schedule:
        async with connect(settings) as client:
            _, read = await reader(client, name, settings)
            end = None if until is None else read(until, "until", ahead=True).at
            return await client.skip(name, count, until=end, actor=actor, note=note, revision=revision)

    schedule = run_async(work(), settings)
    reached, last = schedule.cursor.planned_until, schedule.cursor.skip_until
    assert reached is not None and last is not None
    skipped = schedule.grid.range(reached, last)
    assert skipped is not None
    ahead = PendingTicks(schedule)
    skipped = replace(skipped, first=ahead.next(reached) or skipped.first, count=ahead.count(reached, last))
    following = ahead.next(last)

    def show_skip(screen: Printer) -> None:
        tz = zone_of(schedule, settings)
        first, end = (clock(to_datetime(tick), tz) for tick in (skipped.first, skipped.last))
        span = f"the tick of {first}" if skipped.count == 1 else f"{skipped.count:,} ticks from {first} to {end}"
        after = f" The next one after is {clock(to_datetime(following), tz)}." if following is not None else ""
        screen.line(f"{name} will skip {span}.{after}")

    document = {
        "schedule": schedule_document(schedule),
        "first": iso(to_datetime(skipped.first)),
        "last": iso(to_datetime(skipped.last)),
        "count": skipped.count,
        "next": None if following is None else iso(to_datetime(following)),
    }
    print_result(settings, lambda: document, show_skip)


@click.command("set", cls=Command)
@name_argument
@click.argument("fields", metavar="[FIELD=VALUE]...", nargs=-1, shell_complete=lambda *_: [f"{n}=" for n in SETTABLE])
@click.option(
    "--unset", type=storable_text, multiple=True, metavar="FIELD", help="Back to the code's value, or the default."
)
@revision_option
@actor_option
@click.pass_obj
def set_(
    settings: GlobalOptions,
    name: str,
    fields: tuple[str, ...],
    unset: tuple[str, ...],
    revision: int | None,
    actor: str,
) -> None:
    """Set some fields of a schedule and leave the others as they are.

    For example: retries=3 timeout=10m tags=mail,eu cron="0 9 * * *" tz=Europe/Rome payload='{"limit": 5}'. What is set
    over code stays so through deploys, until it is unset.
    """
    if not fields and not unset:
        raise click.UsageError("name what to set, such as retries=3, or to --unset.", click.get_current_context())
    texts = split_fields(fields)

    async def work() -> tuple[Schedule, Schedule, str]:
        async with connect(settings) as client:
            before, read = await reader(client, name, settings)
            values = read_fields(texts, before.definition.trigger if before.definition else None, read)
            after = await client.update(name, actor=actor, revision=revision, unset=unset, **values)
            if after.definition is None or not {"task", "command", "target", "queue"} & {*values, *unset}:
                return before, after, ""
            workers = await client.workers()
            served_by = after.definition.queue, after.definition.target.name
            return before, after, unserved_reason(*served_by, workers) if any(map(executes, workers)) else ""

    before, after, unserved = run_async(work(), settings)
    if unserved:
        warn(f"{unserved}: its runs stay queued until one does.")
    changed = sorted(
        field
        for field in {*before.definition_json, *after.definition_json}
        if before.definition_json.get(field) != after.definition_json.get(field)
    )
    document = {
        "schedule": schedule_document(after),
        "changes": [
            {"field": each, "before": before.definition_json.get(each), "after": after.definition_json.get(each)}
            for each in changed
        ],
    }

    def show_changes(screen: Printer) -> None:
        if not changed:
            screen.line(f"{name} is so already; it stays at revision {after.revision}.")
            return
        screen.line(f"{name} is now at revision {after.revision}.")
        rows = [(each, _shown(before.definition_json, each), _shown(after.definition_json, each)) for each in changed]
        screen.table(("FIELD", "BEFORE", "AFTER"), rows)

    print_result(settings, lambda: document, show_changes)


def _shown(raw: Any, field: str) -> str:
    import json

    if field not in raw:
        return "(default)"
    value = raw[field]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@click.command(cls=Command)
@name_argument
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--cancel-runs", is_flag=True, help="Cancel its runs that are not final; a running one is asked to stop.")
@revision_option
@actor_option
@click.pass_obj
def rm(settings: GlobalOptions, name: str, yes: bool, cancel_runs: bool, revision: int | None, actor: str) -> int:
    """Delete a schedule; what was decided for its ticks stays on record.

    Runs that exist go on unless --cancel-runs is given. The same name may be used again later.
    """
    if not yes and (settings.as_json or not sys.stdin.isatty()):
        raise click.UsageError("there is nobody to ask; confirm with --yes.", click.get_current_context())

    async def read_schedule() -> tuple[Schedule, Sequence[RunRecord]]:
        async with connect(settings) as client:
            return await client.get(name), await client.active_runs(name)

    if not yes:
        schedule, active = run_async(read_schedule(), settings)
        warn(f"{name} · {what(schedule)}, {state_text(schedule, zone_of(schedule, settings)).text}.")
        warn(_fate(active, cancel_runs))
        if not click.confirm(f"Delete {name}?", err=True):
            warn("nothing was deleted.")
            return FAILED
        # What was shown is what is deleted.
        revision = revision or schedule.revision

    async def work() -> tuple[Schedule, list[RunRecord], Sequence[RunRecord]]:
        async with connect(settings) as client:
            began = await client.now()
            gone = await client.delete(name, actor=actor, revision=revision, cancel_runs=cancel_runs)
            newest = await client.runs(schedule=name, limit=_NEWEST)
            ended = [run for run in newest if run.finished_at is not None and run.finished_at >= began]
            return gone, ended, await client.active_runs(name)

    gone, ended, left = run_async(work(), settings)
    cancelled = [run for run in ended if run.status == "cancelled"]
    going_on = [run for run in left if run.cancel_requested_at is None]
    stopping = [run for run in left if run.cancel_requested_at is not None]
    if gone.app is not None:
        warn(f"the code of app {gone.app} declares {name}: its workers and `tickbird sync` create it again.")

    def show_gone(screen: Printer) -> None:
        said = [
            f"{in_numbers(len(runs), 'run')} {how} ({', '.join(str(run.id) for run in runs[:10])})"
            for runs, how in ((cancelled, "cancelled"), (stopping, "asked to stop"), (going_on, "left to go on"))
            if runs
        ]
        screen.line(f"{name} is deleted. {'; '.join(said) or 'No run of it was active'}.")

    document = {
        "schedule": schedule_document(gone),
        "cancelled": [run.id for run in cancelled],
        "cancel_requested": [run.id for run in stopping],
        "active": [run.id for run in going_on],
    }
    print_result(settings, lambda: document, show_gone)
    return 0


def _fate(active: Sequence[RunRecord], cancel_runs: bool) -> str:
    if not active:
        return "no run of it is active."
    named = ", ".join(f"{run.id} {run.status}" for run in active[:10]) + (", …" if len(active) > 10 else "")
    fate = "will be cancelled or asked to stop" if cancel_runs else "will go on (--cancel-runs cancels them)"
    return f"{in_numbers(len(active), 'active run')} of it {fate}: {named}."
