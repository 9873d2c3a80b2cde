"""Schedules and their revisions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from tickbird.domain.dashboard_rows import ScheduleSummary
from tickbird.domain.planning.changes import ChangeResult
from tickbird.domain.planning.code_sync import AppSchedule
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.schedules.dependencies import LastSuccess
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import Schedule, State


class ScheduleStore(Protocol):
    """The verbs of schedules."""

    async def get(self, namespace: str, name: str) -> Schedule | None:
        """A schedule by name, also a deleted one."""

    async def list(
        self,
        namespace: str,
        *,
        contains: str = "",
        state: State | None = None,
        tag: str | None = None,
        after: str = "",
        limit: int = 100,
    ) -> Sequence[ScheduleSummary]:
        """Schedules by name, after `after`; deleted ones only if `state` says so.

        `contains` is searched in names, tags and targets.
        """

    async def list_of_app(self, namespace: str, app: str, names: Collection[str]) -> Mapping[str, AppSchedule]:
        """Every schedule of an app, and those of other owners among `names`, deleted ones included."""

    async def change(self, namespace: str, name: str, command: Command, *, now: datetime | None = None) -> ChangeResult:
        """Plan what is due under the old revision, then apply the command, with its revision and audit row.

        A trigger whose idempotency key was used before creates no run, and returns the one that exists. Fields that
        need a capability which the store lacks are refused, see `check_fields`.
        """

    async def list_revisions(
        self, schedule_id: int, *, before: int | None = None, made_before: datetime | None = None, limit: int = 100
    ) -> Sequence[RevisionRecord]:
        """Revisions of a schedule, newest first, with numbers below `before`, made before `made_before`."""

    async def last_successes(self, namespace: str, names: Collection[str]) -> Mapping[str, LastSuccess]:
        """When these schedules last succeeded, as far as the planner keeps it for those that others depend on."""
