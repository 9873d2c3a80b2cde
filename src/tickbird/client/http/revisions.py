"""Revisions of schedules over HTTP: what each changed, and the way back to one."""

from __future__ import annotations

from collections.abc import Sequence

from tickbird.client.http.base import Remote, schedule_path
from tickbird.client.revisions import Revisions, check_revision
from tickbird.domain.schedules.revision import HistoryEntry, RevisionRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.wire.decode.schedules import read_history, read_revision


class RemoteRevisions(Remote, Revisions):
    """The verbs about revisions."""

    async def revisions(self, name: str, *, before: int | None = None, limit: int = 100) -> Sequence[RevisionRecord]:
        """The revisions of a schedule, newest first, a page at a time: `before` is the last of the page before."""
        return await self._pages(f"{schedule_path(name)}/revisions", read_revision, limit, before)

    async def history(self, name: str, *, before: int | None = None, limit: int = 100) -> Sequence[HistoryEntry]:
        """The same, each with what it changed, field by field."""
        return await self._pages(f"{schedule_path(name)}/revisions", read_history, limit, before)

    async def roll_back(
        self, name: str, to: int, *, actor: str, note: str = "", revision: int | None = None
    ) -> Schedule:
        """Make a new revision with the definition of an earlier one.

        On a schedule from code, what differs from the code is set over it and stays so through deploys, as by `update`.
        """
        return await self._have_done(name, "roll-back", {"to": check_revision(to), "note": note}, revision)
