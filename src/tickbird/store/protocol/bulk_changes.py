"""Bulk changes: many changes of a namespace, all of them or none."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from tickbird.domain.planning.changes import ChangeSet, ProgressCallback


class BulkChangeStore(Protocol):
    async def apply(
        self,
        namespace: str,
        changes: ChangeSet,
        actor: str,
        *,
        counted: ProgressCallback | None = None,
        now: datetime | None = None,
    ) -> None:
        """Apply all changes in one transaction, each like its own verb; an error rolls back all of them."""
