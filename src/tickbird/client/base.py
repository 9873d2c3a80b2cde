"""The base of all nouns of the client: reads and changes that several nouns share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

from tickbird.domain.access.tokens import Role, allows
from tickbird.domain.calendars.definition import CalendarRecord
from tickbird.domain.errors import AccessError, ConflictError, InvalidError, NotFoundError
from tickbird.domain.limits.rate_limits import QueuePosition, RateLimit
from tickbird.domain.planning.changes import ChangeResult
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.schedules.definition import Target, check_payload
from tickbird.domain.schedules.payload_schema import check_by_schema
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.schedules.task_settings import find_published, read_settings
from tickbird.domain.targets.registry import find_kind
from tickbird.domain.text import check_name, check_text
from tickbird.domain.workers import find_clock_alarm
from tickbird.store.protocol.store import Store

N = TypeVar("N", bound="ClientBase")
Validate = Callable[[Mapping[str, Any]], Mapping[str, Any]]
# The settings of a task, as a definition takes them.
Settings = Mapping[str, Any]
# Rows that are read at a time, and names that are searched for one similar to an unknown name.
_PAGE = 1_000
_REVISION_PAGE = 500


class ClientBase:
    """A store and a namespace."""

    def __init__(
        self,
        store: Store,
        namespace: str = "default",
        validators: Mapping[str, Validate] | None = None,
        settings: Mapping[str, Settings] | None = None,
    ) -> None:
        self._store = store
        self._namespace = check_name(namespace, "namespace")
        # Of the tasks of this process.
        self._validators = validators or {}
        self._settings = settings or {}

    def _noun(self, kind: type[N]) -> N:
        return kind(self._store, self._namespace, self._validators, self._settings)

    async def _get(self, name: str) -> Schedule:
        schedule = await self._find(name)
        if schedule.state == "deleted":
            raise await self._no_such_schedule(name)
        return schedule

    async def _shadows(self, names: Iterable[str]) -> frozenset[str]:
        schedules = [await self._store.schedules.get(self._namespace, name) for name in sorted(names)]
        return frozenset(row.name for row in schedules if row and row.definition and row.definition.shadow)

    async def _find(self, name: str) -> Schedule:
        """A schedule by name, even if it is deleted. Plain SQL can store names that `check_name` refuses."""
        schedule = await self._store.schedules.get(self._namespace, check_text(name, "schedule"))
        if schedule is None:
            raise await self._no_such_schedule(name)
        return schedule

    async def _no_such_schedule(self, name: str) -> NotFoundError:
        rows = await self._store.schedules.list(self._namespace, limit=_PAGE)
        close = get_close_matches(name, [row.schedule.name for row in rows], 3)
        hint = f"Did you mean {' or '.join(close)}?" if close else "`tickbird ls` lists the schedules."
        where = "" if self._namespace == "default" else f" in namespace {self._namespace!r}"
        return NotFoundError(f"there is no schedule {name[:200]!r}{where}.", hint=hint)

    async def _stored_calendars(self) -> Sequence[CalendarRecord]:
        return await self._store.calendars.list(self._namespace) if "calendars" in self._store.capabilities else ()

    async def _all_schedules(self) -> list[Schedule]:
        """Read all schedules, sorted by name."""
        schedules: list[Schedule] = []
        while rows := await self._store.schedules.list(
            self._namespace, after=schedules[-1].name if schedules else "", limit=_PAGE
        ):
            schedules += [row.schedule for row in rows]
        return schedules

    async def _schedules_with_calendar(self, calendar: str) -> AsyncGenerator[Schedule]:
        after = ""
        while page := await self._store.calendars.list_schedules(self._namespace, calendar, after=after, limit=_PAGE):
            for schedule in page:
                yield schedule
            after = page[-1].name

    async def _limits(self) -> dict[str, int]:
        """Explicit limits by concurrency key."""
        limits = await self._store.limits.list(self._namespace) if "limits" in self._store.capabilities else ()
        return {limit.key: limit.max_running for limit in limits if limit.is_explicit}

    async def _rates(self) -> dict[str, RateLimit]:
        queues = await self._store.queues.list(self._namespace) if "queues" in self._store.capabilities else ()
        return {queue.name: queue.rate for queue in queues if queue.rate is not None}

    async def _find_position(self, run_id: int) -> QueuePosition | None:
        """The reason why a queued run is delayed in its queue, or None."""
        return await self._store.queues.find_position(run_id) if "queues" in self._store.capabilities else None

    async def _change(self, name: str, command: Command) -> ChangeResult:
        if not isinstance(command, Trigger):
            await self._check_clock()
        try:
            return await self._store.schedules.change(self._namespace, check_text(name, "schedule"), command)
        except NotFoundError:
            # Raises the error with similar names.
            await self._get(name)
            raise

    async def _declared(self, schedule: Schedule) -> Mapping[str, Any]:
        """The last definition from code or a file, without the overrides of operators."""
        async for revision in self._all_revisions(schedule):
            if revision.action in ("create", "sync"):
                declared = revision.detail.get("declared", revision.definition)
                assert isinstance(declared, Mapping)
                return declared
        return {}

    async def _all_revisions(self, schedule: Schedule) -> AsyncGenerator[RevisionRecord]:
        """Yield all stored revisions, newest first."""
        before: int | None = None
        while page := await self._store.schedules.list_revisions(schedule.id, before=before, limit=_REVISION_PAGE):
            for revision in page:
                yield revision
            before = page[-1].revision

    async def _check_clock(self) -> None:
        """Raise ConflictError if a worker reports a clock jump, because decisions about ticks cannot be undone."""
        workers = await self._store.workers.list(self._namespace)
        if not any(worker.standby_reason for worker in workers):
            return
        if (worker := find_clock_alarm(workers, await self._store.now())) is not None:
            raise ConflictError(
                f"no change is possible now: worker {worker.id} {worker.standby_reason}.",
                hint="Correct the clock of the store, or wait five minutes: workers then accept it.",
            )

    async def _check_role(self, name: str, target: Target | None, granted: Role | None) -> None:
        """Raise AccessError for a target that needs a higher role, unless the schedule already has it."""
        kind = None if target is None else find_kind(target.kind)
        if target is None or kind is None or granted is None or allows(granted, kind.role):
            return
        stored = await self._store.schedules.get(self._namespace, check_text(name, "schedule"))
        definition = None if stored is None or stored.state == "deleted" else stored.definition
        if definition is None or definition.target != target:
            raise AccessError(
                f"target: a {target.kind} needs the role {kind.role}, but this token has the role {granted}.",
                field="target",
                hint="Use another token, or define it in code or in a file.",
            )

    def _own_payload(self, target: Target | None, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """The payload, validated by the task if this process has it."""
        own = self._validators.get(target.name) if target is not None and target.kind == "task" else None
        if own is not None:
            return own(payload)
        check_payload(payload)
        return payload

    async def _payload_for(self, name: str, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        schedule = await self._get(name)
        if schedule.definition is None:
            return payload
        return await self._checked_payload(schedule.definition.target, payload, unknown_task_ok=True)

    async def _checked_payload(
        self, target: Target, payload: Mapping[str, Any], *, unknown_task_ok: bool
    ) -> Mapping[str, Any]:
        """The payload to store, validated by the task or by the schema of a live worker."""
        return (await self._checked(target, payload, unknown_task_ok=unknown_task_ok))[0]

    async def _checked(
        self, target: Target, payload: Mapping[str, Any], *, unknown_task_ok: bool
    ) -> tuple[Mapping[str, Any], Settings]:
        """The payload to store, and the settings of the task; empty if no worker has the task."""
        if target.kind != "task":
            check_payload(payload)
            return payload, {}
        task = check_name(target.name, "task")
        if task in self._validators:
            return self._validators[task](payload), self._settings.get(task, {})
        published = find_published(await self._store.workers.list(self._namespace), task)
        # A payload may have a hundred thousand values, which are validated one by one.
        checked = await asyncio.to_thread(check_by_schema, task, payload, published, unknown_task_ok=unknown_task_ok)
        return checked, {} if published is None else read_settings(published)

    async def _task_settings(self, targets: Iterable[Target]) -> dict[str, Settings]:
        """Settings by task, without tasks that neither this process nor a live worker has."""
        names = {target.name for target in targets if target.kind == "task"}
        settings = {name: self._settings[name] for name in names if name in self._settings}
        if len(settings) < len(names):
            workers = await self._store.workers.list(self._namespace)
            for name in names - settings.keys():
                if (published := find_published(workers, name)) is not None:
                    settings[name] = read_settings(published)
        return settings


def page_size(limit: int) -> int:
    if not 1 <= limit <= 10_000:
        raise InvalidError("limit must be from 1 to 10000.", field="limit")
    return limit
