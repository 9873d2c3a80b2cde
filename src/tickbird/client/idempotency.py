"""Stored responses to requests with an idempotency key."""

from __future__ import annotations

from tickbird.client import StoreClient
from tickbird.domain.access.http_responses import StoredResponse
from tickbird.domain.text import check_text


class ResponseStore:
    """For servers only."""

    def __init__(self, client: StoreClient) -> None:
        self._store = client._store

    async def begin(self, namespace: str, key: str, request: str) -> StoredResponse | None:
        """Reserve a key for a request: None if it is new, or the stored response."""
        return await self._store.http_responses.begin(
            namespace, check_text(key, "key", minimum=1, maximum=200), request
        )

    async def keep(self, namespace: str, key: str, answer: StoredResponse) -> None:
        """Store a response for a day."""
        await self._store.http_responses.finish(namespace, key, answer.request_digest, answer)

    async def forget(self, namespace: str, key: str, request: str) -> None:
        """Release the key, so that the request can be sent again."""
        await self._store.http_responses.finish(namespace, key, request, None)
