"""Sessions over HTTP."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tickbird.client.base import page_size
from tickbird.client.http.base import Remote
from tickbird.client.sessions import Sessions
from tickbird.domain.access.sessions import SessionRecord, is_session_id, no_such_session
from tickbird.domain.access.tokens import covers, is_token_id, no_such_token
from tickbird.domain.errors import NotFoundError
from tickbird.domain.text import check_text
from tickbird.wire.decode.parts import Document
from tickbird.wire.decode.tokens import read_session
from tickbird.wire.page_tokens import write_key

_PAGE = 1_000


class RemoteSessions(Remote, Sessions):
    """The verbs about sessions: of tokens that open nothing but what this client's own opens."""

    async def find_session(self, session_id: str) -> SessionRecord | None:
        """A session by its id; None where there is none."""
        if not is_session_id(session_id):
            return None
        try:
            return await self._get(f"/sessions/{session_id}", read_session)
        except NotFoundError:
            return None

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
        path = "/sessions" if token_id is None else f"{_token(token_id)}/sessions"
        found: list[SessionRecord] = []
        asked = None if within is None else tuple(within)
        key = write_key(after) if after else None
        while len(found) < limit:
            items, key = await self._get(path, _page, {"live": live, "limit": min(_PAGE, limit), "after": key})
            # A server gives those within what this client's token opens, which may be more than is asked for.
            found += [each for each in items if covers(asked, each.namespaces)]
            if key is None:
                break
        return found[:limit]

    async def close_session(self, session_id: str, *, actor: str) -> SessionRecord:
        """End a session: log out. Harmless where it has ended before."""
        if not is_session_id(session_id):
            raise no_such_session(str(session_id))
        return await self._other("DELETE", f"/sessions/{session_id}", read_session)

    async def close_sessions(self, token_id: str, *, actor: str) -> int:
        """End all sessions of a token: log out everywhere. How many were live; the token itself stays."""
        return await self._other("DELETE", f"{_token(token_id)}/sessions", lambda closed: int(closed["closed"]))


def _token(token_id: str) -> str:
    if not is_token_id(token_id):
        raise no_such_token(str(token_id))
    return f"/tokens/{token_id}"


def _page(document: Document) -> tuple[list[SessionRecord], str | None]:
    return [*map(read_session, document["items"])], document["next"]
