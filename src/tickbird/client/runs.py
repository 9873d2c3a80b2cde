"""Runs: enqueue, read, wait for, cancel and retry."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, TypeVar

from tickbird.client.base import ClientBase, page_size
from tickbird.client.parameters import (
    From,
    Note,
    OfSchedule,
    Payload,
    RunId,
    ScheduleName,
    Zone,
    no_such_run,
    nullable,
)
from tickbird.client.responses import new_run_response
from tickbird.domain.errors import ConflictError
from tickbird.domain.explain.context import RunContext, readable
from tickbird.domain.explain.explanation import Step, TimeFormatter
from tickbird.domain.explain.run_detail import RunDetail
from tickbird.domain.explain.run_history import RunHistory
from tickbird.domain.explain.why import copy_step
from tickbird.domain.limits.rate_limits import QueuePosition
from tickbird.domain.planning.changes import ChangeResult
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.runs.logs import LogLine, Progress, RunLogs
from tickbird.domain.runs.lost_runs import Decision, LostRun, Resolution
from tickbird.domain.runs.new_run import new_run, not_finished, retry_of
from tickbird.domain.runs.run import FINAL, AttemptRecord, RunRecord, Status
from tickbird.domain.schedules.definition import Target
from tickbird.domain.schedules.fields import POLICIES, Priority
from tickbird.domain.schedules.task_settings import FROM_TASK, FromTask
from tickbird.domain.time.durations import Duration, seconds
from tickbird.domain.time.zones import zone
from tickbird.wire.operations import ResponseValue, editor, operator, viewer
from tickbird.wire.parameters import Meta

# Seconds between two polls of a run that is waited for: the first pause and the longest.
_FIRST_POLL = 0.005
_MAX_PAUSE = 0.5
_LOG_PAGE = 1_000
# How many runs are read to find out whether all slots are busy.
_RUNNING = 1_000
F = TypeVar("F", bound=Callable[..., Any])
_LENGTH: Final = {"anyOf": [{"type": "integer"}, {"type": "string"}]}
_LENGTH_OR_NULL: Final = {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]}
# The domain validates it, as for a schedule.
_PRIORITY: Final = POLICIES["priority"]
RunPriority = Annotated[
    Priority | None, Meta(schema=nullable(_PRIORITY.kind.schema()), description=_PRIORITY.help_with_default)
]
Length = Annotated[Duration, Meta(schema=_LENGTH, description='Seconds, or a text such as "10m".')]


async def _load(client: Any, run_id: int) -> RunRecord:
    run: RunRecord = await client.runs.get(run_id)
    return run


def _part(key: str) -> Callable[[F], F]:
    """The declaration of a method that reads one part of a run's details."""
    return viewer.get("get_run", "/runs/{id}", "Get a run", keys={"run_id": "id"}, envelope=key, routed=False)


class Runs(ClientBase):
    """Runs, their attempts and logs."""

    @editor.post(
        "create_run",
        "/runs",
        "Enqueue a run of a task",
        **new_run_response(
            audit="enqueue",
            response=ResponseValue(RunRecord, _load, lambda run: run.id),
            defaults={"unknown_task_ok": True},
        ),
    )
    async def enqueue(
        self,
        task: str,
        payload: Payload = None,
        *,
        actor: str,
        at: From | None = None,
        delay: Length = 0,
        queue: Annotated[str | None, Meta(description="The queue (default: the task's).")] = None,
        priority: RunPriority = None,
        start_within: Annotated[
            Duration | None,
            Meta(schema=_LENGTH_OR_NULL, description="Cancel the run if it has not started within this time."),
        ] = None,
        crash_limit: Annotated[
            int | None,
            Meta(
                description="How often to try again after a worker was lost (default: by the task's on_crash). "
                "Negative: as often, but only after the answer that the run had no effect."
            ),
        ] = None,
        idempotency_key: str | None = None,
        concurrency_key: Annotated[
            str | FromTask | None,
            Meta(schema=nullable({"type": "string"}), description="The concurrency key (default: the task's)."),
        ] = FROM_TASK,
        unknown_task_ok: Annotated[bool, Meta(description="If false, 404 if no live worker knows the task.")] = False,
    ) -> int:
        """Create a run without a schedule, now or later; returns its id. The same key again gives the same id.

        A setting that is not given is the task's; `concurrency_key=None` means that the run has none.
        """
        checked, settings = await self._checked(Target(task), payload or {}, unknown_task_ok=unknown_task_ok)
        run = new_run(
            task,
            checked,
            at=at,
            delay=delay,
            queue=queue,
            priority=priority,
            start_within=start_within,
            crash_limit=crash_limit,
            idempotency_key=idempotency_key,
            concurrency_key=concurrency_key,
            settings=settings,
        )
        return (await self._store.runs.enqueue(self._namespace, [run], actor))[0]

    @viewer.get("list_runs", "/runs", "List runs", page=lambda run: run.id)
    async def list(
        self,
        *,
        schedule: OfSchedule = None,
        status: Annotated[Status | None, Meta(description="Only runs in this status.")] = None,
        before: int | None = None,
        limit: int = 100,
    ) -> Sequence[RunRecord]:
        """List the runs of a namespace, newest first, including those of deleted schedules."""
        if schedule is not None:
            await self._find(schedule)
        return await self._store.runs.list(
            self._namespace, schedule=schedule, status=status, before=before, limit=limit
        )

    @viewer.get("list_active_runs", "/schedules/{name}/active-runs", "List the active runs of a schedule")
    async def list_active(self, name: ScheduleName) -> Sequence[RunRecord]:
        """List the runs of a schedule that are waiting, queued or running, oldest first; also of a deleted schedule."""
        return await self._store.runs.list_active((await self._find(name)).id)

    @viewer.get("get_run", "/runs/{id}", "Get a run", keys={"run_id": "id"}, waits=True)
    async def detail(self, run_id: RunId, *, tz: Zone = None) -> RunDetail:
        """Get a run with its failed and lost attempts, progress, position in the queue, and the reasons why it waits.

        With `wait`, wait at most that long for the run to end.
        """
        return RunDetail(
            await self.get(run_id),
            await self.list_attempts(run_id),
            await self.progress(run_id),
            await self.queue_position(run_id),
            await self.waiting_for(run_id, tz=tz),
        )

    @_part("run")
    async def get(self, run_id: RunId) -> RunRecord:
        """A run by id."""
        run = await self._store.runs.get(run_id) if 0 < run_id < 2**63 else None
        if run is None or run.namespace != self._namespace:
            raise no_such_run(run_id)
        return run

    async def wait(self, run_id: int, *, timeout: Duration | None = None) -> RunRecord:
        """Wait until a run is final; NotFinishedError after `timeout`. The run itself continues."""
        import asyncio

        patience = None if timeout is None else float(seconds(timeout, "timeout"))
        began, pause = time.monotonic(), _FIRST_POLL
        # A poll reads one row by its key. A notification would cost every run that ends a message.
        while (run := await self.get(run_id)).status not in FINAL:
            left = pause if patience is None else began + patience - time.monotonic()
            if left <= 0:
                raise not_finished(run, patience or 0)
            await asyncio.sleep(min(pause, left))
            pause = min(pause * 1.5, _MAX_PAUSE)
        return run

    @_part("attempts")
    async def list_attempts(self, run_id: RunId) -> Sequence[AttemptRecord]:
        """The attempts of a run that failed or were lost."""
        return await self._store.runs.list_attempts((await self.get(run_id)).id)

    async def logs(self, run_id: int, *, after: tuple[int, int] = (0, 0), limit: int = 1_000) -> Sequence[LogLine]:
        """The log lines of a run after an attempt and line number, in order; also while it runs."""
        return (await self.read_logs(run_id, after=after, limit=limit)).lines

    async def read_logs(self, run_id: int, *, after: tuple[int, int] = (0, 0), limit: int = 1_000) -> RunLogs:
        """The log lines and the status of the run; after a final status, no more lines follow."""
        run = await self.get(run_id)
        return RunLogs(run.status, await self._store.logs.read(run_id, after=after, limit=page_size(limit)))

    async def follow_logs(self, run_id: int, *, after: tuple[int, int] = (0, 0)) -> AsyncIterator[LogLine]:
        """Log lines of a run after an attempt and line number, as they arrive, until the run is final."""
        import asyncio

        while True:
            logs = await self.read_logs(run_id, after=after, limit=_LOG_PAGE)
            for line in logs.lines:
                yield line
                after = line.attempt, line.number
            if len(logs.lines) < _LOG_PAGE:
                if logs.status in FINAL:
                    return
                await asyncio.sleep(_MAX_PAUSE)

    @_part("progress")
    async def progress(self, run_id: RunId) -> Progress | None:
        """The progress that a run reported last; None if it has reported none."""
        await self.get(run_id)
        return await self._store.logs.read_progress(run_id)

    @_part("queue_position")
    async def queue_position(self, run_id: RunId) -> QueuePosition | None:
        """Get what delays a queued run in its queue: a rate limit, or the runs before it; null if nothing does."""
        return await self._find_position((await self.get(run_id)).id)

    @_part("waiting_for")
    async def waiting_for(self, run_id: RunId, *, tz: Zone = None) -> Sequence[Step]:
        """The reasons why a run has not started, as `why` shows them; empty if a worker should claim it now."""
        run, store, namespace = await self.get(run_id), self._store, self._namespace
        if run.status not in ("waiting", "queued"):
            return []
        now, workers = await store.workers.snapshot(namespace)
        around, definition = RunContext(now=now, workers=workers), None
        if run.schedule_id is not None and run.revision is not None:
            for revision in await store.schedules.list_revisions(run.schedule_id, before=run.revision + 1, limit=1):
                definition = readable(revision)
            around = replace(around, active=await store.runs.list_active(run.schedule_id))
        if run.waiting_for_dependency and definition is not None:
            names = {dependency.schedule for dependency in definition.depends_on}
            successes = await store.schedules.last_successes(namespace, names)
            around = replace(around, successes=successes, shadows=await self._shadows(successes))
        if run.status == "queued":
            running = await store.runs.list(namespace, status="running", limit=_RUNNING)
            lost = await store.workers.list_lost(namespace)
            around = replace(around, turn=await self._find_position(run_id), running=running, lost=lost)
        elif run.concurrency_key is not None:
            limit = next(iter(await store.limits.list(namespace, key=run.concurrency_key)), None)
            around = replace(around, limit=limit, holders=await store.limits.list_runs(namespace, run.concurrency_key))
        shown = tz or (definition.trigger.tz if definition is not None else None) or "UTC"
        steps = list(RunHistory(run, definition, around, TimeFormatter(zone(shown).name)).waiting_for())
        copy_reason = (await store.identity.read()).copy_reason
        return [*steps, copy_step(copy_reason)] if copy_reason else steps

    @viewer.get(
        "list_undecided_runs", "/undecided-runs", "List the runs that wait for an answer", page=lambda lost: lost.run_id
    )
    async def list_undecided(self, *, before: int | None = None, limit: int = 100) -> Sequence[LostRun]:
        """List the runs of lost workers that wait for the answer whether they had their effect, newest first."""
        return await self._store.lost_runs.list(self._namespace, before=before, limit=limit)

    @viewer.get("get_run_loss", "/runs/{id}/loss", "Get the last loss of a run", keys={"run_id": "id"})
    async def loss(self, run_id: RunId) -> LostRun | None:
        """Get the last attempt of a run that lost its worker, and the answer whether it had its effect.

        It is null if the run was never asked about.
        """
        return await self._store.lost_runs.get((await self.get(run_id)).id)

    @operator.post("resolve_run", "/runs/{id}/resolve", "Answer for a lost run", keys={"run_id": "id"}, audit="resolve")
    async def resolve(
        self,
        run_id: RunId,
        effect: Annotated[Decision, Meta(description="yes: it has succeeded; no: it gets another attempt.")],
        *,
        actor: str,
        note: Note = "",
    ) -> RunRecord:
        """Answer whether the lost attempt of a run had its effect; 409 if the run waits for no answer.

        After "no", the run fails if it has lost too many workers.
        """
        await self.get(run_id)
        await self._store.lost_runs.resolve(run_id, Resolution(actor=actor, effect=effect, note=note))
        return await self.get(run_id)

    @operator.post("cancel_run", "/runs/{id}/cancel", "Cancel a run", keys={"run_id": "id"}, audit="cancel")
    async def cancel(
        self,
        run_id: RunId,
        *,
        actor: str,
        reason: Annotated[str, Meta(max_length=2_000, description="Shown with the run.")] = "",
    ) -> RunRecord:
        """Cancel a run that has not started, or ask a running one to stop; 409 if it is final."""
        await self.get(run_id)
        return await self._store.runs.cancel(run_id, actor, reason=reason)

    @operator.post(
        "retry_run", "/runs/{id}/retry", "Retry a run", **new_run_response(audit="retry", keys={"run_id": "id"})
    )
    async def retry(
        self, run_id: RunId, *, actor: str, payload: Payload = None, idempotency_key: str | None = None
    ) -> RunRecord:
        """Create a run with the target, payload and policies of a final run, even if its schedule has changed since.

        Another payload may be given. The same key again gives the same run. 409 if that run is not final.
        """
        run, key = await self.get(run_id), idempotency_key
        if run.status not in FINAL:
            raise ConflictError(
                f"run {run_id} is {run.status}. Only a run that has ended can be retried.",
                hint="Wait until it ends, or cancel it with `tickbird cancel`.",
            )
        sent = (
            run.payload if payload is None else await self._checked_payload(run.target, payload, unknown_task_ok=True)
        )
        if run.schedule is not None and run.schedule_id is not None:
            command = Trigger(actor=actor, payload=sent, retry_of=run_id, idempotency_key=key)
            retry = created_run(await self._change(run.schedule, command))
        else:
            new = retry_of(run, sent, key)
            retry = await self.get((await self._store.runs.enqueue(self._namespace, [new], actor))[0])
        if retry.retry_of != run_id:
            raise ConflictError(
                f"idempotency key {key!r} belongs to run {retry.id}, which is not a retry of run {run_id}.",
                hint="Use another key.",
            )
        return retry


def created_run(changed: ChangeResult) -> RunRecord:
    assert changed.run is not None
    return changed.run
