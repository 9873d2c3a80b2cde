"""Commands about consumer groups: ls, show, seek, copy, stop, resume, rm."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any

import click

from tickbird.cli.connection import connect, run_async
from tickbird.cli.errors import FAILED
from tickbird.cli.options import Command, GlobalOptions, Group, actor_option
from tickbird.cli.output import Cell, Printer, both, clock, print_result, relative, warn
from tickbird.cli.params import note_option, storable_text
from tickbird.cli.shell_completion import group_names
from tickbird.cli.time_input import InstantParser
from tickbird.client import Client
from tickbird.domain.events.groups import MAX_COUNTED, ConsumerGroup, PartitionStatus
from tickbird.domain.messages import brief, folded
from tickbird.domain.time.durations import duration_text
from tickbird.wire.codec import encode

_HEADS = ("GROUP", "STATE", "TOPICS", "LAG", "BEHIND", "FAILED", "RETRYING", "DEFERRED", "DECLARED", "SCRATCH OF")
_LETTER_STATES = ("failed", "retrying", "deferred", "delivered", "skipped")
_PARTITION_HEADS = ("PARTITION", "POSITION", "LAG", "BEHIND", "WORKER", "PAUSED UNTIL", "ERROR")


@click.group(cls=Group, no_args_is_help=True)
def consumers() -> None:
    """List consumer groups, and move, copy, stop or resume them."""


def _group_argument(command: Any) -> Any:
    return click.argument("group", metavar="GROUP", type=storable_text, shell_complete=group_names)(command)


def _start_options(command: Any) -> Any:
    """Add --position and --at, of which exactly one is given."""
    at = click.option(
        "--at", type=storable_text, metavar="TIME", help="Continue with events of this time or later, such as -2h."
    )
    position = click.option(
        "--position",
        type=storable_text,
        metavar="POSITION",
        help="Continue after this position: a number, or the resume token of an event; 0 is before the first.",
    )
    return position(at(command))


yes_option = click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")


def is_confirmed(settings: GlobalOptions, question: str, *, yes: bool) -> bool:
    """Ask unless `yes`; raises UsageError if the terminal is not interactive."""
    if yes:
        return True
    if settings.as_json or not sys.stdin.isatty():
        raise click.UsageError("the terminal is not interactive. Confirm with --yes.", click.get_current_context())
    if click.confirm(question, err=True):
        return True
    warn("nothing was changed.")
    return False


@consumers.command("ls", cls=Command)
@click.pass_obj
def list_(settings: GlobalOptions) -> None:
    """List consumer groups with their lag and dead letters."""

    async def read() -> tuple[Sequence[ConsumerGroup], datetime]:
        async with connect(settings) as client:
            return await client.consumers.list(), await client.system.now()

    groups, now = run_async(read(), settings)

    def show(screen: Printer) -> None:
        if not groups:
            screen.line("There are no consumer groups. A worker creates those that its app declares.")
            return
        screen.table(_HEADS, (_row(group, now) for group in groups))

    print_result(settings, lambda: {"consumers": [encode(group) for group in groups]}, show)


@consumers.command("show", cls=Command)
@_group_argument
@click.pass_obj
def show_(settings: GlobalOptions, group: str) -> None:
    """Show one group: state, lag, and the offset of each partition."""

    async def read() -> tuple[ConsumerGroup, datetime]:
        async with connect(settings) as client:
            return await client.consumers.get(group), await client.system.now()

    found, now = run_async(read(), settings)
    print_result(settings, lambda: encode(found), lambda screen: _show(screen, found, now, settings.tz or "UTC"))


@consumers.command("seek", cls=Command)
@_group_argument
@_start_options
@note_option
@yes_option
@actor_option
@click.pass_obj
def seek_(
    settings: GlobalOptions, group: str, position: str | None, at: str | None, note: str, yes: bool, actor: str
) -> int:
    """Move a group to another position or time, in all partitions.

    If it moves back, it gets events again; if it moves ahead, it never gets the events in between. A stopped group is
    resumed.
    """
    _check_start(position, at)
    where = f"after position {position}" if at is None else f"at {at}"
    if not is_confirmed(settings, f"Continue {group} {where}, and skip its dead letters after that?", yes=yes):
        return FAILED

    async def work(client: Client) -> ConsumerGroup:
        instant = await _instant(client, at, settings.tz)
        return await client.consumers.seek(group, position, instant, note=note, actor=actor)

    _change(settings, work, lambda found: f"{found.name} continues {_start_text(found)}: {_lag(found)} events to read.")
    return 0


@consumers.command("copy", cls=Command)
@_group_argument
@click.argument("scratch", metavar="SCRATCH", type=storable_text)
@_start_options
@actor_option
@click.pass_obj
def copy_(settings: GlobalOptions, group: str, scratch: str, position: str | None, at: str | None, actor: str) -> None:
    """Copy GROUP to a scratch group at another position or time, which the same consumer reads too."""
    _check_start(position, at)

    async def work(client: Client) -> ConsumerGroup:
        instant = await _instant(client, at, settings.tz)
        return await client.consumers.copy(group, scratch, position, instant, actor=actor)

    _change(
        settings,
        work,
        lambda found: (
            f"{found.name} begins {_start_text(found)}: {_lag(found)} events to read. Delete it afterwards with "
            f"`tickbird consumers rm {found.name}`."
        ),
    )


@consumers.command("stop", cls=Command)
@_group_argument
@click.option("--reason", type=storable_text, default="", metavar="TEXT", help="Why, shown with the group.")
@actor_option
@click.pass_obj
def stop_(settings: GlobalOptions, group: str, reason: str, actor: str) -> None:
    """Deliver nothing more to a group until you resume it."""

    async def work(client: Client) -> ConsumerGroup:
        return await client.consumers.stop(group, reason=reason, actor=actor)

    _change(
        settings,
        work,
        lambda found: (
            f"{found.name} is stopped. Resume it before retention removes events that it has not read: "
            f"`tickbird consumers resume {found.name}`."
        ),
    )


@consumers.command("resume", cls=Command)
@_group_argument
@actor_option
@click.pass_obj
def resume_(settings: GlobalOptions, group: str, actor: str) -> None:
    """Continue a stopped group where it was."""

    async def work(client: Client) -> ConsumerGroup:
        return await client.consumers.resume(group, actor=actor)

    _change(settings, work, lambda found: f"{found.name} is active: {_lag(found)} events to read.")


@consumers.command("rm", cls=Command)
@_group_argument
@click.option("--force", is_flag=True, help="Also if a live worker declares the group, and creates it again.")
@yes_option
@actor_option
@click.pass_obj
def rm_(settings: GlobalOptions, group: str, force: bool, yes: bool, actor: str) -> int:
    """Delete a group with its offsets and dead letters."""
    question = f"Delete {group}, its offsets and its dead letters? If code declares it, it begins again at its start."
    if not is_confirmed(settings, question, yes=yes):
        return FAILED

    async def work() -> None:
        async with connect(settings) as client:
            await client.consumers.delete(group, force=force, actor=actor)

    run_async(work(), settings)
    print_result(settings, lambda: {"deleted": group}, lambda screen: screen.line(f"{group} is deleted."))
    return 0


def _check_start(position: str | None, at: str | None) -> None:
    if (position is None) == (at is None):
        raise click.UsageError("give either --position or --at.", click.get_current_context())


async def _instant(client: Client, at: str | None, tz: str | None) -> datetime | None:
    return None if at is None else InstantParser(await client.system.now(), tz)(at, "at").at


def _change(
    settings: GlobalOptions,
    work: Callable[[Client], Awaitable[ConsumerGroup]],
    describe: Callable[[ConsumerGroup], str],
) -> None:
    async def change() -> ConsumerGroup:
        async with connect(settings) as client:
            return await work(client)

    found = run_async(change(), settings)
    print_result(settings, lambda: encode(found), lambda screen: screen.line(describe(found)))


def _start_text(group: ConsumerGroup) -> str:
    return f"after position {min((part.position for part in group.partitions), default=0):,}"


def _lag(group: ConsumerGroup) -> str:
    return _count(group.lag, capped=any(part.lag > MAX_COUNTED for part in group.partitions))


def _count(number: int, *, capped: bool) -> str:
    return f"{number - 1:,}+" if capped else f"{number:,}"


def _letters(group: ConsumerGroup, state: str) -> str:
    number = group.dead_letters.get(state, 0)
    return _count(number, capped=number > MAX_COUNTED) if number else ""


def _age_text(since: datetime | None, now: datetime) -> str:
    return "" if since is None else duration_text(max(0.0, (now - since).total_seconds()))


def _row(group: ConsumerGroup, now: datetime) -> Sequence[str | Cell]:
    return (
        Cell(group.name, "bold"),
        _state(group),
        ", ".join(group.topics),
        _lag(group),
        _age_text(group.oldest_at, now),
        Cell(_letters(group, "failed"), "red"),
        _letters(group, "retrying"),
        _letters(group, "deferred"),
        relative(group.declared_at, now),
        group.scratch_of or "",
    )


def _state(group: ConsumerGroup) -> Cell:
    return Cell(group.state, "red" if group.state == "stopped" else "green")


def _show(screen: Printer, group: ConsumerGroup, now: datetime, tz: str) -> None:
    state, style = _state(group)
    reason = f": {folded(group.reason)}" if group.reason else ""
    behind = _age_text(group.oldest_at, now)
    counts = ", ".join(f"{number} {name}" for name in _LETTER_STATES if (number := _letters(group, name)))
    screen.fields(
        [
            ("group", Cell(group.name, "bold")),
            ("state", Cell(f"{state}{reason}", style)),
            *([("scratch of", group.scratch_of)] if group.scratch_of else []),
            ("topics", ", ".join(group.topics)),
            ("app", group.app),
            ("lag", f"{_lag(group)} events{f', {behind} behind' if behind else ''}"),
            ("dead letters", counts or "none"),
            ("created", both(group.created_at, now, tz)),
            ("declared", both(group.declared_at, now, tz)),
        ]
    )
    screen.line()
    screen.table(_PARTITION_HEADS, (_partition_row(part, now, tz) for part in group.partitions))


def _partition_row(part: PartitionStatus, now: datetime, tz: str) -> Sequence[str | Cell]:
    is_paused = part.paused_until is not None and part.paused_until > now
    is_leased = part.leased_until is not None and part.leased_until > now
    return (
        str(part.partition),
        f"{part.position:,}",
        _count(part.lag, capped=part.lag > MAX_COUNTED),
        _age_text(part.oldest_at, now),
        str(part.worker) if is_leased and part.worker is not None else "",
        clock(part.paused_until, tz) if is_paused and part.paused_until is not None else "",
        Cell(brief(part.error), "red"),
    )
