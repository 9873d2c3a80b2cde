"""What needs the store itself, and cannot go through a server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import AbstractAsyncContextManager

from tickbird.client.http.base import Remote
from tickbird.client.sessions import Sessions
from tickbird.client.system import System
from tickbird.client.tokens import Tokens
from tickbird.domain.access.sessions import USUAL_SECONDS, SessionRecord
from tickbird.domain.errors import StoreError
from tickbird.domain.ledger.activity import ActivityCursor, ActivityPage, Watermark
from tickbird.domain.time.durations import Duration


class StoreOnly(Remote, Tokens, Sessions, System):
    """The verbs that a server itself is made of: each says where to go instead."""

    async def activity_watermark(self, before: Watermark | None = None) -> Watermark:
        """Refused: `GET /api/v1/activity/stream` tells what happens."""
        raise _refused("what happens is read")

    async def read_activity(self, namespaces: Collection[str], after: ActivityCursor, until: Watermark) -> ActivityPage:
        """Refused: `GET /api/v1/activity/stream` tells what happens."""
        raise _refused("what happens is read")

    def wakeups(self) -> AbstractAsyncContextManager[AsyncIterator[bool]]:
        """Refused: `GET /api/v1/activity/stream` tells what happens."""
        raise _refused("what happens is read")

    async def filter_live_tokens(self, ids: Collection[str]) -> frozenset[str]:
        """Refused: a server looks after its tokens itself."""
        raise _refused("tokens are looked after")

    async def touch_token(self, token_id: str) -> None:
        """Refused: a server writes which tokens are used."""
        raise _refused("tokens are looked after")

    async def open_session(
        self, token_id: str, *, user_agent: str = "", within: Duration = USUAL_SECONDS
    ) -> tuple[SessionRecord, str]:
        """Refused: a server opens sessions for browsers, and for nobody else."""
        raise _refused("sessions are opened")

    async def touch_session(self, session_id: str) -> None:
        """Refused: a server writes which sessions are used."""
        raise _refused("sessions are looked after")


def _refused(what: str) -> StoreError:
    return StoreError(
        f"{what} on the store itself, not through a server;", hint="do it where the store can be reached, with its URL."
    )
