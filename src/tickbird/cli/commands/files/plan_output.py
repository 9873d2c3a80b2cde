"""The output of `apply` and `diff`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from tickbird.cli.options import GlobalOptions
from tickbird.cli.output import Cell, Printer, clock, print_result, warn
from tickbird.domain.errors import InvalidError
from tickbird.domain.messages import count
from tickbird.domain.schedules.fields import field_text
from tickbird.domain.schedules.schedule import PauseState
from tickbird.domain.time.durations import duration_text
from tickbird.domain.time.instants import to_datetime
from tickbird.domain.triggers.trigger import trigger_from_json
from tickbird.files.plan import FilePlan, KeptOverride, Kind, ScheduleChange
from tickbird.files.tick_diff import HORIZON, TickChanges
from tickbird.wire.codec import encode

# Further schedules are only counted. --json has all of them.
_SHOWN = 50
_WITHIN = duration_text(HORIZON)
_SYMBOLS = {
    "create": Cell("+", "green"),
    "change": Cell("~", "yellow"),
    "resume": Cell("~", "yellow"),
    "calendar": Cell("~", "yellow"),
    "delete": Cell("-", "red"),
}
_VERBS: dict[Kind, tuple[str, str]] = {
    "create": ("create", "created"),
    "change": ("change", "changed"),
    "resume": ("resume", "resumed"),
    "calendar": ("update for its calendar", "updated for its calendar"),
    "delete": ("delete", "deleted"),
}
_CATCH_UP = {
    "one": "one run for all of them",
    "latest": "one run, for the newest tick",
    "all": "one run per tick",
    "skip": "no run",
}


def print_plan(settings: GlobalOptions, plan: FilePlan, *, applied: bool) -> None:
    print_result(
        settings,
        lambda: plan_document(replace(plan, applied=applied)),
        lambda screen: _show(screen, plan, settings, applied=applied),
    )
    if plan.unserved:
        named = ", ".join(plan.unserved[:10]) + (", …" if len(plan.unserved) > 10 else "")
        warn(f"no live worker registers {'this task' if len(plan.unserved) == 1 else 'these tasks'}: {named}.")


def plan_document(plan: FilePlan) -> dict[str, Any]:
    """Encode a plan as JSON, without the complete new schedules."""
    document: dict[str, Any] = encode(plan)
    for change in document["schedules"]:
        del change["schedule"]
    return document


def _show(screen: Printer, plan: FilePlan, settings: GlobalOptions, *, applied: bool) -> None:
    if plan.is_empty:
        screen.line(f"Nothing to do: {count(plan.same, 'schedule')} of app {plan.app} unchanged.")
    for change in plan.schedules[:_SHOWN]:
        _show_change(screen, change, settings, applied=applied)
    if len(plan.schedules) > _SHOWN:
        screen.line(f"… and {count(len(plan.schedules) - _SHOWN, 'schedule')} more. --json has all.")
    for stay in plan.stays[:_SHOWN]:
        for line in _print_overrides(stay.kept_overrides, stay.pause):
            screen.line(f"= {stay.name}: {line}")
        if stay.ignored_state:
            parts = ", ".join(stay.ignored_state)
            screen.line(f"= {stay.name}: state ({parts}) is not applied, because an operator has changed it since")
    if len(plan.stays) > _SHOWN:
        screen.line(f"… and {count(len(plan.stays) - _SHOWN, 'schedule')} more unchanged. --json has all.")
    for setting in plan.settings:
        before = "not set" if setting.before is None else _value(setting.before)
        screen.line(f"~ {setting.part.removesuffix('s')} {setting.name}: {before} → {_value(setting.after)}")
    for crowd in plan.crowds:
        at, names = clock(crowd.at, settings.tz or "UTC"), ", ".join(crowd.names)
        more = ", …" if crowd.schedules > len(crowd.names) else ""
        screen.line(f"! {crowd.schedules} schedules are due in the minute of {at}: {names}{more}. Use `spread`.")
    if plan.not_in_files:
        named = ", ".join(plan.not_in_files[:5]) + (", …" if len(plan.not_in_files) > 5 else "")
        screen.line(f"Not in the files, not changed: {named}. Use --prune to delete.")
    if not plan.is_empty:
        screen.line(_summary(plan, applied=applied))


def _summary(plan: FilePlan, *, applied: bool) -> str:
    counts = [
        f"{plan.count(kind):,} {done if applied else f'to {to_do}'}"
        for kind, (to_do, done) in _VERBS.items()
        if plan.count(kind)
    ]
    if plan.settings:
        counts.append(f"{count(len(plan.settings), 'setting')}{'' if applied else ' to set'}")
    same = f"; {plan.same:,} unchanged" if plan.same else ""
    where = "" if plan.namespace == "default" else f" in namespace {plan.namespace}"
    return f"App {plan.app}{where}: {', '.join(counts)}{same}."


def _print_overrides(kept: Sequence[KeptOverride], pause: PauseState | None, stays: str = "stays ") -> Iterator[str]:
    """Describe the operator overrides and the pause that stay unchanged."""
    for override in kept:
        declared = "" if override.value == override.declared else f"; the files have {_value(override.declared)}"
        yield f"{override.name}: {stays}{_value(override.value)}, set by an operator{declared}"
    if pause is not None:
        note = f' ("{pause.note}")' if pause.note else ""
        until = f" until {clock(to_datetime(pause.until), 'UTC')}" if pause.until is not None else ""
        yield f"{stays}paused by {pause.by}{note}{until}"


def _show_change(screen: Printer, change: ScheduleChange, settings: GlobalOptions, *, applied: bool) -> None:
    mark, definition = _SYMBOLS[change.kind], change.schedule.definition
    done = _VERBS[change.kind][1 if applied else 0]
    about = ""
    if change.kind == "create" and definition is not None:
        about = f": {definition.trigger.describe()}; {definition.target.kind} {definition.target.name}"
    screen.line(Cell(f"{mark.text} {change.name}: {done}{about}", mark.style))
    for field in change.fields:
        screen.line(f"    {field.name}: {_describe(field.name, field.before)} → {_describe(field.name, field.after)}")
    # The lines above already show a field that the document sets now.
    changed = {field.name for field in change.fields}
    kept = [override for override in change.kept_overrides if override.name not in changed]
    pause, stays = None if change.kind == "delete" else change.pause, "" if change.kind == "create" else "stays "
    for line in _print_overrides(kept, pause, stays):
        screen.line(f"    {line}")
    tz = settings.tz or ("UTC" if definition is None else definition.trigger.tz)
    for line in _ticks(change.ticks, tz):
        screen.line(f"    {line}")
    if change.late is not None:
        effect = _CATCH_UP.get(change.late.catch_up, change.late.catch_up)
        screen.line(f"    {count(change.late.ticks, 'overdue tick')}: planned before the change, {effect}")
    if change.void:
        screen.line(f"    {count(change.void, 'tick override')} void, because the tick is not on the new grid")
    for note in change.notes:
        screen.line(f"    {note}")


def _ticks(ticks: TickChanges, tz: str) -> Iterator[str]:
    if not ticks:
        return
    if ticks.before and ticks.after and ticks.before != ticks.after:
        yield f"{ticks.before:,} → {ticks.after:,} ticks within {_WITHIN}"
    at_least = "" if ticks.complete else "at least "
    whole = not (ticks.before and ticks.after)
    kinds: tuple[tuple[int, str, Sequence[Any]], ...] = (
        (ticks.moved, "move", [f"{clock(old, tz)} to {clock(new, tz)}" for old, new in ticks.moving]),
        (ticks.vanish, "vanish", [clock(at, tz) for at in ticks.vanishing]),
        (ticks.appear, "appear", [clock(at, tz) for at in ticks.appearing]),
    )
    for number, verb, listed in kinds:
        if not number:
            continue
        # If all ticks appear or vanish, their exact number is known.
        shown = count(max(ticks.before, ticks.after), "tick") if whole else at_least + count(number, "tick")
        more = ", …" if number > len(listed) or not ticks.complete else ""
        yield f"{shown} {verb if shown != '1 tick' else verb + 's'} within {_WITHIN}: {', '.join(listed)}{more}"


def _describe(name: str, value: Any) -> str:
    """Format the value of a field; a readable trigger in words."""
    if name == "trigger":
        with suppress(InvalidError):
            return trigger_from_json(value).describe()
    return "default" if value is None else field_text(name, value)


def _value(value: Any) -> str:
    if value is None:
        return "default"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
