"""Schedules that a person chose on a page: some by their names, or all that a filter finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from tickbird.domain.dashboard_rows import ScheduleFilter
from tickbird.domain.errors import InvalidError
from tickbird.domain.planning.bulk import MAX_COUNT, BulkResult, BulkVerb, NotChanged
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.text import check_text
from tickbird.domain.time.instants import to_seconds

if TYPE_CHECKING:
    from tickbird.client import StoreClient
    from tickbird.files.document import Document

_PAGE: Final = 500
# A file takes more than can be changed at once.
MAX_EXPORTED: Final = 10_000


@dataclass(frozen=True, slots=True)
class SelectedSchedules:
    """Those that there are, by name, at most one more than can be changed at once; and names that nothing has."""

    schedules: Sequence[Schedule]
    missing: Sequence[str] = ()


class ScheduleSelection:
    """No verbs of the client, since over HTTP one names a filter of its own."""

    def __init__(self, client: StoreClient, which: Sequence[str] | ScheduleFilter) -> None:
        self._client = client
        self._which = which
        if not isinstance(which, ScheduleFilter):
            if len(which) > MAX_COUNT:
                raise InvalidError(f"names: at most {MAX_COUNT:,} schedules are chosen at once.", field="names")
            for name in which:
                check_text(name, "schedule")

    async def find(self, maximum: int = MAX_COUNT + 1) -> SelectedSchedules:
        """Which they are now."""
        found: list[Schedule] = []
        if isinstance(self._which, ScheduleFilter):
            board = self._client.board
            while len(found) < maximum:
                size = min(_PAGE, maximum - len(found))
                after = found[-1].name if found else ""
                rows = await board.schedules(self._which, after=after, limit=size)
                found += [row.schedule for row in rows]
                if len(rows) < size:
                    break
            return SelectedSchedules(found)
        missing: list[str] = []
        for name in sorted(set(self._which)):
            schedule = await self._client.board.find(name)
            if schedule is None or schedule.state == "deleted":
                missing.append(name)
            else:
                found.append(schedule)
        return SelectedSchedules(found, missing)

    async def pause(
        self, *, actor: str, expected: int, note: str, until: datetime | None = None, cancel_runs: bool = False
    ) -> BulkResult:
        """Pause those that are not paused."""
        end = None if until is None else to_seconds(until)

        def command(schedule: Schedule) -> Command:
            revision = schedule.revision
            return Pause(actor=actor, revision=revision, note=note, until=end, cancel_runs=cancel_runs)

        return await self._change("pause", expected, command)

    async def resume(self, *, actor: str, expected: int, note: str = "") -> BulkResult:
        """Resume those that are paused, but not those that code no longer has."""
        return await self._change(
            "resume", expected, lambda each: Resume(actor=actor, revision=each.revision, note=note)
        )

    async def trigger(self, *, actor: str, expected: int, key: Callable[[str], str | None]) -> BulkResult:
        """One manual run of each, with its own payload; `key` says what stands for the one of a name."""
        return await self._change(
            "trigger", expected, lambda each: Trigger(actor=actor, idempotency_key=key(each.name))
        )

    async def document(self) -> Document:
        """Those that can be read, as a file that can be applied; what operators have set over them is left out."""
        from tickbird.client.file_service import FileService
        from tickbird.files.document import DEFAULT_APP

        found = (await self.find(MAX_EXPORTED + 1)).schedules
        if len(found) > MAX_EXPORTED:
            raise InvalidError(
                f"filter: more than {MAX_EXPORTED:,} schedules match, and one file has at most that number.",
                field="filter",
                hint="Narrow it, or use `tickbird export --all`.",
            )
        owners = {schedule.app for schedule in found}
        app = next(iter(owners)) if len(owners) == 1 else None
        return await self._client._noun(FileService).document(found, app or DEFAULT_APP)

    async def _change(self, verb: BulkVerb, expected: int, command: Callable[[Schedule], Command]) -> BulkResult:
        found = await self.find()
        result = await self._client.schedules.change_matches(verb, found.schedules, expected, command)
        gone = [NotChanged(name, "is not there any more") for name in found.missing]
        return replace(result, not_changed=[*result.not_changed, *gone])
