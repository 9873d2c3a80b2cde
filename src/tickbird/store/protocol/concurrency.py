"""Limits of concurrency keys."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from tickbird.domain.limits.concurrency import ConcurrencyLimit
from tickbird.domain.runs.run import RunRecord


class LimitStore(Protocol):
    async def set(
        self, namespace: str, key: str, max_running: int | None, actor: str, *, now: datetime | None = None
    ) -> ConcurrencyLimit:
        """Set the maximum of active runs of a key, None for the default. Releases runs that fit now."""

    async def list(
        self, namespace: str, *, key: str | None = None, after: str = "", limit: int | None = None
    ) -> Sequence[ConcurrencyLimit]:
        """The keys with a limit or active runs, by name, after `after`; with `key`, only that one."""

    async def list_runs(self, namespace: str, key: str, *, limit: int = 100) -> Sequence[RunRecord]:
        """The runs that occupy a slot of a key, oldest first."""
