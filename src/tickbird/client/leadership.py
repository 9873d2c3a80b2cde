"""The leader of workers in leader mode, and the history of its terms."""

from __future__ import annotations

from typing import Annotated

from tickbird.client.base import ClientBase
from tickbird.client.parameters import Note
from tickbird.domain.leadership import Leader, LeaderTerm
from tickbird.wire.operations import store_admin, viewer
from tickbird.wire.parameters import Meta


class Leadership(ClientBase):
    """The leader of workers in leader mode, and the history of its terms."""

    @viewer.get("get_leader", "/leader", "Get the leader")
    async def get(
        self, *, limit: Annotated[int, Meta(ge=1, le=1_000, description="The maximum number of terms.")] = 20
    ) -> Leader:
        """Get the lease of the leader and the newest terms, newest first; `lease` is null if there is no leader."""
        return await self._store.leadership.get(limit=limit)

    @store_admin.post("resign_leader", "/leader/resign", "End the leader's term", audit="resign_leader")
    async def resign(
        self,
        *,
        actor: str,
        term: Annotated[int | None, Meta(ge=1, description="The expected term; 409 if it is another one.")] = None,
        note: Note = "",
    ) -> LeaderTerm:
        """End the current term, so that another worker takes over; 404 if there is no leader.

        The former leader leaves the next term to other workers for two seconds.
        """
        return await self._store.leadership.end(self._namespace, actor, term=term, note=note)
