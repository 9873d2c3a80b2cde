"""Sessions: browsers that have logged in with a token."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from typing import Annotated

from tickbird.client.base import ClientBase
from tickbird.client.tokens import Live, TokenId, Tokens, check_token_id
from tickbird.domain.access.sessions import (
    SESSION_NOISE,
    USUAL_SECONDS,
    NewSession,
    SessionRecord,
    check_length,
    clean_user_agent,
    is_session_id,
    make_session,
    no_such_session,
)
from tickbird.domain.access.tokens import check_namespaces, covers, digest
from tickbird.domain.time.durations import Duration
from tickbird.store.protocol.store import Store
from tickbird.wire.operations import token_admin
from tickbird.wire.parameters import Meta


def check_session_id(session_id: object) -> None:
    if not is_session_id(session_id):
        raise no_such_session(str(session_id))


SessionId = Annotated[str, Meta(parse=check_session_id)]


class Sessions(ClientBase):
    """Sessions of browsers; `within` selects those whose tokens are limited to these namespaces."""

    @token_admin.get("list_sessions", "/sessions", "List sessions", page=lambda session: session.id)
    async def list(
        self, *, within: Collection[str] | None = None, live: Live = False, after: str = "", limit: int = 100
    ) -> Sequence[SessionRecord]:
        """List the sessions of tokens whose namespaces the caller can all access, by id."""
        return await self._store.sessions.list(within=within, live=live, after=after, limit=limit)

    @token_admin.get(
        "list_token_sessions",
        "/tokens/{token_id}/sessions",
        "List the sessions of a token",
        page=lambda session: session.id,
    )
    async def list_for_token(
        self,
        token_id: TokenId,
        *,
        within: Collection[str] | None = None,
        live: Live = False,
        after: str = "",
        limit: int = 100,
    ) -> Sequence[SessionRecord]:
        """List the sessions that were opened with a token, by id; ended ones are kept for a week."""
        await self._noun(Tokens).get(token_id, within=within)
        return await self._store.sessions.list(token_id=token_id, within=within, live=live, after=after, limit=limit)

    @token_admin.get("get_session", "/sessions/{session_id}", "Get a session")
    async def get(self, session_id: SessionId, *, within: Collection[str] | None = None) -> SessionRecord:
        """Get a session by its id, without its secret."""
        session = await self._store.sessions.find(session_id)
        if session is None or not covers(check_namespaces(within), session.namespaces):
            raise no_such_session(session_id)
        return session

    @token_admin.delete(
        "close_session", "/sessions/{session_id}", "Close a session", audit="close_session", revokes="session_id"
    )
    async def close(self, session_id: SessionId, *, actor: str, within: Collection[str] | None = None) -> SessionRecord:
        """End a session; this server refuses it at once, others within a second. It may have ended already."""
        await self.get(session_id, within=within)
        return await self._store.sessions.close(self._namespace, session_id, actor)

    @token_admin.delete(
        "close_sessions",
        "/tokens/{token_id}/sessions",
        "Close all sessions of a token",
        audit="close_sessions",
        envelope="closed",
        revokes="token_id",
    )
    async def close_for_token(self, token_id: TokenId, *, actor: str, within: Collection[str] | None = None) -> int:
        """End all sessions of a token, but not the token; returns how many were live."""
        await self._noun(Tokens).get(token_id, within=within)
        return await self._store.sessions.close_all(self._namespace, token_id, actor)


async def open_session(
    store: Store, token_id: str, *, user_agent: str = "", within: Duration = USUAL_SECONDS
) -> tuple[SessionRecord, str]:
    """Open a session of a live token, for a server; returns it with its secret, which is not stored.

    It ends after `within`, with its token, or when it is closed. Its actor is the holder of the token.
    """
    check_token_id(token_id)
    length = check_length(within)
    session_id, secret, text = make_session(secrets.token_bytes(SESSION_NOISE))
    new = NewSession(session_id, digest(secret), token_id, clean_user_agent(user_agent), length)
    return await store.sessions.open("default", new), text
