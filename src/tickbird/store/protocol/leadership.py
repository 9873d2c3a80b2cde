"""Leadership: the lease of the leader, and the history of terms. Each change is scoped to one term."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from tickbird.domain.leadership import Election, Leader, LeaderLease, LeaderTerm
from tickbird.domain.workers import Worker


class LeadershipStore(Protocol):
    """Elect and renew use their own connection, so that planning cannot delay them."""

    async def elect(self, worker: Worker, timeout: float, *, now: datetime | None = None) -> Election:
        """Begin a term of this worker, unless another worker has a lease that has not expired.

        The store issues the number of the term; it waits for planning transactions of the term that ends. A lease of
        this worker itself is replaced: the response to an earlier election was lost.
        """

    async def renew(
        self, term: int, worker_id: str, *, runs: int = 0, skips: int = 0, now: datetime | None = None
    ) -> LeaderLease | None:
        """Extend the lease of this term and store its counts; returns it, or None if the term has ended."""

    async def resign(
        self, term: int, worker_id: str, *, note: str = "", runs: int = 0, skips: int = 0, now: datetime | None = None
    ) -> LeaderTerm | None:
        """End this term of this worker and wake the other workers; returns it, or None if it had ended before."""

    async def end(
        self, namespace: str, actor: str, *, term: int | None = None, note: str = "", now: datetime | None = None
    ) -> LeaderTerm:
        """End the current term, by request of a person; raises ConflictError if it is not `term`.

        Raises NotFoundError if there is no leader. The namespace is that of the audit entry.
        """

    async def get(self, *, limit: int = 100, now: datetime | None = None) -> Leader:
        """The lease, and the newest terms."""
