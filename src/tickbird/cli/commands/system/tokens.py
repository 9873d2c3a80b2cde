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
    """Create, list and revoke tokens of the HTTP API and the dashboard."""


@token.command(cls=Command)
@click.argument("name", type=storable_text)
@click.option(
    "--role", type=click.Choice(ROLES), required=True, help="Permissions. Each role includes the previous one."
)
@click.option("--all-namespaces", is_flag=True, help="Give access to all current and future namespaces.")
@click.option(
    "--expires", type=storable_text, metavar="INSTANT", help='Expiry: "90d", "2027-01-01 UTC" (default: never).'
)
@actor_option
@click.pass_obj
def create(
    settings: GlobalOptions, name: str, role: Role, all_namespaces: bool, expires: str | None, actor: str
) -> None:
    """Create a token and print it. It is shown only once."""
    namespaces = _namespaces(settings, all_namespaces)

    async def work() -> tuple[TokenRecord, str]:
        async with connect(settings) as client:
            end = None
            if expires is not None:
                end = InstantParser(await client.system.now(), settings.tz)(expires, "expires", ahead=True).at
            return await client.tokens.create(
                name, role, actor=actor, namespaces=namespaces, all_namespaces=all_namespaces, expires_at=end
            )

    created, text = run_async(work(), settings)

    def show(screen: Printer) -> None:
        screen.line(text)

    if not settings.as_json:
        end = (
            "until it is revoked"
            if created.expires_at is None
            else f"until {clock(created.expires_at, settings.tz or 'UTC')}"
        )
        about = f"{created.role} of {_scope(created)}, {end}"
        warn(f"token {created.id} ({created.name}): {about}. Store it now: it is not shown again.")
    print_result(settings, lambda: {**encode(created), "token": text}, show)


@token.command("list", cls=Command)
@click.option("--all", "everything", is_flag=True, help="Include expired and revoked tokens.")
@click.pass_obj
def list_(settings: GlobalOptions, everything: bool) -> None:
    """List tokens with role, expiry and last use."""

    async def work() -> tuple[Sequence[TokenRecord], datetime]:
        async with connect(settings) as client:
            # With --namespace, only tokens for that namespace.
            names = None if settings.namespace is None else {settings.namespace}
            return [
                token for token in await _all(client, live=not everything) if _concerns(token, names)
            ], await client.system.now()

    tokens, now = run_async(work(), settings)
    tokens = sorted(tokens, key=lambda token: (token.name, token.created_at))

    def show(screen: Printer) -> None:
        if not tokens:
            screen.line("No tokens. Create one with `tickbird token create NAME --role viewer`.")
            return
        heads = ("ID", "NAME", "ROLE", "NAMESPACES", "STATE", "EXPIRES", "LAST USED", "SESSIONS", "CREATED BY")
        screen.table(heads, (_row(token, now, settings.tz or "UTC") for token in tokens))

    print_result(settings, lambda: {"tokens": [encode(token) for token in tokens]}, show)


@token.command(cls=Command)
@click.argument("which", metavar="ID|NAME", type=storable_text, shell_complete=token_ids)
@actor_option
@click.pass_obj
def revoke(settings: GlobalOptions, which: str, actor: str) -> None:
    """Revoke a token and end its open sessions. Servers refuse it within a second."""

    async def work() -> tuple[TokenRecord, int]:
        async with connect(settings) as client:
            token_record = await _find(client, which)
            return await client.tokens.revoke(token_record.id, actor=actor), token_record.sessions

    token, sessions = run_async(work(), settings)
    ends = f", which ends {sessions} open session{'' if sessions == 1 else 's'}" if sessions else ""
    print_result(
        settings,
        lambda: {**encode(token), "sessions_ended": sessions},
        lambda screen: screen.line(f"Token {token.id} ({token.name}) is revoked{ends}."),
    )


def _namespaces(settings: GlobalOptions, everything: bool) -> Sequence[str] | None:
    """Return the namespaces of a new token: --namespace accepts several, separated by commas; None means all."""
    if not everything:
        given = (settings.namespace or "default").split(",")
        settings.namespace = given[0]
        return given
    if settings.namespace is not None:
        raise InvalidError(
            "--namespace and --all-namespaces cannot be combined.", field="namespace", hint="Give one of them."
        )
    return None


async def _all(client: Client, *, live: bool) -> list[TokenRecord]:
    tokens: list[TokenRecord] = []
    while page := await client.tokens.list(live=live, after=tokens[-1].id if tokens else "", limit=_PAGE):
        tokens += page
    return tokens


async def _find(client: Client, which: str) -> TokenRecord:
    """Return a token by id, or by name if exactly one live token has it."""
    if is_token_id(which):
        with suppress(NotFoundError):
            return await client.tokens.get(which)
    named = [token for token in await _all(client, live=True) if token.name == which]
    if not named:
        raise no_such_token(which)
    if len(named) > 1:
        ids = ", ".join(token.id for token in named[:9])
        raise ConflictError(f"{len(named)} tokens are named {which!r}.", hint=f"Give an id: {ids}.")
    return named[0]


def _concerns(token: TokenRecord, names: set[str] | None) -> bool:
    return names is None or any(token.opens(name) for name in names)


def _scope(token: TokenRecord) -> str:
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
