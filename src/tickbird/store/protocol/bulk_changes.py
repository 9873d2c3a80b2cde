"""Bulk changes: many changes of a namespace, all of them or none."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from tickbird.domain.planning.changes import ChangeSet, ProgressCallback


class BulkChangeStore(Protocol):
    """The verb of bulk changes."""

    async def apply(
        self,
        namespace: str,
        changes: ChangeSet,
        actor: str,
        *,
        counted: ProgressCallback | None = None,
        now: datetime | None = None,
    ) -> None:
        """Make all changes in one transaction, each as its own verb would; or none, with the first error."""
