"""Sessions over HTTP: listed and closed by admins, each within the namespaces of their own token."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from tickbird.api import PREFIX
from tickbird.api.auth.auth import AnyAdmin, Caller
from tickbird.api.models.sessions import ClosedSessions, SessionModel, SessionPage
from tickbird.api.paging import AfterName, Limit, page, read_name
from tickbird.api.routes.tokens import client_of, find_token
from tickbird.domain.access.sessions import SessionRecord, no_such_session
from tickbird.domain.access.tokens import covers
from tickbird.wire.encode.tokens import session_document

router = APIRouter(prefix=PREFIX, tags=["tokens"])

Live = Annotated[bool, Query(description="Only those that can be used.")]


@router.get("/sessions", summary="List sessions", operation_id="list_sessions", response_model=SessionPage)
async def list_sessions(
    request: Request, caller: AnyAdmin, live: Live = False, limit: Limit = 100, after: AfterName = None
) -> Any:
    """Sessions by id: those of tokens that open nothing but what the caller's own opens."""
    return await _page(request, caller, None, live, limit, after)


@router.get("/sessions/{session_id}", summary="One session", operation_id="get_session", response_model=SessionModel)
async def get_session(request: Request, caller: AnyAdmin, session_id: str) -> Any:
    """A session by its id, without its secret."""
    return session_document(await find_session(request, caller, session_id))


@router.delete(
    "/sessions/{session_id}", summary="Close a session", operation_id="close_session", response_model=SessionModel
)
async def close_session(request: Request, caller: AnyAdmin, session_id: str) -> Any:
    """End a session: this server refuses it at once, others within a second. Harmless where it has ended before."""
    await find_session(request, caller, session_id)
    closed = await client_of(request, caller).close_session(session_id, actor=caller.actor)
    request.app.state.authority.forget(session_id)
    return session_document(closed)


@router.get(
    "/tokens/{token_id}/sessions",
    summary="Sessions of a token",
    operation_id="list_token_sessions",
    response_model=SessionPage,
)
async def list_token_sessions(
    request: Request, caller: AnyAdmin, token_id: str, live: Live = False, limit: Limit = 100, after: AfterName = None
) -> Any:
    """Sessions that were opened with a token, by id; those that have ended, too, for a week."""
    await find_token(request, caller, token_id)
    return await _page(request, caller, token_id, live, limit, after)


@router.delete(
    "/tokens/{token_id}/sessions",
    summary="Close all sessions of a token",
    operation_id="close_sessions",
    response_model=ClosedSessions,
)
async def close_sessions(request: Request, caller: AnyAdmin, token_id: str) -> Any:
    """End all sessions of a token, and leave the token itself as it is."""
    await find_token(request, caller, token_id)
    closed = await client_of(request, caller).close_sessions(token_id, actor=caller.actor)
    request.app.state.authority.forget(token_id)
    return {"closed": closed}


async def _page(
    request: Request, caller: Caller, token_id: str | None, live: bool, limit: int, after: str | None
) -> Any:
    found = await client_of(request, caller).sessions(
        token_id=token_id, within=caller.namespaces, live=live, after=read_name(after), limit=limit + 1
    )
    return await page(found, limit, lambda each: each.id, session_document)


async def find_session(request: Request, caller: Caller, session_id: str) -> SessionRecord:
    """A session, if the caller may know of it."""
    found = await client_of(request, caller).find_session(session_id)
    if found is None or not covers(caller.namespaces, found.namespaces):
        raise no_such_session(session_id)
    return found
