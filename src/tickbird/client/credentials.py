"""Look-ups of tokens and sessions by which a server authenticates requests."""

from __future__ import annotations

from tickbird.domain.access.sessions import (
    SESSION_NOISE,
    USUAL_SECONDS,
    NewSession,
    SessionRecord,
    check_length,
    clean_user_agent,
    is_session_id,
    make_session,
)
from tickbird.domain.access.tokens import TokenRecord, digest, is_token_id, no_such_token
from tickbird.domain.time.durations import Duration
from tickbird.store.protocol.store import Store


class Credentials:
    """The tokens and sessions of all namespaces, for a server only."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def find_token(self, token_id: str) -> TokenRecord | None:
        return await self._store.tokens.find(token_id) if is_token_id(token_id) else None

    async def touch_token(self, token_id: str) -> None:
        """Record the use of a token, at most once a minute."""
        await self._store.tokens.touch(token_id)

    async def touch_session(self, session_id: str) -> None:
        """Record the use of a session, at most once a minute."""
        await self._store.sessions.touch(session_id)

    async def find_session(self, session_id: str) -> SessionRecord | None:
        return await self._store.sessions.find(session_id) if is_session_id(session_id) else None

    async def open_session(
        self, token_id: str, *, user_agent: str = "", within: Duration = USUAL_SECONDS
    ) -> tuple[SessionRecord, str]:
        """Open a session of a live token; returns it with its secret, which is not stored.

        It ends after `within`, with its token, or when it is closed. Its actor is the holder of the token.
        """
        import secrets

        if not is_token_id(token_id):
            raise no_such_token(str(token_id))
        length = check_length(within)
        session_id, secret, text = make_session(secrets.token_bytes(SESSION_NOISE))
        new = NewSession(session_id, digest(secret), token_id, clean_user_agent(user_agent), length)
        return await self._store.sessions.open("default", new), text
