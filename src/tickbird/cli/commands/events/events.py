"""Commands about events: ls, show, why, publish."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

import click

from tickbird.cli.connection import connect, run_async
from tickbird.cli.options import Command, GlobalOptions, Group, actor_option
from tickbird.cli.output import Cell, Printer, both, clock, print_result
from tickbird.cli.params import read_json, storable_text
from tickbird.cli.time_input import InstantParser
from tickbird.domain.errors import InvalidError
from tickbird.domain.events.event import Event
from tickbird.domain.explain.events import EventExplanation
from tickbird.wire.codec import encode

_HEADS = ("POSITION", "TOPIC", "TYPE", "KEY", "VERSION", "TIME", "ID")


@click.group(cls=Group, no_args_is_help=True)
def events() -> None:
    """List, show, explain and publish events."""


@events.command("ls", cls=Command)
@click.option("--topic", type=storable_text, metavar="PATTERN", help="Only topics that match, such as orders.*.")
@click.option("--key", type=storable_text, metavar="KEY", help="Only events of this key.")
@click.option("--since", type=storable_text, metavar="TIME", help="Only events of this time or later, such as -2h.")
@click.option(
    "--after",
    type=storable_text,
    metavar="POSITION",
    help="Only events after this position: a number, or the resume token of an event.",
)
@click.option("--limit", type=click.IntRange(1, 1_000), default=50, metavar="N", help="At most N events (default: 50).")
@click.pass_obj
def list_(
    settings: GlobalOptions, topic: str | None, key: str | None, since: str | None, after: str | None, limit: int
) -> None:
    """List events by position, oldest first."""
    if since is not None and after is not None:
        raise click.UsageError("give either --since or --after.", click.get_current_context())

    async def read() -> tuple[Sequence[Event], datetime]:
        async with connect(settings) as client:
            now = await client.system.now()
            instant = None if since is None else InstantParser(now, settings.tz)(since, "since").at
            return await client.events.list(topic, key, since=instant, after=after or 0, limit=limit), now

    found, now = run_async(read(), settings)

    def show(screen: Printer) -> None:
        if not found:
            screen.line("No events match.")
            return
        screen.table(_HEADS, (_row(event, now, settings.tz or "UTC") for event in found))

    print_result(settings, lambda: {"events": [encode(event) for event in found]}, show)


@events.command("show", cls=Command)
@click.argument("event_id", metavar="ID", type=storable_text)
@click.option("--cloudevents", is_flag=True, help="Print the event in the JSON format of CloudEvents 1.0.")
@click.pass_obj
def show_(settings: GlobalOptions, event_id: str, cloudevents: bool) -> None:
    """Show one event."""

    async def read() -> tuple[Event, datetime]:
        async with connect(settings) as client:
            return await client.events.get(event_id), await client.system.now()

    event, now = run_async(read(), settings)
    if cloudevents:
        click.echo(json.dumps(event.to_cloud_event(), ensure_ascii=False))
        return

    def show(screen: Printer) -> None:
        screen.table(_HEADS, [_row(event, now, settings.tz or "UTC")])
        screen.line(json.dumps(event.data, ensure_ascii=False))

    print_result(settings, lambda: encode(event), show)


@events.command("why", cls=Command)
@click.argument("event_id", metavar="ID", type=storable_text)
@click.pass_obj
def why_(settings: GlobalOptions, event_id: str) -> None:
    """Explain who published an event, when it got its position, and its state in each consumer group."""

    async def read() -> EventExplanation:
        async with connect(settings) as client:
            return await client.events.why(event_id, tz=settings.tz)

    explanation = run_async(read(), settings)

    def show(screen: Printer) -> None:
        screen.line(Cell(explanation.sentence, "bold"))
        tz = settings.tz or "UTC"
        screen.fields(
            (
                (step.name, f"{step.text}{'' if step.at is None else f' · {clock(step.at, tz)}'}")
                for step in explanation.steps
            ),
            indent=2,
        )
        for group in explanation.groups:
            screen.line()
            screen.line(f"{group.group}: {group.verdict}")
            screen.line(f"  {group.text}")
            if group.fix:
                screen.line(Cell(f"  → {group.fix}", "yellow"))

    print_result(settings, lambda: encode(explanation), show)


@events.command("publish", cls=Command)
@click.argument("topic", metavar="TOPIC", type=storable_text)
@click.argument("type_", metavar="TYPE", type=storable_text)
@click.option("--data", metavar="JSON|@FILE|-", help="The data of the event (default: {}).")
@click.option("--key", type=storable_text, metavar="KEY", help="Events with the same key are read in order.")
@click.option("--tenant", type=storable_text, metavar="NAME", help="The tenant of the event.")
@click.option(
    "--header",
    "headers",
    multiple=True,
    type=storable_text,
    metavar="NAME=TEXT",
    help="An extension attribute of CloudEvents; repeatable.",
)
@click.option("--id", "event_id", type=storable_text, metavar="UUID", help="The id (default: a new one).")
@click.option(
    "--expected-version", type=click.IntRange(min=0), metavar="N", help="Refuse unless the key has this version."
)
@actor_option
@click.pass_obj
def publish_(
    settings: GlobalOptions,
    topic: str,
    type_: str,
    data: str | None,
    key: str | None,
    tenant: str | None,
    headers: Sequence[str],
    event_id: str | None,
    expected_version: int | None,
    actor: str,
) -> None:
    """Publish an event."""
    named = dict(_header(text) for text in headers)
    value = {} if data is None else read_json(data, "data")

    async def publish() -> Event:
        async with connect(settings) as client:
            return await client.events.publish(
                topic,
                type_,
                value,
                key=key,
                tenant=tenant,
                headers=named,
                event_id=event_id,
                expected_version=expected_version,
                actor=actor,
            )

    event = run_async(publish(), settings)
    print_result(settings, lambda: encode(event), lambda screen: screen.line(f"Published {event.id} to {event.topic}."))


def _header(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidError(f"header: {text[:60]!r} has no value.", field="header", hint="Write NAME=TEXT.")
    return name, value


def _row(event: Event, now: datetime, tz: str) -> Sequence[str]:
    position = "not stamped" if event.position is None else str(event.position)
    version = "" if event.version is None else str(event.version)
    return (position, event.topic, event.type, event.key or "", version, both(event.time, now, tz), str(event.id))
