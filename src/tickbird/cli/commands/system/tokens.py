"""Commands about tokens: create, list, revoke."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

import click

from tickbird.cli.connection import connect, run_async
from tickbird.cli.options import Command, GlobalOptions, Group, actor_option
from tickbird.cli.output import Cell, Printer, Text, both, clock, print_result, warn
from tickbird.cli.params import storable_text
from tickbird.cli.shell_completion import token_ids
from tickbird.cli.time_input import InstantParser
from tickbird.client import Client
from tickbird.domain.access.tokens import ROLES, Role, TokenRecord, is_token_id, no_such_token
from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError
from tickbird.wire.codec import encode

_PAGE = 1_000
_STYLES = {"expired": "yellow", "revoked": "dim"}


@click.group(cls=Group, no_args_is_help=True)
def token() -> None:
    """Make, list and revoke the tokens that the HTTP API is used with."""


@token.command(cls=Command)
@click.argument("name", type=storable_text)
@click.option("--role", type=click.Choice(ROLES), required=True, help="What it may do; each role may do all before it.")
@click.option("--all-namespaces", is_flag=True, help="Open every namespace, also those to come.")
@click.option(
    "--expires", type=storable_text, metavar="INSTANT", help='When it ends: "90d", "2027-01-01 UTC"; else never.'
)
@actor_option
@click.pass_obj
def create(
    settings: GlobalOptions, name: str, role: Role, all_namespaces: bool, expires: str | None, actor: str
) -> None:
    """Make a token, and show it: this once."""
    namespaces = _namespaces(settings, all_namespaces)

    async def work() -> tuple[TokenRecord, str]:
        async with connect(settings) as client:
            end = None
            if expires is not None:
                end = InstantParser(await client.system.now(), settings.tz)(expires, "expires", ahead=True).at
            return await client.tokens.create(
                name, role, actor=actor, namespaces=namespaces, all_namespaces=all_namespaces, expires_at=end
            )

    made, text = run_async(work(), settings)

    def show(screen: Printer) -> None:
        screen.line(text)

    if not settings.as_json:
        end = (
            "until it is revoked"
            if made.expires_at is None
            else f"until {clock(made.expires_at, settings.tz or 'UTC')}"
        )
        warn(f"token {made.id} ({made.name}): {made.role} of {_opened(made)}, {end}. It is not shown again: keep it.")
    print_result(settings, lambda: {**encode(made), "token": text}, show)


@token.command("list", cls=Command)
@click.option("--all", "everything", is_flag=True, help="Also those that are expired or revoked.")
@click.pass_obj
def list_(settings: GlobalOptions, everything: bool) -> None:
    """List the tokens: what they may do, until when, and when they were last used."""

    async def work() -> tuple[Sequence[TokenRecord], datetime]:
        async with connect(settings) as client:
            # Those of one namespace where one was asked for.
            names = None if settings.namespace is None else {settings.namespace}
            return [
                each for each in await _all(client, live=not everything) if _concerns(each, names)
            ], await client.system.now()

    found, now = run_async(work(), settings)
    found = sorted(found, key=lambda each: (each.name, each.created_at))

    def show(screen: Printer) -> None:
        if not found:
            screen.line("No tokens. Make one with `tickbird token create NAME --role viewer`.")
            return
        heads = ("ID", "NAME", "ROLE", "NAMESPACES", "STATE", "EXPIRES", "LAST USED", "SESSIONS", "MADE BY")
        screen.table(heads, (_row(each, now, settings.tz or "UTC") for each in found))

    print_result(settings, lambda: {"tokens": [encode(each) for each in found]}, show)


@token.command(cls=Command)
@click.argument("which", metavar="ID|NAME", type=storable_text, shell_complete=token_ids)
@actor_option
@click.pass_obj
def revoke(settings: GlobalOptions, which: str, actor: str) -> None:
    """End a token, and all sessions that are open with it: within a second it opens nothing any more."""

    async def work() -> tuple[TokenRecord, int]:
        async with connect(settings) as client:
            found = await _find(client, which)
            return await client.tokens.revoke(found.id, actor=actor), found.sessions

    token, sessions = run_async(work(), settings)
    ends = f", which ends {sessions} open session{'' if sessions == 1 else 's'}" if sessions else ""
    print_result(
        settings,
        lambda: {**encode(token), "sessions_ended": sessions},
        lambda screen: screen.line(f"Token {token.id} ({token.name}) is revoked{ends}."),
    )


def _namespaces(settings: GlobalOptions, everything: bool) -> Sequence[str] | None:
    """Those that the token opens: --namespace takes several, parted by commas."""
    if not everything:
        given = (settings.namespace or "default").split(",")
        settings.namespace = given[0]
        return given
    if settings.namespace is not None:
        raise InvalidError("namespace: give --namespace or --all-namespaces, not both.", field="namespace")
    return None


async def _all(client: Client, *, live: bool) -> list[TokenRecord]:
    found: list[TokenRecord] = []
    while page := await client.tokens.list(live=live, after=found[-1].id if found else "", limit=_PAGE):
        found += page
    return found


async def _find(client: Client, which: str) -> TokenRecord:
    """A token by its id, or by the name that only one live token has."""
    if is_token_id(which):
        with suppress(NotFoundError):
            return await client.tokens.get(which)
    named = [each for each in await _all(client, live=True) if each.name == which]
    if not named:
        raise no_such_token(which)
    if len(named) > 1:
        ids = ", ".join(each.id for each in named[:9])
        raise ConflictError(f"{len(named)} tokens are named {which!r};", hint=f"give an id: {ids}.")
    return named[0]


def _concerns(token: TokenRecord, names: set[str] | None) -> bool:
    return names is None or any(token.opens(name) for name in names)


def _opened(token: TokenRecord) -> str:
    if token.namespaces is None:
        return "all namespaces"
    return f"namespace{'' if len(token.namespaces) == 1 else 's'} {', '.join(token.namespaces)}"


def _row(token: TokenRecord, now: datetime, tz: str) -> Sequence[Text]:
    return (
        Cell(token.id, "bold"),
        token.name,
        token.role,
        "all" if token.namespaces is None else ", ".join(token.namespaces),
        Cell(token.state, _STYLES.get(token.state, "")),
        both(token.expires_at, now, tz) or "never",
        both(token.last_used_at, now, tz) or "never",
        str(token.sessions),
        token.created_by,
    )
