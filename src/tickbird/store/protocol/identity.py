"""Identity: the database that a store belongs to, so that a copy is detected."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from tickbird.domain.store_identity import StoreIdentity


class IdentityStore(Protocol):
    async def read(self) -> StoreIdentity:
        """Compare the database with the one that the store recorded; writes nothing."""

    async def check(self) -> StoreIdentity:
        """Like `read`, but records the database if none is recorded. In a copy, commands then plan nothing."""

    async def incarnation(self) -> int:
        """A number that is new when a copy or a restored store is accepted; leases and positions of events have it."""

    async def accept_copy(self, namespace: str, actor: str, *, now: datetime | None = None) -> StoreIdentity:
        """Record this database as the store's own: the copy becomes a separate store."""
