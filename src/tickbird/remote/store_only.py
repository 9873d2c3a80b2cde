"""What needs the store itself, and cannot go through a server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from tickbird.client.files import Files
from tickbird.client.tokens import Tokens
from tickbird.client.whole import Whole
from tickbird.domain.errors import StoreError
from tickbird.domain.happenings import Happened, Horizon, Mark
from tickbird.files.plan import FilePlan
from tickbird.files.shape import Document
from tickbird.remote.base import Remote


class StoreOnly(Remote, Files, Tokens, Whole):
    """The verbs about files, and those that a server itself is made of: each says where to go instead."""

    async def apply(
        self,
        document: Document | Mapping[str, Any],
        *,
        actor: str,
        prune: bool = False,
        dry_run: bool = False,
        adopt: bool = False,
        counted: Callable[[int, int], None] | None = None,
    ) -> FilePlan:
        """Refused: files are applied on the store."""
        raise _refused("files of schedules are compared and applied")

    async def export(self, *, app: str | None = None, everything: bool = False) -> Document:
        """Refused: files are written from the store."""
        raise _refused("files of schedules are written")

    async def remarks(self, document: Document) -> dict[str, list[str]]:
        """Refused: files are written from the store."""
        raise _refused("files of schedules are written")

    async def settle(self, before: Horizon | None = None) -> Horizon:
        """Refused: `GET /api/v1/events` tells what happens."""
        raise _refused("what happens is read")

    async def happened(self, namespaces: Collection[str], after: Mark, until: Horizon) -> Happened:
        """Refused: `GET /api/v1/events` tells what happens."""
        raise _refused("what happens is read")

    def wakeups(self) -> AbstractAsyncContextManager[AsyncIterator[bool]]:
        """Refused: `GET /api/v1/events` tells what happens."""
        raise _refused("what happens is read")

    async def live_tokens(self, ids: Collection[str]) -> frozenset[str]:
        """Refused: a server looks after its tokens itself."""
        raise _refused("tokens are looked after")

    async def note_token_use(self, token_id: str) -> None:
        """Refused: a server writes which tokens are used."""
        raise _refused("tokens are looked after")


def _refused(what: str) -> StoreError:
    return StoreError(
        f"{what} on the store itself, not through a server;", hint="do it where the store can be reached, with its URL."
    )
