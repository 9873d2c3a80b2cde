"""Schedules that a user selected on a page: by name, or by a filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tickbird.domain.dashboard_rows import ScheduleFilter
from tickbird.domain.errors import InvalidError
from tickbird.domain.planning.bulk import MAX_COUNT, BulkResult, BulkVerb, CommandFactory, NotChanged
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.text import check_text
from tickbird.web.dashboard_reads import DashboardReads

if TYPE_CHECKING:
    from tickbird.client import StoreClient
    from tickbird.files.document import Document

_PAGE: Final = 500
MAX_EXPORTED: Final = 10_000


@dataclass(frozen=True, slots=True)
class SelectedSchedules:
    """Existing schedules by name, at most one more than can be changed at once; and names that do not exist."""

    schedules: Sequence[Schedule]
    missing: Sequence[str] = ()


class ScheduleSelection:
    """The selected schedules, read at each use."""

    def __init__(self, client: StoreClient, which: Sequence[str] | ScheduleFilter) -> None:
        self._client = client
        self._which = which
        if not isinstance(which, ScheduleFilter):
            if len(which) > MAX_COUNT:
                raise InvalidError(f"names: at most {MAX_COUNT:,} schedules can be selected at once.", field="names")
            for name in which:
                check_text(name, "schedule")

    async def find(self, maximum: int = MAX_COUNT + 1) -> SelectedSchedules:
        schedules: list[Schedule] = []
        if isinstance(self._which, ScheduleFilter):
            board = DashboardReads(self._client)
            while len(schedules) < maximum:
                size = min(_PAGE, maximum - len(schedules))
                after = schedules[-1].name if schedules else ""
                rows = await board.schedules(self._which, after=after, limit=size)
                schedules += [row.schedule for row in rows]
                if len(rows) < size:
                    break
            return SelectedSchedules(schedules)
        missing: list[str] = []
        for name in sorted(set(self._which)):
            schedule = await DashboardReads(self._client).find(name)
            if schedule is None or schedule.state == "deleted":
                missing.append(name)
            else:
                schedules.append(schedule)
        return SelectedSchedules(schedules, missing)

    async def change(self, verb: BulkVerb, expected: int, command: CommandFactory) -> BulkResult:
        """Change the selected schedules to which the verb applies."""
        selected = await self.find()
        result = await self._client.schedules.change_matches(verb, selected.schedules, expected, command)
        missing = [NotChanged(name, "no longer exists") for name in selected.missing]
        return replace(result, not_changed=[*result.not_changed, *missing])

    async def document(self) -> Document:
        """A document of the readable schedules, without the overrides of operators."""
        from tickbird.files.document import DEFAULT_APP

        schedules = (await self.find(MAX_EXPORTED + 1)).schedules
        if len(schedules) > MAX_EXPORTED:
            raise InvalidError(
                f"filter: more than {MAX_EXPORTED:,} schedules match, and one file has at most that number.",
                field="filter",
                hint="Narrow it, or use `tickbird export --all`.",
            )
        owners = {schedule.app for schedule in schedules}
        app = next(iter(owners)) if len(owners) == 1 else None
        return await self._client.document(schedules, app or DEFAULT_APP)
