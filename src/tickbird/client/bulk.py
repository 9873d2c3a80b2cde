"""One change to many schedules: each in its own transaction, a few at a time."""

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
    BulkResult,
    BulkVerb,
    CommandFactory,
    NotChanged,
    check_count,
    pause_command,
    reason_not_changed,
    resume_command,
    too_many,
    trigger_command,
)
from tickbird.domain.planning.changes import ChangeResult
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.schedules.schedule import Schedule
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
        command = pause_command(actor=actor, note=note, until=until, cancel_runs=cancel_runs)
        if until is not None and until <= await self._store.now():
            raise InvalidError(
                f"until: {until.isoformat()} is in the past.", field="until", hint="Choose a later instant."
            )
        matches = await self._matching(contains, tag, state)
        return await self.change_matches("pause", matches, expected, command)

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
        """Resume all matching paused schedules, except schedules that were removed from code."""
        matches = await self._matching(contains, tag, state)
        return await self.change_matches("resume", matches, expected, resume_command(actor=actor, note=note))

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
        matches = await self._matching(contains, tag, state)
        return await self.change_matches("trigger", matches, expected, trigger_command(actor=actor))

    async def change_matches(
        self, verb: BulkVerb, matches: Sequence[Schedule], expected: int | None, command: CommandFactory
    ) -> BulkResult:
        check_count(expected, len(matches))
        if len(matches) > MAX_COUNT:
            raise too_many()
        if verb != "trigger":
            await self._check_clock()
        reasons = {schedule.name: reason_not_changed(verb, schedule) for schedule in matches}
        # All commands are created first: invalid arguments change nothing.
        commands = {schedule.name: command(schedule) for schedule in matches if not reasons[schedule.name]}
        changes, errors = await self._change_batch(commands)
        reasons |= errors
        return BulkResult(
            verb=verb,
            matched=len(matches),
            changed=[name for name in reasons if name in changes],
            not_changed=[NotChanged(name, reason) for name, reason in reasons.items() if name not in changes],
            runs={name: changes[name].run_ids[0] for name in reasons if name in changes and verb == "trigger"},
        )

    async def _change_batch(
        self, commands: Mapping[str, Command]
    ) -> tuple[Mapping[str, ChangeResult], Mapping[str, str]]:
        """Change schedules, a few in parallel, until the store fails; returns changes and errors by name."""
        changes: dict[str, ChangeResult] = {}
        reasons: dict[str, str] = {}
        failed: list[StoreError] = []
        remaining = iter(commands.items())

        async def work() -> None:
            for name, command in remaining:
                if failed:
                    reasons[name] = "was not tried, because the store failed"
                    continue
                try:
                    changes[name] = await self._store.schedules.change(self._namespace, name, command)
                except (ConflictError, NotFoundError, InvalidError) as error:
                    reasons[name] = str(error)
                except StoreError as error:
                    failed.append(error)
                    reasons[name] = "the store did not respond: the change may or may not have been made"

        await asyncio.gather(*(work() for _ in range(_MAX_PARALLEL)))
        if failed and not changes:
            raise failed[0]
        return changes, reasons

    async def _matching(self, contains: str, tag: str | None, state: FilterState | None) -> Sequence[Schedule]:
        """Read the matching schedules, sorted by name; at most one more than can be changed at once."""
        matches: list[Schedule] = []
        while len(matches) <= MAX_COUNT:
            size = min(_PAGE, MAX_COUNT + 1 - len(matches))
            after = matches[-1].name if matches else ""
            rows = await self._store.schedules.list(
                self._namespace, contains=contains, tag=tag, state=state, after=after, limit=size
            )
            matches += [row.schedule for row in rows]
            if len(rows) < size:
                break
        return matches
