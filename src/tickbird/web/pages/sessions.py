"""The sessions of a token, and the forms to close them."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from tickbird.domain.access.sessions import no_such_session
from tickbird.web.page_request import PageRequest, PageRoute
from tickbird.web.pages.tokens import forget

_PAGE: Final = 100


async def sessions(visit: PageRequest) -> Response:
    """List the sessions of a token; `ended=1` includes sessions that ended within the last week."""
    token = await visit.own_client.tokens.get(visit.param("token"), within=visit.namespaces)
    after, ended = visit.query.get("after", ""), visit.query.get("ended") == "1"
    rows = await visit.own_client.sessions.list_for_token(token.id, live=not ended, after=after[:60], limit=_PAGE + 1)
    return visit.render(
        "sessions.html",
        token=token,
        sessions=rows[:_PAGE],
        ended=ended,
        more=visit.here(after=rows[_PAGE - 1].id) if len(rows) > _PAGE else None,
        first=visit.here(after=None) if after else None,
    )


async def close_one(visit: PageRequest) -> Response:
    token = await visit.own_client.tokens.get(visit.param("token"), within=visit.namespaces)
    session = await visit.own_client.sessions.get(visit.param("session"), within=visit.namespaces)
    if session.token_id != token.id:
        raise no_such_session(session.id)
    if visit.request.method == "POST":
        await visit.own_client.sessions.close(session.id, actor=visit.actor)
        forget(visit, session.id)
        return visit.done(visit.url(f"/settings/tokens/{token.id}/sessions"), f"Session {session.id} is closed.")
    return visit.render("session_close.html", token=token, session=session)


async def close_all(visit: PageRequest) -> Response:
    """Confirm, then close all sessions. The token stays valid."""
    token = await visit.own_client.tokens.get(visit.param("token"), within=visit.namespaces)
    if visit.request.method == "POST":
        closed = await visit.own_client.sessions.close_for_token(token.id, actor=visit.actor)
        forget(visit, token.id)
        message = f"{closed} session{'' if closed == 1 else 's'} of token {token.id} ({token.name}) closed."
        return visit.done(visit.url(f"/settings/tokens/{token.id}/sessions"), message)
    return visit.render("session_close.html", token=token, session=None)


ROUTES: Final = (
    PageRoute("/settings/tokens/{token}/sessions", sessions, "admin"),
    PageRoute("/settings/tokens/{token}/sessions/close", close_all, "admin", ("GET", "POST")),
    PageRoute("/settings/tokens/{token}/sessions/{session}/close", close_one, "admin", ("GET", "POST")),
)
