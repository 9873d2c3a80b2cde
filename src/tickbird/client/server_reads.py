"""Reads of the whole store that only a server needs, for all of its clients."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import AbstractAsyncContextManager

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
from tickbird.domain.doctor.metrics import MAX_COUNTED, NamespaceMetrics
from tickbird.domain.ledger.activity import ActivityCursor, ActivityPage, Watermark
from tickbird.domain.time.durations import Duration
from tickbird.store.protocol.store import Store


class ServerReads:
    """All namespaces of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def url(self) -> str:
        """Where the store is, without a password."""
        return self._store.url

    @property
    def capabilities(self) -> frozenset[str]:
        """The names of the capabilities that the store has."""
        return self._store.capabilities

    async def schema_version(self) -> int | None:
        """The number of the newest applied migration; None if there is no schema."""
        return await self._store.schema_version()

    async def activity_watermark(self, before: Watermark | None = None) -> Watermark:
        """The watermark up to which all activity is visible; `before` is the previous one."""
        return await self._store.activity.watermark(before)

    async def read_activity(self, namespaces: Collection[str], after: ActivityCursor, until: Watermark) -> ActivityPage:
        """The activity of these namespaces after a cursor, in the same order for every reader."""
        return await self._store.activity.read(namespaces, after, until)

    def wakeups(self) -> AbstractAsyncContextManager[AsyncIterator[bool]]:
        """Yield when there may be new activity; some activity is not announced."""
        return self._store.wakeups()

    async def filter_live_tokens(self, ids: Collection[str]) -> frozenset[str]:
        """The ids of the tokens and sessions that are neither expired nor revoked."""
        return await self._store.tokens.filter_live(ids)

    async def read_metrics(self, namespace: str, *, maximum: int = MAX_COUNTED) -> NamespaceMetrics:
        """The counts of a namespace, each up to `maximum`."""
        return await self._store.statistics.read_metrics(namespace, maximum=maximum)

    async def find_token(self, token_id: str) -> TokenRecord | None:
        """A token by its id, or None."""
        return await self._store.tokens.find(token_id) if is_token_id(token_id) else None

    async def touch_token(self, token_id: str) -> None:
        """Record that a token was used, at most once a minute."""
        await self._store.tokens.touch(token_id)

    async def open_session(
        self, token_id: str, *, user_agent: str = "", within: Duration = USUAL_SECONDS
    ) -> tuple[SessionRecord, str]:
        """A new session of a live token and its text, which is shown only here; the token's holder is the actor.

        It ends `within` this time, with its token, or when it is closed, whichever comes first.
        """
        import secrets

        if not is_token_id(token_id):
            raise no_such_token(str(token_id))
        length = check_length(within)
        session_id, secret, text = make_session(secrets.token_bytes(SESSION_NOISE))
        new = NewSession(session_id, digest(secret), token_id, clean_user_agent(user_agent), length)
        return await self._store.sessions.open("default", new), text

    async def find_session(self, session_id: str) -> SessionRecord | None:
        """A session by its id, or None."""
        return await self._store.sessions.find(session_id) if is_session_id(session_id) else None

    async def touch_session(self, session_id: str) -> None:
        """Record that a session was used, at most once a minute."""
        await self._store.sessions.touch(session_id)
