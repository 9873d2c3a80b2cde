"""One change to many schedules over HTTP."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from tickbird.client.bulk import Bulk
from tickbird.client.http.base import Remote, instant
from tickbird.domain.planning.bulk import MAX_COUNT, BulkFilter, BulkResult, BulkVerb, check_count
from tickbird.domain.schedules.schedule import State
from tickbird.wire.decode.bulk import read_bulk

# A thousand changes take their time on a busy store.
_TIMEOUT: Final = 120.0


class RemoteBulk(Remote, Bulk):
    """The verbs about many schedules."""

    async def pause_all(
        self,
        *,
        actor: str,
        contains: str = "",
        tag: str | None = None,
        state: State | None = None,
        expected: int | None = None,
        note: str = "",
        until: datetime | None = None,
        cancel_runs: bool = False,
    ) -> BulkResult:
        """Pause every schedule that matches and is not paused; CountChangedError if they are far from `expected`."""
        which = BulkFilter(contains=contains, tag=tag, state=state)
        body = {"note": note, "until": instant(until), "cancel_runs": cancel_runs}
        return await self._have_all_done("pause", which, expected, body)

    async def resume_all(
        self,
        *,
        actor: str,
        contains: str = "",
        tag: str | None = None,
        state: State | None = None,
        expected: int | None = None,
        note: str = "",
    ) -> BulkResult:
        """Resume every schedule that matches and is paused, but not those that code no longer has."""
        which = BulkFilter(contains=contains, tag=tag, state=state)
        return await self._have_all_done("resume", which, expected, {"note": note})

    async def trigger_all(
        self,
        *,
        actor: str,
        contains: str = "",
        tag: str | None = None,
        state: State | None = None,
        expected: int | None = None,
    ) -> BulkResult:
        """One manual run now of every schedule that matches, each with its own payload."""
        return await self._have_all_done("trigger", BulkFilter(contains=contains, tag=tag, state=state), expected, {})

    async def _have_all_done(
        self, verb: BulkVerb, which: BulkFilter, expected: int | None, body: dict[str, Any]
    ) -> BulkResult:
        if expected is None:
            # A server wants to know what its caller has seen, and whoever calls this has not looked.
            query = {"contains": which.contains or None, "tag": which.tag, "state": which.state}
            expected = len(await self._pages("/schedules", str, MAX_COUNT + 1, None, query))
        check_count(expected, expected)
        stated = {"contains": which.contains, "tag": which.tag, "state": which.state}
        sent = {"filter": stated, "expected": expected, **body}
        return await self._post(f"/bulk/{verb}", read_bulk, sent, patience=_TIMEOUT)
