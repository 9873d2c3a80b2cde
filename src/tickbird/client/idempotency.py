"""The answers that a server has given to requests with a key."""

from __future__ import annotations

from tickbird.client import StoreClient
from tickbird.domain.access.http_responses import StoredResponse
from tickbird.domain.text import check_text


class ResponseStore:
    """Answers, kept in the store of a client: no verbs of its own, since only servers have them."""

    def __init__(self, client: StoreClient) -> None:
        self._store = client._store

    async def begin(self, namespace: str, key: str, request: str) -> StoredResponse | None:
        """Take a key for a request: None where it is to be answered now, else what is known of the key."""
        return await self._store.http_responses.begin(
            namespace, check_text(key, "key", minimum=1, maximum=200), request
        )

    async def keep(self, namespace: str, key: str, answer: StoredResponse) -> None:
        """Keep an answer for a day."""
        await self._store.http_responses.finish(namespace, key, answer.request_digest, answer)

    async def forget(self, namespace: str, key: str, request: str) -> None:
        """Let the same be asked anew."""
        await self._store.http_responses.finish(namespace, key, request, None)
