"""Responses to requests with an idempotency key."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from tickbird.domain.access.http_responses import StoredResponse


class HttpResponseStore(Protocol):
    async def begin(
        self, namespace: str, key: str, request: str, *, now: datetime | None = None
    ) -> StoredResponse | None:
        """Reserve a key for a request. None: the caller must respond; otherwise the stored response of the key."""

    async def finish(
        self, namespace: str, key: str, request: str, response: StoredResponse | None, *, now: datetime | None = None
    ) -> None:
        """Store the response to such a request for a day; with None, release the key."""
