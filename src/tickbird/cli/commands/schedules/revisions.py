"""The `revisions` and `roll-back` commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import click

from tickbird.cli.connection import connect, run_async
from tickbird.cli.options import Command, GlobalOptions, actor_option, revision_option
from tickbird.cli.output import Cell, Printer, Text, both, print_result, warn
from tickbird.cli.params import name_argument, note_option
from tickbird.cli.shell_completion import revision_numbers
from tickbird.domain.explain.unserved_runs import unserved_reason
from tickbird.domain.planning.commands.define import override_notice
from tickbird.domain.schedules.diff import FieldDiff, differences
from tickbird.domain.schedules.fields import field_text
from tickbird.domain.schedules.revision import HistoryEntry
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.workers import executes
from tickbird.wire.codec import encode

# Longer values are cut in text output. --json has all of them.
_MAX_LENGTH = 80


@click.command(cls=Command)
@name_argument
@click.option(
    "-c", "--count", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Number of revisions."
)
@click.pass_obj
def revisions(settings: GlobalOptions, name: str, count: int) -> None:
    """List the revisions of a schedule: who changed which fields, and when."""

    async def read() -> tuple[Sequence[HistoryEntry], datetime]:
        async with connect(settings) as client:
            return await client.revisions.history(name, limit=count), await client.system.now()

    entries, now = run_async(read(), settings)

    def show_history(screen: Printer) -> None:
        heads = ("REVISION", "ACTION", "BY", "WHEN", "FIELD", "BEFORE", "AFTER")
        screen.table(heads, [row for entry in entries for row in _rows(entry, now, settings.tz or "UTC")])

    print_result(settings, lambda: {"revisions": [encode(entry) for entry in entries]}, show_history)


def _rows(entry: HistoryEntry, now: datetime, tz: str) -> Iterator[Sequence[Text]]:
    record = entry.revision
    by = record.actor if entry.origin in ("person", "token") else f"{record.actor} ({entry.origin})"
    start: tuple[Text, ...] = (Cell(f"r{record.revision}", "bold"), record.action, by, both(record.at, now, tz))
    changes = [] if entry.changes is None else entry.changes
    if not changes:
        note = record.detail.get("note") if entry.changes is not None else "the previous revision was pruned"
        yield (*start, str(note or ""), "", "")
    for change in changes:
        yield (*start, change.field, *change_text(change))
        start = ("", "", "", "")


def change_text(change: FieldDiff) -> tuple[str, str]:
    """Format the values of a field before and after the change."""
    before = "(default)" if change.how == "added" else _text(change.field, change.before)
    after = "(default)" if change.how == "removed" else _text(change.field, change.after)
    return before, after


def _text(field: str, value: Any) -> str:
    text = field_text(field, value)
    return text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 1]}…"


@click.command("roll-back", cls=Command)
@name_argument
@click.option(
    "--to",
    type=click.IntRange(1, 2**31 - 1),
    shell_complete=revision_numbers,
    required=True,
    metavar="N",
    help="Revision to restore.",
)
@note_option
@revision_option
@actor_option
@click.pass_obj
def roll_back(settings: GlobalOptions, name: str, to: int, note: str, revision: int | None, actor: str) -> None:
    """Restore an earlier revision of a schedule.

    The definition becomes a new revision. List the revisions with `tickbird revisions`. On a schedule from code,
    fields that differ from the code become operator overrides, as with `tickbird set`.
    """

    async def work() -> tuple[Schedule, Schedule, str]:
        async with connect(settings) as client:
            before = await client.schedules.get(name)
            after = await client.revisions.roll_back(
                name, to, actor=actor, note=note, revision=revision or before.revision
            )
            definition, workers = after.definition, await client.workers.list()
            if definition is None or not any(map(executes, workers)):
                return before, after, ""
            return before, after, unserved_reason(definition.queue, definition.target, workers)

    before, after, unserved = run_async(work(), settings)
    if unserved:
        warn(f"{unserved}: its runs stay queued until one does.")
    if kept := override_notice(after):
        warn(f"{kept}.")
    changes = differences(before.definition_json, after.definition_json)
    document = {"schedule": encode(after), "changes": [encode(change) for change in changes]}

    def show_changes(screen: Printer) -> None:
        screen.line(f"{name}: revision {to} is restored as revision {after.revision}.")
        screen.table(("FIELD", "BEFORE", "AFTER"), [(change.field, *change_text(change)) for change in changes])

    print_result(settings, lambda: document, show_changes)
