"""One change to many schedules: each in a transaction of its own, a few at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal, TypeVar

from tickbird.client.base import ClientBase
from tickbird.client.parameters import Note
from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError, StoreError
from tickbird.domain.planning.bulk import (
    MAX_COUNT,
    BulkFilter,
    BulkResult,
    BulkVerb,
    NotChanged,
    check_count,
    reason_not_changed,
    too_many,
)
from tickbird.domain.planning.changes import ChangeResult
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import to_seconds
from tickbird.wire.operations import operator
from tickbird.wire.parameters import Meta

F = TypeVar("F", bound=Callable[..., Any])
_MAX_PARALLEL: Final = 8
_PAGE: Final = 500


FilterState = Literal["active", "paused", "parked", "ended"]
Contains = Annotated[str, Meta(max_length=200, description="Schedules whose name, tag or target contains this text.")]
Tag = Annotated[str | None, Meta(max_length=200, description="Schedules with this tag.")]
InState = Annotated[FilterState | None, Meta(description="Schedules in this state.")]
Expected = Annotated[
    int | None,
    Meta(
        ge=0,
        le=2**31 - 1,
        description="How many schedules should match; refused if the number differs by more than a tenth.",
    ),
]


def _bulk(verb: str, summary: str) -> Callable[[F], F]:
    """Declare a change of many schedules; `filter` in the body selects them."""
    return operator.post(
        f"{verb}_all",
        f"/bulk/{verb}",
        summary,
        audit=verb,
        # A thousand changes can take minutes on a busy store.
        timeout=110,
        required=("expected",),
        keys={name: f"filter.{name}" for name in ("contains", "tag", "state")},
    )


class Bulk(ClientBase):
    """Changes of many schedules at once."""

    @_bulk("pause", "Pause many schedules")
    async def pause_all(
        self,
        *,
        actor: str,
        contains: Contains = "",
        tag: Tag = None,
        state: InState = None,
        expected: Expected = None,
        note: Note = "",
        until: datetime | None = None,
        cancel_runs: Annotated[bool, Meta(description="Also cancel their runs that have not started.")] = False,
    ) -> BulkResult:
        """Pause every matching schedule that is not paused; refused if their number is far from `expected`."""
        end = None if until is None else to_seconds(until)
        if until is not None and until <= await self._store.now():
            raise InvalidError(f"until: {until.isoformat()} is past;", field="until", hint="choose a later instant.")

        def command(schedule: Schedule) -> Command:
            revision = schedule.revision
            return Pause(actor=actor, revision=revision, note=note, until=end, cancel_runs=cancel_runs)

        return await self._change_all("pause", BulkFilter(contains=contains, tag=tag, state=state), expected, command)

    @_bulk("resume", "Resume many schedules")
    async def resume_all(
        self,
        *,
        actor: str,
        contains: Contains = "",
        tag: Tag = None,
        state: InState = None,
        expected: Expected = None,
        note: Note = "",
    ) -> BulkResult:
        """Resume all matching paused schedules, except those that were removed from code."""

        def command(schedule: Schedule) -> Command:
            return Resume(actor=actor, revision=schedule.revision, note=note)

        return await self._change_all("resume", BulkFilter(contains=contains, tag=tag, state=state), expected, command)

    @_bulk("trigger", "Trigger many schedules")
    async def trigger_all(
        self,
        *,
        actor: str,
        contains: Contains = "",
        tag: Tag = None,
        state: InState = None,
        expected: Expected = None,
    ) -> BulkResult:
        """Create a manual run of every matching schedule now, with its own payload."""

        def command(_: Schedule) -> Command:
            return Trigger(actor=actor)

        return await self._change_all("trigger", BulkFilter(contains=contains, tag=tag, state=state), expected, command)

    async def _change_all(
        self, verb: BulkVerb, which: BulkFilter, expected: int | None, command: Callable[[Schedule], Command]
    ) -> BulkResult:
        return await self.change_matches(verb, await self._matching(which), expected, command)

    async def change_matches(
        self,
        verb: BulkVerb,
        found: Sequence[Schedule],
        expected: int | None,
        command: Callable[[Schedule], Command],
    ) -> BulkResult:
        check_count(expected, len(found))
        if len(found) > MAX_COUNT:
            raise too_many()
        if verb != "trigger":
            await self._check_clock()
        reasons = {schedule.name: reason_not_changed(verb, schedule) for schedule in found}
        asked = [schedule for schedule in found if not reasons[schedule.name]]
        # Invalid arguments are refused before anything is changed.
        commands = {schedule.name: command(schedule) for schedule in asked}
        made, refused = await self._make(commands)
        reasons |= refused
        return BulkResult(
            verb=verb,
            matched=len(found),
            changed=[name for name in reasons if name in made],
            not_changed=[NotChanged(name, why) for name, why in reasons.items() if name not in made],
            runs={name: made[name].run_ids[0] for name in reasons if name in made and verb == "trigger"},
        )

    async def _make(self, commands: Mapping[str, Command]) -> tuple[Mapping[str, ChangeResult], Mapping[str, str]]:
        """Change schedules, a few at a time, until the store fails; returns the changes, and the errors by name."""
        made: dict[str, ChangeResult] = {}
        reasons: dict[str, str] = {}
        failed: list[StoreError] = []
        left = iter(commands.items())

        async def work() -> None:
            for name, command in left:
                if failed:
                    reasons[name] = "was not tried, since the store could not be used"
                    continue
                try:
                    made[name] = await self._store.schedules.change(self._namespace, name, command)
                except (ConflictError, NotFoundError, InvalidError) as error:
                    reasons[name] = str(error)
                except StoreError as error:
                    failed.append(error)
                    reasons[name] = "the store did not answer: it may have been changed, or not"

        await asyncio.gather(*(work() for _ in range(_MAX_PARALLEL)))
        if failed and not made:
            raise failed[0]
        return made, reasons

    async def _matching(self, which: BulkFilter) -> Sequence[Schedule]:
        """The schedules that match, by name; of more than can be changed, one more."""
        found: list[Schedule] = []
        while len(found) <= MAX_COUNT:
            size = min(_PAGE, MAX_COUNT + 1 - len(found))
            after = found[-1].name if found else ""
            rows = await self._store.schedules.list(
                self._namespace, contains=which.contains, tag=which.tag, state=which.state, after=after, limit=size
            )
            found += [row.schedule for row in rows]
            if len(rows) < size:
                break
        return found
