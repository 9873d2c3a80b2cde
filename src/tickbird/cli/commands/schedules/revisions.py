"""Commands about the revisions of a schedule: look at them, and go back to one."""

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

# What is longer is cut for people; --json has all of it.
_MAX_LENGTH = 80


@click.command(cls=Command)
@name_argument
@click.option("-c", "--count", type=click.IntRange(1, 10_000), default=20, show_default=True, help="How many.")
@click.pass_obj
def revisions(settings: GlobalOptions, name: str, count: int) -> None:
    """Show what each revision of a schedule changed, who made it and when."""

    async def read() -> tuple[Sequence[HistoryEntry], datetime]:
        async with connect(settings) as client:
            return await client.revisions.history(name, limit=count), await client.system.now()

    found, now = run_async(read(), settings)

    def show_history(screen: Printer) -> None:
        heads = ("REVISION", "ACTION", "BY", "WHEN", "FIELD", "BEFORE", "AFTER")
        screen.table(heads, [row for entry in found for row in _rows(entry, now, settings.tz or "UTC")])

    print_result(settings, lambda: {"revisions": [encode(each) for each in found]}, show_history)


def _rows(entry: HistoryEntry, now: datetime, tz: str) -> Iterator[Sequence[Text]]:
    made = entry.revision
    by = made.actor if entry.origin in ("person", "token") else f"{made.actor} ({entry.origin})"
    start: tuple[Text, ...] = (Cell(f"r{made.revision}", "bold"), made.action, by, both(made.at, now, tz))
    changes = [] if entry.changes is None else entry.changes
    if not changes:
        told = made.detail.get("note") if entry.changes is not None else "the revision before it is no longer kept"
        yield (*start, str(told or ""), "", "")
    for each in changes:
        yield (*start, each.field, *change_text(each))
        start = ("", "", "", "")


def change_text(each: FieldDiff) -> tuple[str, str]:
    """A field before and after, for people."""
    before = "(default)" if each.how == "added" else _text(each.field, each.before)
    after = "(default)" if each.how == "removed" else _text(each.field, each.after)
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
    help="The revision to go back to.",
)
@note_option
@revision_option
@actor_option
@click.pass_obj
def roll_back(settings: GlobalOptions, name: str, to: int, note: str, revision: int | None, actor: str) -> None:
    """Take the definition of an earlier revision of a schedule again.

    It becomes a new revision; `tickbird revisions` shows which there are. On a schedule from code, what differs from
    the code is set over it, as by `tickbird set`.
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
    document = {"schedule": encode(after), "changes": [encode(each) for each in changes]}

    def show_changes(screen: Printer) -> None:
        screen.line(f"{name} is as it was at revision {to}; it is now at revision {after.revision}.")
        screen.table(("FIELD", "BEFORE", "AFTER"), [(each.field, *change_text(each)) for each in changes])

    print_result(settings, lambda: document, show_changes)
