"""The `ls` and `show` commands."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, get_args

import click

from tickbird.cli.commands.runs.runs import STYLES, held_back, run_table
from tickbird.cli.commands.schedules.ticks import override_table, tick_table
from tickbird.cli.connection import connect, run_async
from tickbird.cli.options import Command, GlobalOptions
from tickbird.cli.output import Cell, Printer, Text, both, clock, iso, print_result, relative
from tickbird.cli.params import name_argument, storable_text
from tickbird.cli.shell_completion import tag_names
from tickbird.client import Client
from tickbird.client.optional import if_supported
from tickbird.domain.dashboard_rows import ScheduleSummary
from tickbird.domain.doctor.schedule_warnings import problems
from tickbird.domain.messages import reason
from tickbird.domain.planning.upcoming import next_skipped, overrides_of, upcoming_ticks, with_notes
from tickbird.domain.schedules.fields import POLICIES
from tickbird.domain.schedules.schedule import Schedule, State, trigger_description
from tickbird.domain.targets.registry import target_details, target_line
from tickbird.domain.time.instants import to_datetime
from tickbird.wire.codec import encode

_PAGE = 500
_RECENT = 5
_STATE_STYLES = {"active": "green", "paused": "yellow", "parked": "red", "ended": "dim", "deleted": "dim"}
# `show` prints these fields on separate lines, not among the policies.
_OWN_LINES = {"v", "closed", "trigger", "target", "payload", "description", "tags"}


def zone_of(schedule: Schedule, settings: GlobalOptions) -> str:
    """Return the time zone to show a schedule's times in: --tz, or its own."""
    return settings.tz or schedule.zone or "UTC"


def what(schedule: Schedule) -> str:
    return trigger_description(schedule)


def state_text(schedule: Schedule, tz: str) -> Cell:
    """Format the state, with the actor, note and end of a pause, or the error of a parked schedule."""
    text: str = schedule.state
    if schedule.definition is not None and schedule.definition.shadow:
        text += " shadow"
    if schedule.in_memory:
        text += " in memory"
    if schedule.state == "parked":
        text += f": {reason(schedule.error)}"
    if schedule.pause is not None:
        text += f", paused by {schedule.pause.by}" if schedule.state == "parked" else f" by {schedule.pause.by}"
        text += f': "{schedule.pause.note}"' if schedule.pause.note else ""
        if schedule.pause.until is not None:
            text += f" until {clock(to_datetime(schedule.pause.until), tz)}"
    return Cell(text, _STATE_STYLES.get(schedule.state, ""))


@click.command(cls=Command)
@click.option("--state", type=click.Choice(get_args(State)), help="Only schedules in this state.")
@click.option(
    "--tag", type=storable_text, metavar="TAG", shell_complete=tag_names, help="Only schedules with this tag."
)
@click.option(
    "--contains",
    type=storable_text,
    default="",
    metavar="TEXT",
    help="Only schedules with this text in name, tag or target.",
)
@click.option(
    "--limit", type=click.IntRange(1, 1_000_000), metavar="N", help="Maximum number of schedules (default: all)."
)
@click.pass_obj
def ls(settings: GlobalOptions, state: State | None, tag: str | None, contains: str, limit: int | None) -> None:
    """List schedules with state, last run and next run."""

    async def read() -> tuple[list[ScheduleSummary], datetime]:
        async with connect(settings) as client:
            rows: list[ScheduleSummary] = []
            while limit is None or len(rows) < limit:
                size = _PAGE if limit is None else min(_PAGE, limit - len(rows))
                after = rows[-1].schedule.name if rows else ""
                page = await client.schedules.list(contains=contains, state=state, tag=tag, after=after, limit=size)
                rows += page
                if len(page) < size:
                    break
            return rows, await client.system.now()

    rows, now = run_async(read(), settings)
    problems = [row.problems for row in rows]

    def document() -> dict[str, Any]:
        listed = [encode(row) for row in rows]
        return {"now": iso(now), "schedules": listed}

    def show_list(screen: Printer) -> None:
        if not rows:
            screen.line(_nothing(bool(state or tag or contains)))
            return
        heads = ("NAME", "TRIGGER", "STATE", "LAST RUN", "FAILED", "NEXT RUN", "PROBLEM")
        screen.table(heads, (_row(row, reasons, now, settings) for row, reasons in zip(rows, problems, strict=True)))

    print_result(settings, document, show_list)


def _nothing(filtered: bool) -> str:
    if filtered:
        return "No schedule matches the filters. Without filters, `tickbird ls` lists all schedules."
    return "No schedules yet. Declare one in code, @bird.task(schedule=cron(...)), then start `tickbird worker`."


def _row(row: ScheduleSummary, problems: Sequence[str], now: datetime, settings: GlobalOptions) -> Sequence[Text]:
    schedule, run = row.schedule, row.last_run
    tz = zone_of(schedule, settings)
    last: Text = ""
    if run is not None:
        when = run.finished_at or run.started_at or run.due_at
        last = Cell(f"{run.status} {relative(when, now)}", STYLES[run.status])
    failed = Cell(f"{row.failure_streak}×" if row.failure_streak else "", "red")
    return (
        Cell(schedule.name, "bold"),
        what(schedule),
        state_text(schedule, tz),
        last,
        failed,
        _next(schedule, now, tz) if schedule.state == "active" else "",
        Cell("; ".join(problems), "red"),
    )


@click.command(cls=Command)
@name_argument
@click.pass_obj
def show(settings: GlobalOptions, name: str) -> None:
    """Show one schedule: definition, state, runs, ticks, revisions."""

    async def read() -> tuple[Any, ...]:
        async with connect(settings) as client:
            schedule = await client.schedules.get(name)
            ticks = with_notes(schedule, await client.ticks.next(name, _RECENT), await client.system.now())
            runs = await client.runs.list(schedule=name, limit=_RECENT)
            revisions = await client.revisions.list(name, limit=_RECENT)
            held = sum(record.count for record in await if_supported(client.held.list(name), ()))
            slow = await held_back(client, runs)
            now = await client.system.now()
            problems = await _problems(client, schedule, now, held)
            return schedule, ticks, runs, revisions, held, slow, problems, now

    schedule, ticks, runs, revisions, held, slow, problems, now = run_async(read(), settings)
    tz = zone_of(schedule, settings)

    def document() -> dict[str, Any]:
        return {
            **encode(schedule),
            "problems": problems,
            "held": held,
            "next_ticks": [encode(replace(tick, notes=notes)) for tick, notes in ticks],
            "runs": [encode(run) for run in runs],
            "revisions": [encode(revision) for revision in revisions],
        }

    def show_schedule(screen: Printer) -> None:
        screen.line(Cell(f"{schedule.name} · {what(schedule)}", "bold"))
        screen.fields(_facts(schedule, problems, now, tz))
        if policies := _policies(schedule):
            screen.title("Policies that differ from the default")
            screen.fields(policies, indent=2)
        screen.title("Next ticks")
        tick_table(screen, ticks, tz, now)
        if overrides := overrides_of(schedule):
            screen.title("Tick overrides")
            override_table(screen, overrides, tz, now)
        screen.title("Newest runs")
        run_table(screen, runs, now, slow, tz=tz)
        screen.title("Revisions")
        screen.table(
            ("REVISION", "ACTION", "BY", "WHEN"),
            (
                (f"r{record.revision}", record.action, record.actor, both(record.at, now, settings.tz or "UTC"))
                for record in revisions
            ),
        )

    print_result(settings, document, show_schedule)


async def _problems(client: Client, schedule: Schedule, now: datetime, held: int) -> Sequence[str]:
    if schedule.reading is None:
        return problems(schedule, await client.workers.list(), now, held)
    # Only the server knows the target, and its list has the problems.
    after = ""
    while rows := await client.schedules.list(contains=schedule.name, after=after, limit=_PAGE):
        if matches := [row.problems for row in rows if row.schedule.name == schedule.name]:
            return matches[0]
        after = rows[-1].schedule.name
    return ()


def _next(schedule: Schedule, now: datetime, tz: str) -> Text:
    """Format the next tick, and whether it will be skipped."""
    next_at = schedule.next_run_at
    if schedule.in_memory:
        # There is no cursor with the next tick.
        next_at = next((tick.due_at for tick in upcoming_ticks(schedule, now, 1)), None)
    when = both(next_at, now, tz)
    if when and (reason := next_skipped(schedule, now)) is not None:
        return Cell(f"{when} · will be skipped ({reason})", "yellow")
    return when


def _facts(schedule: Schedule, problems: Sequence[str], now: datetime, tz: str) -> Sequence[tuple[str, Text]]:
    raw = schedule.definition_json
    target, tags = raw.get("target"), raw.get("tags")
    facts: list[tuple[str, Text]] = [("state", state_text(schedule, tz))]
    facts += [("problem", Cell(problem, "red")) for problem in problems]
    if schedule.state == "active":
        facts.append(("next run", _next(schedule, now, tz) or "none"))
    if schedule.definition is not None and schedule.definition.target.spec is not None:
        defined = schedule.definition.target
        facts.append((defined.kind, target_line(defined)))
        details = target_details(defined)
        facts += [(name, json.dumps(value, ensure_ascii=False).strip('"')) for name, value in details.items()]
    elif isinstance(target, dict):
        facts += [(str(kind), str(value)) for kind, value in target.items()]
    facts.append(("trigger", json.dumps(raw.get("trigger"), ensure_ascii=False)))
    if raw.get("payload"):
        facts.append(("payload", json.dumps(raw["payload"], ensure_ascii=False)))
    if raw.get("description"):
        facts.append(("description", str(raw["description"])))
    if isinstance(tags, list) and tags:
        facts.append(("tags", ", ".join(map(str, tags))))
    facts.append(("defined by", f"code of app {schedule.app}" if schedule.app else "a person"))
    facts.append(("revision", str(schedule.revision)))
    return facts


def _policies(schedule: Schedule) -> Sequence[tuple[str, Text]]:
    """List the policies that differ from the default. Operator overrides are marked."""
    shown: list[tuple[str, Text]] = []
    for name, value in {**schedule.definition_json, **schedule.field_overrides}.items():
        override = name in schedule.field_overrides
        if name in _OWN_LINES and not override:
            continue
        text = POLICIES[name].describe(value) if name in POLICIES else json.dumps(value, ensure_ascii=False)
        shown.append((name, f"{text} (operator override)" if override else text))
    return shown
