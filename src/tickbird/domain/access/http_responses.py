"""Answers that are kept for a while, so that what is asked twice is done once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

# Seconds for which an answer is kept, and after which a request that nobody has answered may be taken up again.
RESPONSE_TTL: Final = 86_400
ABANDONED_AFTER: Final = 150


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """What a request was answered that had a key; `status` is None while somebody is at it."""

    # A digest of all that was asked.
    request_digest: str
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
