"""Stored responses: a repeated request with the same idempotency key gets the first response."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

# Seconds: how long a response is stored, and after which an unfinished request may be processed again.
RESPONSE_TTL: Final = 86_400
ABANDONED_AFTER: Final = 150


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """The response to a request with an idempotency key; `status` is None while the request is being processed."""

    # Digest of the whole request.
    request_digest: str
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
