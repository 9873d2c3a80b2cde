"""Real stores that lack capabilities, to prove that everything works on them or is refused in one sentence."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from tickbird.domain.planning.changes import ChangeResult
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.runs.run import NewRun
from tickbird.store.protocol.capabilities import check_fields
from tickbird.store.sqlite import SqliteStore
from tickbird.store.sqlite.dashboard import SqliteDashboard
from tickbird.store.sqlite.runs import SqliteRuns
from tickbird.store.sqlite.schedules import SqliteSchedules


class LimitedSchedules(SqliteSchedules):
    """Refuses definitions that need more than the store has."""

    capabilities: Collection[str]

    async def change(self, namespace: str, name: str, command: Command, *, now: datetime | None = None) -> ChangeResult:
        check_fields(self.capabilities, command.stated_fields)
        return await super().change(namespace, name, command, now=now)


class LimitedRuns(SqliteRuns):
    """Refuses runs that need more than the store has."""

    capabilities: Collection[str]

    async def enqueue(
        self, namespace: str, runs: Sequence[NewRun], actor: str, *, now: datetime | None = None
    ) -> Sequence[int]:
        for run in runs:
            check_fields(self.capabilities, {"concurrency_key": run.concurrency_key})
        return await super().enqueue(namespace, runs, actor, now=now)


class CoreStore(SqliteStore):
    """A store on SQLite with the core and these capabilities."""

    def __init__(self, path_or_url: str, capabilities: Collection[str] = ()) -> None:
        super().__init__(path_or_url)
        schedules = LimitedSchedules(self._database, self._switch, SqliteDashboard(self._database))
        runs = LimitedRuns(self._database)
        schedules.capabilities = runs.capabilities = capabilities
        self.schedules, self.runs = schedules, runs
        for name in self.capabilities - set(capabilities):
            delattr(self, name)
