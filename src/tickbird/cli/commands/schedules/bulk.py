"""Commands on many schedules at once: pause, resume and trigger with --all."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import click

from tickbird.cli.connection import connect, run_async
from tickbird.cli.errors import FAILED
from tickbird.cli.options import GlobalOptions
from tickbird.cli.output import Cell, Printer, Text, print_result, warn
from tickbird.cli.params import storable_text
from tickbird.cli.shell_completion import tag_names
from tickbird.client import Client
from tickbird.domain.errors import NotFoundError
from tickbird.domain.messages import count
from tickbird.domain.planning.bulk import MAX_COUNT, BulkResult, BulkVerb
from tickbird.wire.codec import encode

F = TypeVar("F", bound=Callable[..., Any])
_DONE = {"pause": "paused", "resume": "resumed", "trigger": "triggered"}
_SHOWN = 10


class Selection(NamedTuple):
    """The filters, the expected number of schedules, and whether to skip the confirmation."""

    which: dict[str, Any]
    expected: int | None
    yes: bool


def many_options(command: F) -> F:
    """Add --all and its filters."""
    options = (
        click.option("--all", "everything", is_flag=True, help="Apply to all schedules that match, instead of NAME."),
        click.option(
            "--tag",
            type=storable_text,
            metavar="TAG",
            shell_complete=tag_names,
            help="With --all: only schedules with this tag.",
        ),
        click.option(
            "--contains",
            type=storable_text,
            metavar="TEXT",
            help="With --all: only schedules with this text in name, tag or target.",
        ),
        click.option(
            "--state",
            type=click.Choice(["active", "paused", "parked", "ended"]),
            help="With --all: only schedules in this state.",
        ),
        click.option(
            "--expect",
            type=click.IntRange(0, 2**31 - 1),
            metavar="N",
            help="With --all: refuse if the number of matches differs from N by more than 10 %.",
        ),
        click.option("-y", "--yes", is_flag=True, help="With --all: do not ask for confirmation."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def selected(settings: GlobalOptions, name: str | None, given: dict[str, Any]) -> Selection | None:
    """Return the selection of --all; None if a single schedule is named."""
    context = click.get_current_context()
    everything, expected, yes = given.pop("everything"), given.pop("expect"), given.pop("yes")
    if (name is None) != everything:
        raise click.UsageError("give either the name of a schedule or --all.", context)
    if not everything:
        if any(value is not None for value in (*given.values(), expected)) or yes:
            raise click.UsageError("--tag, --contains, --state, --expect and --yes require --all.", context)
        return None
    if not yes and (settings.as_json or not _is_interactive()):
        raise click.UsageError("the terminal is not interactive. Confirm with --yes.", context)
    return Selection({**given, "contains": given["contains"] or ""}, expected, yes)


def change_many(
    settings: GlobalOptions,
    verb: BulkVerb,
    selection: Selection,
    work: Callable[[Client, dict[str, Any]], Awaitable[BulkResult]],
) -> int:
    """Ask for confirmation, change the schedules, and print the result."""
    which, expected, yes = selection

    async def read() -> Sequence[str]:
        async with connect(settings) as client:
            return [row.schedule.name for row in await client.schedules.list(**which, limit=MAX_COUNT + 1)]

    if not yes:
        names = run_async(read(), settings)
        if not names:
            raise _nothing()
        more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
        warn(f"{count(len(names), 'schedule')}: {', '.join(names[:_SHOWN])}{more}.")
        if not click.confirm(f"{verb.capitalize()} {'them' if len(names) > 1 else 'it'}?", err=True):
            warn("nothing was changed.")
            return FAILED
        # Change only what the user has seen.
        expected = len(names) if expected is None else expected

    async def change() -> BulkResult:
        async with connect(settings) as client:
            return await work(client, {**which, "expected": expected})

    result = run_async(change(), settings)
    if not result.matched and not expected:
        raise _nothing()

    def show_result(screen: Printer) -> None:
        screen.line(f"{len(result.changed):,} of {count(result.matched, 'schedule')} {_DONE[verb]}.")
        if result.runs:
            screen.table(("SCHEDULE", "RUN"), [(Cell(name, "bold"), str(run)) for name, run in result.runs.items()])
        if result.not_changed:
            screen.title("Not changed")
            rows: list[Sequence[Text]] = [
                (Cell(skipped.schedule, "bold"), skipped.why) for skipped in result.not_changed
            ]
            screen.table(("SCHEDULE", "WHY"), rows)

    print_result(settings, lambda: encode(result), show_result)
    return 0


def _is_interactive() -> bool:
    return sys.stdin.isatty()


def _nothing() -> NotFoundError:
    return NotFoundError("no schedule matches.", hint="Check the filters with `tickbird ls`.")
