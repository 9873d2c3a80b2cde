"""Sessions: what a browser holds in place of a token."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tickbird.client.base import ClientBase, page_size
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
from tickbird.domain.access.tokens import digest, is_token_id, no_such_token
from tickbird.domain.text import check_text
from tickbird.domain.time.durations import Duration


class Sessions(ClientBase):
    """The verbs about sessions."""

    async def open_session(
        self, token_id: str, *, user_agent: str = "", within: Duration = USUAL_SECONDS
    ) -> tuple[SessionRecord, str]:
        """A new session of a live token and its text, which cannot be shown again; done by the token's holder.

        It ends `within` so long, with its token, or when it is closed, whichever comes first.
        """
        import secrets

        if not is_token_id(token_id):
            raise no_such_token(str(token_id))
        length = check_length(within)
        session_id, secret, text = make_session(secrets.token_bytes(SESSION_NOISE))
        new = NewSession(session_id, digest(secret), token_id, clean_user_agent(user_agent), length)
        return await self._store.sessions.open(self._namespace, new), text

    async def find_session(self, session_id: str) -> SessionRecord | None:
        """A session by its id; None where there is none."""
        return await self._store.sessions.find(session_id) if is_session_id(session_id) else None

    async def sessions(
        self,
        *,
        token_id: str | None = None,
        within: Collection[str] | None = None,
        live: bool = False,
        after: str = "",
        limit: int = 100,
    ) -> Sequence[SessionRecord]:
        """Sessions by id, a page at a time: of one token, or of those that open nothing but `within`."""
        check_text(after, "after")
        page_size(limit)
        if token_id is not None and (not is_token_id(token_id) or await self._store.tokens.find(token_id) is None):
            raise no_such_token(str(token_id))
        return await self._store.sessions.list(token_id=token_id, within=within, live=live, after=after, limit=limit)

    async def close_session(self, session_id: str, *, actor: str) -> SessionRecord:
        """End a session: log out. Harmless where it has ended before."""
        check_text(actor, "actor", minimum=1, maximum=200)
        if not is_session_id(session_id):
            raise no_such_session(str(session_id))
        return await self._store.sessions.close(self._namespace, session_id, actor)

    async def close_sessions(self, token_id: str, *, actor: str) -> int:
        """End all sessions of a token: log out everywhere. How many were live; the token itself stays."""
        check_text(actor, "actor", minimum=1, maximum=200)
        if not is_token_id(token_id):
            raise no_such_token(str(token_id))
        return await self._store.sessions.close_all(self._namespace, token_id, actor)

    async def touch_session(self, session_id: str) -> None:
        """Write that a session was used, at most once a minute."""
        await self._store.sessions.touch(session_id)
