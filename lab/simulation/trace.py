"""The trace of a simulation as text: notes, store calls, changed rows and violations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from lab.oracle.triggers import utc
from lab.simulation.checker import Violation
from lab.simulation.history import MICROS, Event, RunRow, SkipRow
from lab.simulation.world import Call, Record


def describe(record: Record) -> Iterator[str]:
    """The scenario in a few lines."""
    scenario = record.scenario
    yield (
        f"seed {scenario.seed}: begins {scenario.begin:%Y-%m-%d %H:%M:%S} UTC, "
        f"{timedelta(seconds=round(scenario.span))} long, {scenario.workers} workers of {scenario.slots} slots"
    )
    yield f"heartbeat {scenario.heartbeat} s, lease {scenario.lease} s, {scenario.rates}"
    for number, version in enumerate(scenario.versions):
        for name, index in version.items():
            yield f"version {number} declares {name}: {scenario.specs[index]}"


def trace(record: Record, violations: list[Violation]) -> Iterator[str]:
    """Every note, store call and changed row in order, with the violations after their call."""
    rows: dict[int, list[Event]] = defaultdict(list)
    for event in record.events:
        rows[event.call].append(event)
    violations_of: dict[int, list[Violation]] = defaultdict(list)
    for violation in violations:
        violations_of[violation.call].append(violation)
    notes = iter(record.notes)
    note = next(notes, None)
    for call in record.calls:
        while note is not None and note[0] <= call.at:
            yield f"{_moment(note[0])} {note[1]:>8} {note[2]}"
            note = next(notes, None)
        if rows[call.number] or call.error or violations_of[call.number] or call.verb == "schedules.change":
            clock = f"(the store's clock: {call.now:%d %H:%M:%S.%f})"
            yield f"{_moment(call.at)} {call.host:>8} {_format_call(call)} {clock}"
        for event in rows[call.number]:
            if line := _row(event):
                yield f"{'':>25} {line}"
        for violation in violations_of[call.number]:
            yield f"{'':>20} !!! {violation.promise}: {violation.text}"


def _moment(elapsed: float) -> str:
    return f"#{elapsed:>14.3f}"


def _format_call(call: Call) -> str:
    text = f"[{call.number}] {call.verb}"
    if call.verb == "schedules.change":
        command = call.args[2]
        text += f" {call.args[1]} {type(command).__name__} by {command.actor}"
        if call.intent is not None:
            text += f" {dict(call.intent.values)}"
    elif call.verb == "leases.finish":
        text += f" {[(end.run_id, end.attempt, end.status) for end in call.args[0]]}"
    return f"{text} refused: {call.error}" if call.error else text


def _at(micros: int | None) -> Any:
    return None if micros is None else f"{utc(micros // MICROS):%d %H:%M:%S}"


def _row(event: Event) -> str:
    row = event.row
    if isinstance(row, RunRow):
        return (
            f"run {row.id} {event.change}: {row.status}, {row.origin} of {_at(row.scheduled_for)} "
            f"due {_at(row.due_at)}, available {_at(row.available_at)}, "
            f"schedule {row.schedule_id} r{row.revision}, attempt {row.attempt}, failures {row.failures}, "
            f"crashes {row.crashes}, worker {row.worker}, lease until {_at(row.lease_until)}"
        )
    if isinstance(row, SkipRow):
        return (
            f"skip {row.id} {event.change}: {row.ticks} × {row.reason} {_at(row.first_at)} … {_at(row.last_at)}, "
            f"schedule {row.schedule_id} r{row.revision}, blocked by run {row.run_id}"
        )
    if event.change == "delete":
        return ""
    return (
        f"cursor of schedule {row.schedule_id}: {row.state}, decided until {_at(row.planned_until)}, "
        f"next pass {_at(row.next_run_at)}"
    )
