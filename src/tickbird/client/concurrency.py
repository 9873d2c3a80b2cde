"""Concurrency limits: how many runs of a key may run at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from tickbird.client.base import ClientBase
from tickbird.domain.errors import NotFoundError
from tickbird.domain.limits.concurrency import (
    MAX_LIMIT,
    ConcurrencyLimit,
    check_key,
    check_limit_key,
    check_max_running,
)
from tickbird.wire.operations import editor, viewer
from tickbird.wire.parameters import Meta

# Any text, including slashes.
_KEY = {"maxLength": 1_000, "description": "A concurrency key, as runs have it."}
Key = Annotated[str, Meta(schema=_KEY, parse=check_key)]
NewKey = Annotated[str, Meta(schema=_KEY, parse=check_limit_key)]


class Limits(ClientBase):
    """Concurrency limits."""

    @viewer.get("list_limits", "/limits", "List limits", page=lambda limit: limit.key)
    async def list(self, *, after: str = "", limit: int | None = None) -> Sequence[ConcurrencyLimit]:
        """List the concurrency keys that have a limit or active runs, by name."""
        return await self._store.limits.list(self._namespace, after=after, limit=limit)

    @editor.put("set_limit", "/limits/{key:path}", "Set a limit", audit="limit")
    async def set(
        self,
        key: NewKey,
        max_running: Annotated[int, Meta(schema={"minimum": 1, "maximum": MAX_LIMIT}, parse=check_max_running)],
        *,
        actor: str,
    ) -> ConcurrencyLimit:
        """Set how many runs of a concurrency key may run at once; a higher limit starts waiting runs."""
        return await self._store.limits.set(self._namespace, key, max_running, actor)

    @editor.delete("remove_limit", "/limits/{key:path}", "Remove a limit", audit="limit")
    async def remove(self, key: Key, *, actor: str) -> ConcurrencyLimit:
        """Go back to the default of one run at a time; 404 if no limit is set."""
        if not any(limit.is_explicit for limit in await self._store.limits.list(self._namespace, key=key)):
            raise NotFoundError(f"there is no limit for {key!r}.", hint="`tickbird limits` lists the limits.")
        return await self._store.limits.set(self._namespace, key, None, actor)
