"""The audit log: who changed what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from tickbird.client.base import ClientBase
from tickbird.domain.ledger.activity import AuditEntry
from tickbird.wire.operations import viewer
from tickbird.wire.parameters import Meta


class AuditLog(ClientBase):
    """The audit log."""

    @viewer.get("list_audit", "/audit", "List the audit log", page=lambda entry: entry.id)
    async def list(
        self,
        *,
        schedule: Annotated[str | None, Meta(max_length=200, description="Only changes of this schedule.")] = None,
        before: int | None = None,
        limit: int = 100,
    ) -> Sequence[AuditEntry]:
        """List the changes in the namespace, newest first, including those of deleted schedules."""
        return await self._store.ledger.list_audit(self._namespace, schedule=schedule, before=before, limit=limit)
