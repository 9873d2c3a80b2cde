"""Sessions: browser logins with a token."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from tickbird.domain.access.sessions import NewSession, SessionRecord


class SessionStore(Protocol):
    async def open(self, namespace: str, new: NewSession, *, now: datetime | None = None) -> SessionRecord:
        """Store a new session, which ends with its token at the latest; closes the oldest if the token has too many.

        Audited with the token's holder as actor, in the namespaces of the token. ConflictError if the token is not
        live.
        """

    async def find(self, session_id: str, *, now: datetime | None = None) -> SessionRecord | None:
        """A session by its id, with its state by the store's clock; it is not live if its token is not."""

    async def list(
        self,
        *,
        token_id: str | None = None,
        within: Collection[str] | None = None,
        live: bool = False,
        after: str = "",
        limit: int = 100,
        now: datetime | None = None,
    ) -> Sequence[SessionRecord]:
        """Sessions by id, after `after`; of one token, of tokens limited to namespaces in `within`, or live ones."""

    async def close(self, namespace: str, session_id: str, actor: str, *, now: datetime | None = None) -> SessionRecord:
        """End a session; no effect if it has ended. NotFoundError if there is none."""

    async def close_all(self, namespace: str, token_id: str, actor: str, *, now: datetime | None = None) -> int:
        """End all sessions of a token; returns the number of live ones. NotFoundError if there is no such token."""

    async def touch(self, session_id: str, *, now: datetime | None = None) -> None:
        """Record that a session was used, at most once a minute."""
