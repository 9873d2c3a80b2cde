"""Commands about dead letters: ls, show, replay, skip, repair, approve, approval."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, get_args

import click

from tickbird.cli.commands.events.consumers import is_confirmed, yes_option
from tickbird.cli.connection import connect, run_async
from tickbird.cli.errors import FAILED
from tickbird.cli.options import Command, GlobalOptions, Group, actor_option
from tickbird.cli.output import Cell, Printer, Text, both, print_result, relative
from tickbird.cli.params import MAX_ID, note_option, read_json, storable_text
from tickbird.cli.shell_completion import group_names, letter_ids
from tickbird.client import Client
from tickbird.client.dead_letters import StateFilter
from tickbird.domain.events.dead_letters import UNRESOLVED, DeadLetter, LetterChange
from tickbird.domain.messages import brief, count
from tickbird.wire.codec import encode

_HEADS = ("ID", "GROUP", "STATE", "POSITION", "TOPIC", "KEY", "FAILURES", "SINCE", "RETRY", "ERROR")
_STYLES = {"failed": "red", "retrying": "yellow", "deferred": "yellow", "delivered": "green", "skipped": "dim"}


@click.group(cls=Group, no_args_is_help=True)
def dead_letters() -> None:
    """List dead letters, and replay, repair or skip them."""


def _id_argument(command: Any) -> Any:
    return click.argument("letter_id", metavar="ID", type=click.IntRange(1, MAX_ID), shell_complete=letter_ids)(command)


def _group_option(text: str) -> Callable[[Any], Any]:
    return click.option("--group", type=storable_text, metavar="GROUP", shell_complete=group_names, help=text)


@dead_letters.command("ls", cls=Command)
@_group_option("Only of this group.")
@click.option(
    "--state",
    type=click.Choice(get_args(StateFilter)),
    default="unresolved",
    show_default=True,
    help="Only in this state.",
)
@click.option("--key", type=storable_text, metavar="KEY", help="Only of events with this key.")
@click.option("--after", type=click.IntRange(0, MAX_ID), default=0, metavar="ID", help="Only with a larger id.")
@click.option(
    "--limit", type=click.IntRange(1, 1_000), default=50, metavar="N", help="At most N dead letters (default: 50)."
)
@click.pass_obj
def list_(
    settings: GlobalOptions, group: str | None, state: StateFilter, key: str | None, after: int, limit: int
) -> None:
    """List dead letters, oldest first."""

    async def read() -> tuple[Sequence[DeadLetter], datetime]:
        async with connect(settings) as client:
            found = await client.dead_letters.list(group, state, key, after=after, limit=limit)
            return found, await client.system.now()

    letters, now = run_async(read(), settings)

    def show(screen: Printer) -> None:
        if not letters:
            screen.line("No dead letters match.")
            return
        screen.table(_HEADS, (_row(letter, now) for letter in letters))
        if len(letters) == limit:
            screen.line(f"More: --after {letters[-1].id}")

    print_result(settings, lambda: {"dead_letters": [encode(letter) for letter in letters]}, show)


@dead_letters.command("show", cls=Command)
@_id_argument
@click.pass_obj
def show_(settings: GlobalOptions, letter_id: int) -> None:
    """Show one dead letter: its event, its last error, and what was decided."""

    async def read() -> tuple[DeadLetter, datetime]:
        async with connect(settings) as client:
            return await client.dead_letters.get(letter_id), await client.system.now()

    letter, now = run_async(read(), settings)
    print_result(settings, lambda: encode(letter), lambda screen: _show(screen, letter, now, settings.tz or "UTC"))


@dead_letters.command("replay", cls=Command)
@click.argument("letter_id", metavar="[ID]", required=False, type=click.IntRange(1, MAX_ID), shell_complete=letter_ids)
@_group_option("Replay all failed letters of this group instead.")
@note_option
@actor_option
@click.pass_obj
def replay_(settings: GlobalOptions, letter_id: int | None, group: str | None, note: str, actor: str) -> None:
    """Deliver a dead letter again, then the later events of its key, in order.

    Its failures count from 0 again. Events that were published together are replayed together.
    """
    if (letter_id is None) == (group is None):
        raise click.UsageError("give either ID or --group.", click.get_current_context())

    async def work(client: Client) -> LetterChange:
        if letter_id is not None:
            return await client.dead_letters.replay(letter_id, note=note, actor=actor)
        assert group is not None
        return await client.dead_letters.replay_group(group, note=note, actor=actor)

    _change(settings, work, lambda change: f"{count(len(change.letters), 'dead letter')} will be delivered again.")


@dead_letters.command("skip", cls=Command)
@_id_argument
@note_option
@yes_option
@actor_option
@click.pass_obj
def skip_(settings: GlobalOptions, letter_id: int, note: str, yes: bool, actor: str) -> int:
    """Never deliver a dead letter; later events of its key continue.

    Events that were published together are skipped together.
    """
    question = f"Skip dead letter {letter_id} and the events that were published together with it, for ever?"
    if not is_confirmed(settings, question, yes=yes):
        return FAILED

    async def work(client: Client) -> LetterChange:
        return await client.dead_letters.skip(letter_id, note=note, actor=actor)

    _change(settings, work, lambda change: f"{count(len(change.letters), 'dead letter')} skipped.")
    return 0


@dead_letters.command("repair", cls=Command)
@_id_argument
@click.option("--data", required=True, metavar="JSON|@FILE|-", help="The data that the group gets instead.")
@note_option
@actor_option
@click.pass_obj
def repair_(settings: GlobalOptions, letter_id: int, data: str, note: str, actor: str) -> None:
    """Deliver a dead letter again with other data; the event itself and other groups keep the original."""
    value = read_json(data, "data")

    async def work(client: Client) -> LetterChange:
        return await client.dead_letters.repair(letter_id, value, note=note, actor=actor)

    def describe(change: LetterChange) -> str:
        if change.is_proposed:
            return f"Proposed. Another person approves it with `tickbird dead-letters approve {letter_id}`."
        return f"Dead letter {letter_id} will be delivered again with the new data."

    _change(settings, work, describe)


@dead_letters.command("approve", cls=Command)
@_id_argument
@note_option
@actor_option
@click.pass_obj
def approve_(settings: GlobalOptions, letter_id: int, note: str, actor: str) -> None:
    """Approve a repair that another person has proposed."""

    async def work(client: Client) -> LetterChange:
        return await client.dead_letters.approve(letter_id, note=note, actor=actor)

    _change(settings, work, lambda _: f"Dead letter {letter_id} will be delivered again with the repaired data.")


@dead_letters.command("approval", cls=Command)
@click.argument("required", metavar="[on|off]", required=False, type=click.Choice(("on", "off")))
@actor_option
@click.pass_obj
def approval_(settings: GlobalOptions, required: str | None, actor: str) -> None:
    """Show or set whether each repair needs the approval of a second person."""

    async def work() -> bool:
        async with connect(settings) as client:
            if required is not None:
                return await client.dead_letters.set_approval(required == "on", actor=actor)
            return await client.dead_letters.requires_approval()

    is_required = run_async(work(), settings)
    text = "Repairs need the approval of a second person." if is_required else "Repairs need no approval."
    print_result(settings, lambda: {"required": is_required}, lambda screen: screen.line(text))


def _change(
    settings: GlobalOptions, work: Callable[[Client], Awaitable[LetterChange]], describe: Callable[[LetterChange], str]
) -> None:
    async def change() -> LetterChange:
        async with connect(settings) as client:
            return await work(client)

    changed = run_async(change(), settings)
    print_result(settings, lambda: encode(changed), lambda screen: screen.line(describe(changed)))


def _row(letter: DeadLetter, now: datetime) -> Sequence[str | Cell]:
    event = letter.event
    return (
        str(letter.id),
        letter.group,
        Cell(letter.state, _STYLES[letter.state]),
        str(event.position),
        event.topic,
        event.key or "",
        str(letter.failures),
        relative(letter.created_at, now),
        "" if letter.retry_at is None else relative(letter.retry_at, now),
        brief(letter.error),
    )


def _show(screen: Printer, letter: DeadLetter, now: datetime, tz: str) -> None:
    event = letter.event
    by = "" if letter.resolved_by is None else f" by {letter.resolved_by}"
    fields: list[tuple[str, Text]] = [
        ("dead letter", str(letter.id)),
        ("group", letter.group),
        ("state", Cell(letter.state, _STYLES[letter.state])),
        ("event", f"{event.id} · position {event.position}"),
        ("topic", f"{event.topic} · {event.type}"),
        ("key", "" if event.key is None else f"{event.key} · version {event.version}"),
        ("failures", str(letter.failures)),
        ("since", both(letter.created_at, now, tz)),
        ("retry", both(letter.retry_at, now, tz)),
        ("repaired by", letter.repaired_by or ""),
        ("approved by", letter.approved_by or ""),
        ("resolved", "" if letter.resolved_at is None else f"{both(letter.resolved_at, now, tz)}{by}"),
        ("note", letter.note or ""),
    ]
    screen.fields((name, value) for name, value in fields if value)
    screen.title("Data")
    screen.line(json.dumps(event.data, ensure_ascii=False))
    if letter.repaired_by is not None:
        screen.title("Repaired data")
        screen.line(json.dumps(letter.repair, ensure_ascii=False))
    if letter.error:
        screen.title("Error")
        screen.line(letter.error.rstrip(), lines=True)
    if letter.state in UNRESOLVED:
        screen.line()
        screen.line(f"Where the event is in every group: `tickbird events why {event.id}`.")
