"""What a server reads of a whole store, once for all whom it serves; a client over HTTP has no use for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import AbstractAsyncContextManager

from tickbird.domain.doctor.metrics import MAX_COUNTED, NamespaceMetrics
from tickbird.domain.ledger.activity import ActivityCursor, ActivityPage, Watermark
from tickbird.store.protocol.store import Store


class ServerReads:
    """All namespaces of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def url(self) -> str:
        """Where the store is, without a password."""
        return self._store.url

    async def schema_version(self) -> int | None:
        """The number of the newest migration that was applied to it."""
        return await self._store.schema_version()

    async def activity_watermark(self, before: Watermark | None = None) -> Watermark:
        """Up to where everything can be seen that has happened in the store; `before` is what the look before found."""
        return await self._store.activity.watermark(before)

    async def read_activity(self, namespaces: Collection[str], after: ActivityCursor, until: Watermark) -> ActivityPage:
        """What happened in these namespaces behind a place, in an order that everybody sees alike."""
        return await self._store.activity.read(namespaces, after, until)

    def wakeups(self) -> AbstractAsyncContextManager[AsyncIterator[bool]]:
        """Yields when something may have happened; not whenever it has."""
        return self._store.wakeups()

    async def filter_live_tokens(self, ids: Collection[str]) -> frozenset[str]:
        """Those of these tokens and sessions that can be used."""
        return await self._store.tokens.filter_live(ids)

    async def read_metrics(self, namespace: str, *, maximum: int = MAX_COUNTED) -> NamespaceMetrics:
        """How much there is of everything in a namespace, each counted up to `maximum`."""
        return await self._store.read_metrics(namespace, maximum=maximum)
