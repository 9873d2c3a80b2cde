"""The `preview` and `why` commands."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from shlex import quote

import click

from tickbird.cli.connection import connect, run_async
from tickbird.cli.options import Command, GlobalOptions
from tickbird.cli.output import Cell, Printer, both, clock, iso, print_result, relative, warn
from tickbird.cli.params import name_argument, optional_name_argument, storable_text
from tickbird.cli.time_input import Instant, InstantParser
from tickbird.client import Client
from tickbird.domain.errors import NotFoundError
from tickbird.domain.explain.explanation import Explanation
from tickbird.domain.forecast.preview import preview as preview_of
from tickbird.domain.messages import folded
from tickbird.domain.planning.upcoming import NotedTicks, UpcomingTick, with_notes
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.schedule import Schedule, trigger_description
from tickbird.domain.schedules.tick_overrides import OverrideRecord
from tickbird.domain.schedules.warnings import DefinitionWarning, definition_warnings
from tickbird.domain.time.instants import to_datetime, to_seconds
from tickbird.domain.triggers.trigger import FORMS, Trigger
from tickbird.wire.codec import encode

_SYMBOLS = {True: Cell("✓", "green"), False: Cell("✗", "red"), None: Cell("·", "dim")}
_VERDICT_STYLES = {
    "ran": "green",
    "will run": "green",
    "failed": "red",
    "cancelled": "yellow",
    "skipped": "yellow",
    "will be skipped": "yellow",
    "undecided": "yellow",
    "no record": "red",
}


def tick_table(screen: Printer, ticks: NotedTicks, tz: str, now: datetime) -> None:
    """Print ticks in the given time zone, in UTC and relative, with notes."""
    if not ticks:
        screen.line("  none")
        return
    rows = []
    for tick, remarks in ticks:
        moved = tick.due_at != tick.scheduled_for
        notes = [_not_run(tick.skipped)] if tick.skipped else []
        notes += [f"due {clock(tick.due_at, tz)}"] if moved and not tick.skipped else []
        notes += [decided_by(tick.override)] if tick.override is not None else []
        utc = "" if tz == "UTC" else clock(tick.scheduled_for)
        when = relative(tick.due_at, now)
        rows.append((clock(tick.scheduled_for, tz), utc, when, Cell("; ".join([*notes, *remarks]), "yellow")))
    screen.table(("TICK", "UTC", "DUE", "NOTE"), rows)


def _not_run(reason: str) -> str:
    return "already decided, early" if reason == "done" else f"will be skipped ({reason})"


def decided_by(override: OverrideRecord) -> str:
    """Format the override of one tick, with its actor and note."""
    done = ["skipped"] if override.skip else ["moved"] if override.moved else []
    done += ["another payload"] if override.payload is not None else []
    return f"{', '.join(done)} by {override.actor}" + (f": {folded(override.note)}" if override.note else "")


def override_table(screen: Printer, overrides: Sequence[OverrideRecord], tz: str, now: datetime) -> None:
    rows = []
    for override in overrides:
        action = "skip" if override.skip else f"due {both(override.due_at, now, tz)}" if override.moved else ""
        payload = "" if override.payload is None else json.dumps(override.payload, ensure_ascii=False)
        passed = f"{override.passes_over:,} between skipped" if override.passes_over else ""
        text = "; ".join(part for part in (action, passed, f"payload {payload}" if payload else "") if part)
        created = both(override.created_at, now, tz)
        rows.append((clock(override.scheduled_for, tz), text, override.actor, created, folded(override.note)))
    screen.table(("TICK", "OVERRIDE", "BY", "CREATED", "NOTE"), rows)


_MOMENTS = {option.name: form.name for form in FORMS.values() for option in form.options if option.kind == "moment"}


def _trigger_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add one option per form of trigger, and the options of that form."""
    for form in reversed(list(FORMS.values())):
        for option in form.options:
            if option.kind == "moment":
                command = click.option(f"--{option.name}", metavar="DATETIME", help=option.about)(command)
        text = f"Preview this {form.noun} instead of a schedule."
        command = click.option(f"--{form.name}", metavar=form.metavar, help=text)(command)
    return command


@click.command(cls=Command)
@optional_name_argument
@click.option("-c", "--count", type=click.IntRange(1, 10_000), default=10, show_default=True, help="Number of ticks.")
@_trigger_options
@click.option(
    "--after",
    type=storable_text,
    metavar="INSTANT",
    help="With a trigger: show ticks after this instant (default: now).",
)
@click.pass_obj
def preview(settings: GlobalOptions, /, name: str | None, count: int, after: str | None, **texts: str | None) -> None:
    """Show the next ticks of a schedule or of a trigger.

    With a trigger, --tz is its time zone (default: UTC).
    """
    context = click.get_current_context()
    given = {key: text for key, text in texts.items() if text is not None}
    forms = [form for form in FORMS.values() if form.name in given]
    if (name is not None) + len(forms) != 1:
        options = ", ".join(f"--{form}" for form in FORMS)
        raise click.UsageError(f"give one of these: the name of a schedule, {options}.", context)
    for option, owner in _MOMENTS.items():
        if option in given and owner not in given:
            raise click.UsageError(f"--{option} requires --{owner}.", context)
    if name is not None:
        if after is not None:
            raise click.UsageError("--after works with a trigger, not with a schedule.", context)
        _preview_schedule(settings, name, count)
        return
    [form] = forms
    parse_instant = InstantParser(datetime.now(UTC), settings.tz)
    document = form.parse_text(given.pop(form.name), lambda text: parse_instant(text, form.name).at)
    trigger = form.read({**document, **given}, settings.tz or "UTC")
    _preview_trigger(settings, form.name, texts[form.name] or "", trigger, after, count)


def _preview_schedule(settings: GlobalOptions, name: str, count: int) -> None:
    async def read() -> tuple[Schedule, Sequence[UpcomingTick], datetime]:
        async with connect(settings) as client:
            try:
                return await client.schedules.get(name), await client.ticks.next(name, count), await client.system.now()
            except NotFoundError as error:
                if len(name.split()) < 5:
                    raise
                # Names may have spaces, but five words are more likely a cron expression.
                hint = f"For a cron expression, use `tickbird preview --cron {quote(name[:60])}`."
                raise NotFoundError(f"there is no schedule {name[:60]!r}.", hint=hint) from error

    schedule, coming, now = run_async(read(), settings)
    ticks = with_notes(schedule, coming, now)
    warnings = (
        definition_warnings(schedule.definition, to_seconds(now))
        if schedule.definition and schedule.state == "active"
        else []
    )

    def show_ticks(screen: Printer) -> None:
        screen.line(Cell(f"{name} · {trigger_description(schedule)}", "bold"))
        if schedule.state != "active":
            screen.line(f"The schedule is {schedule.state}. See `tickbird show {name}`.")
        tick_table(screen, ticks, settings.tz or schedule.zone or "UTC", now)
        _print_warnings(screen, warnings)

    document = {
        "schedule": name,
        "state": schedule.state,
        "trigger_description": schedule.trigger_description,
        "zone": schedule.zone,
        "ticks": [encode(replace(tick, notes=remarks)) for tick, remarks in ticks],
        "warnings": [encode(warning) for warning in warnings],
    }
    print_result(settings, lambda: document, show_ticks)


def _print_warnings(screen: Printer, warnings: Sequence[DefinitionWarning]) -> None:
    for warning in warnings:
        screen.line(Cell(f"! {warning.text}", "yellow"))


def _preview_trigger(
    settings: GlobalOptions, kind: str, text: str, trigger: Trigger, after: str | None, count: int
) -> None:
    now = datetime.now(UTC)
    start = to_seconds(now if after is None else InstantParser(now, settings.tz, trigger.tz)(after, "after").at)
    preview = preview_of(Definition(trigger=trigger, target=Target("preview")), start, count)
    ticks = [(UpcomingTick(tick.scheduled_for, tick.due_at), tick.notes) for tick in preview.ticks]

    def show_ticks(screen: Printer) -> None:
        screen.line(Cell(f"{text} · {preview.trigger_description}", "bold"))
        tick_table(screen, ticks, preview.zone, now)
        _print_warnings(screen, preview.warnings)

    document = {
        kind: text,
        "trigger_description": preview.trigger_description,
        "zone": preview.zone,
        "ticks": [encode(replace(tick, notes=remarks)) for tick, remarks in ticks],
        "warnings": [encode(warning) for warning in preview.warnings],
    }
    print_result(settings, lambda: document, show_ticks)


# Unknown options are arguments, so that -1h is an instant.
@click.command(cls=Command, context_settings={"ignore_unknown_options": True})
@name_argument
@click.argument("at", type=storable_text, required=False)
@click.pass_obj
def why(settings: GlobalOptions, name: str, at: str | None) -> None:
    """Explain why a tick ran, did not run, or will not run.

    AT is an instant with a time zone ("2026-03-29T01:00:00Z", "2026-03-29 03:00 Europe/Rome") or relative to now
    ("-1h", "yesterday 03:00"). Default: the last tick and the next tick.
    """

    async def read() -> tuple[list[Instant], list[Explanation]]:
        async with connect(settings) as client:
            instants = await _requested(client, name, at, settings.tz)
            return instants, [await client.ticks.why(name, instant.at, tz=settings.tz) for instant in instants]

    instants, explanations = run_async(read(), settings)
    for instant in instants:
        if instant.read_as:
            warn(f"{instant.read_as}.")

    def show_explanations(screen: Printer) -> None:
        if not explanations:
            screen.line(f"{name} has no past and no future tick. See `tickbird show {name}`.")
        for index, explanation in enumerate(explanations):
            if index:
                screen.line()
            _show(screen, explanation)

    print_result(
        settings, lambda: {"explanations": [explanation.to_json() for explanation in explanations]}, show_explanations
    )


async def _requested(client: Client, name: str, at: str | None, tz: str | None) -> list[Instant]:
    """Return the requested instant; without one, the last tick and the next tick, if any."""
    now = await client.system.now()
    try:
        schedule = await client.schedules.get(name)
    except NotFoundError:
        if at is None:
            raise
        # A deleted schedule can still be explained, but its time zone is unknown.
        return [InstantParser(now, tz)(at, "AT")]
    if at is not None:
        return [InstantParser(now, tz, schedule.zone)(at, "AT")]
    second = to_seconds(now)
    if schedule.definition is None:
        return [Instant(to_datetime(second + 1))]
    ticks = (schedule.grid.previous(second + 1), schedule.grid.next(second))
    listed = [to_datetime(tick) for tick in ticks if tick is not None]
    # Prefer ticks since the schedule was created.
    since = [tick for tick in listed if schedule.created_at is None or tick >= schedule.created_at]
    return [Instant(tick) for tick in since or listed]


def _show(screen: Printer, explanation: Explanation) -> None:
    verdict = Cell(explanation.verdict, _VERDICT_STYLES.get(explanation.verdict, "bold"))
    screen.line(Cell(f"{explanation.schedule} at {iso(explanation.at)}: {verdict.text}", verdict.style))
    screen.line(explanation.sentence)
    for step in explanation.steps:
        mark = _SYMBOLS[step.ok]
        screen.line(Cell(f"  {mark.text} {step.text}", mark.style))
