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
    async def get(self, namespace: str, name: str) -> Schedule | None:
        """A schedule by name, including deleted ones."""

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
        """Schedules by name, after `after`; deleted ones only if `state` requests them.

        `contains` is searched in names, tags and targets.
        """

    async def list_of_app(self, namespace: str, app: str, names: Collection[str]) -> Mapping[str, AppSchedule]:
        """Every schedule of an app, and schedules of other owners in `names`, including deleted ones."""

    async def change(self, namespace: str, name: str, command: Command, *, now: datetime | None = None) -> ChangeResult:
        """Plan due ticks under the old revision, then apply the command, with its revision and audit row.

        A trigger whose idempotency key was used before creates no run, and returns the existing one. Raises for fields
        that need a missing capability, see `check_fields`.
        """

    async def list_revisions(
        self, schedule_id: int, *, before: int | None = None, made_before: datetime | None = None, limit: int = 100
    ) -> Sequence[RevisionRecord]:
        """Revisions of a schedule, newest first, with numbers below `before`, created before `made_before`."""

    async def last_successes(self, namespace: str, names: Collection[str]) -> Mapping[str, LastSuccess]:
        """The last success of these schedules; the planner records it only for schedules that others depend on."""
