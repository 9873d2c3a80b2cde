"""Runs: made by hand or ad hoc, looked at, waited for, cancelled, retried."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, get_args

from tickbird.client.base import ClientBase, check_choice, page_size
from tickbird.client.payloads import new_run
from tickbird.domain.errors import ConflictError, NotFinishedError, NotFoundError
from tickbird.domain.explain.context import RunContext, readable
from tickbird.domain.explain.explanation import Step, TimeFormatter
from tickbird.domain.explain.run_history import RunHistory as Course
from tickbird.domain.explain.why import copy_step
from tickbird.domain.limits.rate_limits import QueuePosition
from tickbird.domain.planning.changes import ChangeResult
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.runs.idempotency import check_key
from tickbird.domain.runs.logs import LogLine, Progress, RunLogs
from tickbird.domain.runs.run import FINAL, AttemptRecord, NewRun, RunRecord, Status
from tickbird.domain.schedules.definition import Target
from tickbird.domain.schedules.task_settings import FROM_TASK, FromTask
from tickbird.domain.text import check_text
from tickbird.domain.time.durations import Duration, duration_text, seconds
from tickbird.domain.time.zones import zone

# How soon a run that is waited for is looked at again, and how rarely in the end.
_FIRST_POLL = 0.005
_MAX_PAUSE = 0.5
_LOG_PAGE = 1_000
# So many runs are looked at for whether all slots are busy.
_RUNNING = 1_000


class Runs(ClientBase):
    """The verbs about runs."""

    async def trigger(
        self,
        name: str,
        *,
        actor: str,
        payload: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        wait: Duration | None = None,
        revision: int | None = None,
    ) -> RunRecord:
        """One manual run now; the schedule's own ticks are not touched. The same key again gives the same run.

        With `wait`, the run once it has come to its end, if it does within so long.
        """
        if wait is not None:
            seconds(wait, "wait")
        if payload is not None:
            payload = await self._payload_for(name, payload)
        key = None if idempotency_key is None else check_key(idempotency_key)
        command = Trigger(actor=actor, payload=payload, idempotency_key=key, revision=revision)
        run = _created_run(await self._change(name, command))
        return run if wait is None else await self.wait(run.id, timeout=wait)

    async def enqueue(
        self,
        task: str,
        payload: Mapping[str, Any] | None = None,
        *,
        actor: str,
        at: datetime | None = None,
        delay: Duration = 0,
        queue: str | None = None,
        priority: int | None = None,
        start_within: Duration | None = None,
        crash_limit: int | None = None,
        idempotency_key: str | None = None,
        concurrency_key: str | FromTask | None = FROM_TASK,
        unknown_task_ok: bool = False,
    ) -> int:
        """A run without a schedule, now or later; returns its id. The same key again gives the id of the same run.

        A setting that is not given is the task's; `concurrency_key=None` is no key.
        """
        check_text(actor, "actor", minimum=1, maximum=200)
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

    async def runs(
        self,
        *,
        schedule: str | None = None,
        status: Status | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> Sequence[RunRecord]:
        """Runs, newest first, a page at a time: `before` is the last id of the page before."""
        if schedule is not None:
            await self._find(schedule)
        if status is not None:
            check_choice(status, "status", get_args(Status))
        return await self._store.runs.list(
            self._namespace, schedule=schedule, status=status, before=before, limit=page_size(limit)
        )

    async def active_runs(self, name: str) -> Sequence[RunRecord]:
        """The runs of a schedule that are not final, oldest first."""
        return await self._store.runs.list_active((await self._find(name)).id)

    async def run(self, run_id: int) -> RunRecord:
        """A run by id."""
        run = await self._store.runs.get(run_id) if 0 < run_id < 2**63 else None
        if run is None or run.namespace != self._namespace:
            raise NotFoundError(f"there is no run {run_id};", hint="`tickbird runs` shows the newest.")
        return run

    async def wait(self, run_id: int, *, timeout: Duration | None = None) -> RunRecord:
        """A run once it has come to its end; NotFinishedError if it has not within so long. The run goes on."""
        import asyncio

        patience = None if timeout is None else float(seconds(timeout, "timeout"))
        began, pause = time.monotonic(), _FIRST_POLL
        # A look is one row by its key. To be told would cost every run that ends a message, waited for or not.
        while (run := await self.run(run_id)).status not in FINAL:
            left = pause if patience is None else began + patience - time.monotonic()
            if left <= 0:
                raise not_finished(run, patience or 0)
            await asyncio.sleep(min(pause, left))
            pause = min(pause * 1.5, _MAX_PAUSE)
        return run

    async def attempts(self, run_id: int) -> Sequence[AttemptRecord]:
        """The attempts of a run that did not end it well."""
        return await self._store.runs.list_attempts((await self.run(run_id)).id)

    async def logs(self, run_id: int, *, after: tuple[int, int] = (0, 0), limit: int = 1_000) -> Sequence[LogLine]:
        """What a run has said so far, in order, behind this attempt and number; also while it runs."""
        return (await self.read_logs(run_id, after=after, limit=limit)).lines

    async def read_logs(self, run_id: int, *, after: tuple[int, int] = (0, 0), limit: int = 1_000) -> RunLogs:
        """The same, and how the run stands: once it is final, there is no more to come."""
        run = await self.run(run_id)
        return RunLogs(run.status, await self._store.logs.read(run_id, after=after, limit=page_size(limit)))

    async def follow_logs(self, run_id: int, *, after: tuple[int, int] = (0, 0)) -> AsyncIterator[LogLine]:
        """Each line of a run behind this attempt and number, as it comes, until the run has come to its end."""
        import asyncio

        while True:
            found = await self.read_logs(run_id, after=after, limit=_LOG_PAGE)
            for line in found.lines:
                yield line
                after = line.attempt, line.number
            if len(found.lines) < _LOG_PAGE:
                if found.status in FINAL:
                    return
                await asyncio.sleep(_MAX_PAUSE)

    async def progress(self, run_id: int) -> Progress | None:
        """How far a run said that it was, last; None when it has said nothing."""
        await self.run(run_id)
        return await self._store.logs.read_progress(run_id)

    async def queue_position(self, run_id: int) -> QueuePosition | None:
        """What keeps a queued run back in its queue: a rate, or others that may pass it; None where nothing does."""
        return await self._store.queues.find_position((await self.run(run_id)).id)

    async def waiting_for(self, run_id: int, *, tz: str | None = None) -> Sequence[Step]:
        """What keeps a run that has not begun from it, as `why` tells it; nothing where a worker should take it now."""
        run, store, namespace = await self.run(run_id), self._store, self._namespace
        if run.status not in ("waiting", "queued"):
            return []
        around, definition = RunContext(now=await store.now(), workers=await store.workers.list(namespace)), None
        if run.schedule_id is not None and run.revision is not None:
            for revision in await store.schedules.list_revisions(run.schedule_id, before=run.revision + 1, limit=1):
                definition = readable(revision)
            around = replace(around, active=await store.runs.list_active(run.schedule_id))
        if run.waiting_for_dependency and definition is not None:
            names = {each.schedule for each in definition.depends_on}
            successes = await store.schedules.last_successes(namespace, names)
            around = replace(around, successes=successes, shadows=await self._shadows(successes))
        if run.status == "queued":
            running = await store.runs.list(namespace, status="running", limit=_RUNNING)
            around = replace(around, turn=await store.queues.find_position(run_id), running=running)
        elif run.concurrency_key is not None:
            limit = next(iter(await store.limits.list(namespace, key=run.concurrency_key)), None)
            around = replace(around, limit=limit, holders=await store.limits.list_runs(namespace, run.concurrency_key))
        shown = tz or (definition.trigger.tz if definition is not None else None) or "UTC"
        steps = list(Course(run, definition, around, TimeFormatter(zone(shown).name)).waiting_for())
        copy_reason = (await store.identity.read()).copy_reason
        return [*steps, copy_step(copy_reason)] if copy_reason else steps

    async def cancel(self, run_id: int, *, actor: str, reason: str = "") -> RunRecord:
        """Cancel a run that has not started, or ask a running one to stop."""
        await self.run(run_id)
        check_text(actor, "actor", minimum=1, maximum=200)
        return await self._store.runs.cancel(run_id, actor, reason=check_text(reason, "reason"))

    async def retry(
        self,
        run_id: int,
        *,
        actor: str,
        payload: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> RunRecord:
        """A new run with the target, payload and policies of a final run, whatever its schedule is by now.

        Another payload may be given. The same key again gives the same run.
        """
        run, key = await self.run(run_id), None if idempotency_key is None else check_key(idempotency_key)
        if run.status not in FINAL:
            raise ConflictError(f"run {run_id} is {run.status}; only a final run can be retried.")
        sent = (
            run.payload if payload is None else await self._checked_payload(run.target, payload, unknown_task_ok=True)
        )
        if run.schedule is not None and run.schedule_id is not None:
            command = Trigger(actor=actor, payload=sent, retry_of=run_id, idempotency_key=key)
            made = _created_run(await self._change(run.schedule, command))
        else:
            new = NewRun(
                run.target,
                sent,
                run.queue,
                run.priority,
                start_within=None if run.start_by is None else round((run.start_by - run.due_at).total_seconds()),
                retry_of=run_id,
                idempotency_key=key,
                concurrency_key=run.concurrency_key,
            )
            made = await self.run((await self._store.runs.enqueue(self._namespace, [new], actor))[0])
        if made.retry_of != run_id:
            raise ConflictError(
                f"idempotency key {key!r} stands for run {made.id}, which does not repeat run {run_id};",
                hint="give each request a key of its own.",
            )
        return made


def not_finished(run: RunRecord, waited: float) -> NotFinishedError:
    """The error for a run that was waited for so many seconds."""
    return NotFinishedError(
        f"run {run.id} is {run.status} after {duration_text(waited)} of waiting, and goes on;",
        hint=f"wait again, or look at it with `tickbird runs {run.id}`.",
    )


def _created_run(changed: ChangeResult) -> RunRecord:
    assert changed.run is not None
    return changed.run
