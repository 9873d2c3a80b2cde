"""Tokens of the HTTP API."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from tickbird.domain.access.tokens import NewToken, TokenRecord


class TokenStore(Protocol):
    async def create(self, namespace: str, new: NewToken, actor: str, *, now: datetime | None = None) -> TokenRecord:
        """Store a new token; audited in its namespaces, or in this one if it has all."""

    async def find(self, token_id: str, *, now: datetime | None = None) -> TokenRecord | None:
        """A token by its id, with its state by the store's clock."""

    async def list(
        self,
        *,
        within: Collection[str] | None = None,
        live: bool = False,
        after: str = "",
        limit: int = 100,
        now: datetime | None = None,
    ) -> Sequence[TokenRecord]:
        """Tokens by id, after `after`; only tokens limited to namespaces in `within`, or only live ones."""

    async def revoke(self, namespace: str, token_id: str, actor: str, *, now: datetime | None = None) -> TokenRecord:
        """Revoke a token; no effect if it was revoked before. NotFoundError if there is none."""

    async def filter_live(self, ids: Collection[str], *, now: datetime | None = None) -> frozenset[str]:
        """The ids of live tokens and live sessions among these."""

    async def touch(self, token_id: str, *, now: datetime | None = None) -> None:
        """Record that a token was used, at most once a minute."""
