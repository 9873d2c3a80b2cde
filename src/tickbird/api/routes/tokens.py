"""Tokens over HTTP: made, listed and revoked by admins, each within the namespaces of their own token."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from tickbird.api import PREFIX
from tickbird.api.auth.auth import AnyAdmin, Caller
from tickbird.api.models.tokens import NewToken, NewTokenBody, TokenModel, TokenPage
from tickbird.api.paging import AfterName, Limit, page, read_name
from tickbird.api.problems import Problem
from tickbird.api.query_types import read_instant
from tickbird.client import Client
from tickbird.domain.access.tokens import Namespaces, TokenRecord, covers, no_such_token, requested_namespaces
from tickbird.wire.encode.tokens import token_document

router = APIRouter(prefix=f"{PREFIX}/tokens", tags=["tokens"])


@router.get("", summary="List tokens", operation_id="list_tokens", response_model=TokenPage)
async def list_tokens(
    request: Request,
    caller: AnyAdmin,
    live: Annotated[bool, Query(description="Only those that can be used.")] = False,
    limit: Limit = 100,
    after: AfterName = None,
) -> Any:
    """Tokens by id: those that open nothing but what the caller's own opens. None of them shows its secret."""
    found = await client_of(request, caller).tokens(
        within=caller.namespaces, live=live, after=read_name(after), limit=limit + 1
    )
    return await page(found, limit, lambda each: each.id, token_document)


@router.post("", summary="Make a token", operation_id="create_token", response_model=NewToken, status_code=201)
async def create_token(request: Request, caller: AnyAdmin, body: NewTokenBody) -> Any:
    """A new token; this answer is the only place where it is ever shown."""
    opened = handed_out(caller, body.namespaces, everything=body.all_namespaces)
    end = None if body.expires_at is None else read_instant(body.expires_at, "expires_at")
    made, text = await client_of(request, caller).create_token(
        body.name, body.role, actor=caller.actor, namespaces=opened, expires_at=end
    )
    return {**token_document(made), "token": text}


@router.get("/{token_id}", summary="One token", operation_id="get_token", response_model=TokenModel)
async def get_token(request: Request, caller: AnyAdmin, token_id: str) -> Any:
    """A token by its id, without its secret."""
    return token_document(await find_token(request, caller, token_id))


@router.delete("/{token_id}", summary="Revoke a token", operation_id="revoke_token", response_model=TokenModel)
async def revoke_token(request: Request, caller: AnyAdmin, token_id: str) -> Any:
    """End a token and its sessions: this server refuses them at once, others within a second. Harmless twice."""
    await find_token(request, caller, token_id)
    revoked = await client_of(request, caller).revoke_token(token_id, actor=caller.actor)
    request.app.state.authority.forget(token_id)
    return token_document(revoked)


async def find_token(request: Request, caller: Caller, token_id: str) -> TokenRecord:
    """A token, if the caller may know of it."""
    found = await client_of(request, caller).find_token(token_id)
    if found is None or not covers(caller.namespaces, found.namespaces):
        raise no_such_token(token_id)
    return found


def handed_out(caller: Caller, namespaces: Collection[str] | None, *, everything: bool) -> Namespaces:
    """The namespaces that a new token is to open, all of them among those of who makes it."""
    opened = requested_namespaces(caller.namespaces, namespaces, everything=everything)
    if not covers(caller.namespaces, opened):
        raise Problem(
            403,
            "closed-namespace",
            "namespaces: a token can only open what the token opens that makes it;",
            field="namespaces",
            hint=f"name some of {', '.join((caller.namespaces or ())[:20])}.",
        )
    return opened


def client_of(request: Request, caller: Caller) -> Client:
    """What is done to a token that opens all is audited in the first namespace of who does it."""
    client: Client = request.app.state.clients(caller.namespaces[0] if caller.namespaces else "default")
    return client
