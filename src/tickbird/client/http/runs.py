"""Runs over HTTP: made by hand or ad hoc, looked at, waited for, cancelled, retried."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args

from tickbird.client.base import check_choice, page_size
from tickbird.client.http.base import Query, Remote, instant_ceil, schedule_path, sent
from tickbird.client.http.transport import HttpRequest
from tickbird.client.runs import Runs, not_finished
from tickbird.domain.errors import NotFoundError, StoreUnavailableError
from tickbird.domain.explain.explanation import Step
from tickbird.domain.limits.rate_limits import QueuePosition
from tickbird.domain.runs.idempotency import check_key
from tickbird.domain.runs.logs import LogLine, Progress, RunLogs
from tickbird.domain.runs.run import FINAL, AttemptRecord, RunRecord, Status
from tickbird.domain.schedules.definition import Target
from tickbird.domain.schedules.task_settings import FROM_TASK, FromTask
from tickbird.domain.schedules.task_settings import crash_limit as declared_limit
from tickbird.domain.time.durations import Duration, seconds
from tickbird.domain.time.zones import zone
from tickbird.wire.decode.parts import Document, maybe
from tickbird.wire.decode.runs import read_attempt, read_log, read_progress, read_queue_position, read_run
from tickbird.wire.decode.ticks import read_step

# A run that is waited for is asked for anew after so many seconds, each of which the server waits.
_MAX_WAIT = 60
# So many lines a server gives at once.
_PAGE = 1_000
# Who follows a log comes back so often in a row, after so many seconds each.
_MAX_LOSSES = 5
_REST = 1.0


class RemoteRuns(Remote, Runs):
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
        key = None if idempotency_key is None else check_key(idempotency_key)
        body = {"payload": None if payload is None else sent(payload)}
        run = await self._post(f"{schedule_path(name)}/trigger", _created_run, body, key=key, revision=revision)
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
        key = None if idempotency_key is None else check_key(idempotency_key)
        own = self._settings.get(task, {})
        declared = {**own, "crash_limit": declared_limit(own)} if own else {}
        given = {"queue": queue, "priority": priority, "crash_limit": crash_limit}
        settings = declared | {name: value for name, value in given.items() if value is not None}
        if not isinstance(concurrency_key, FromTask):
            settings["concurrency_key"] = concurrency_key
        body = {
            "task": task,
            "payload": self._payload(Target(task), payload or {}),
            "at": instant_ceil(at),
            "delay": seconds(delay, "delay"),
            "start_within": None if start_within is None else seconds(start_within, "start_within"),
            "unknown_task_ok": unknown_task_ok or task in self._validators,
            # What is left out, the server takes from the task.
            **{name: settings.get(name) for name in (*given, "concurrency_key")},
            "none": ["concurrency_key"] if settings.get("concurrency_key", "") is None else None,
        }
        return (await self._post("/runs", _created_run, body, key=key)).id

    async def runs(
        self,
        *,
        schedule: str | None = None,
        status: Status | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> Sequence[RunRecord]:
        """Runs, newest first, a page at a time: `before` is the last id of the page before."""
        if status is not None:
            check_choice(status, "status", get_args(Status))
        return await self._pages("/runs", read_run, limit, before, {"schedule": schedule, "status": status})

    async def active_runs(self, name: str) -> Sequence[RunRecord]:
        """The runs of a schedule that are not final, oldest first."""
        path = f"{schedule_path(name)}/active-runs"
        return await self._fetch(path, lambda found: [*map(read_run, found["items"])])

    async def run(self, run_id: int) -> RunRecord:
        """A run by id."""
        return await self._fetch(_path(run_id), lambda found: read_run(found["run"]))

    async def wait(self, run_id: int, *, timeout: Duration | None = None) -> RunRecord:
        """A run once it has come to its end; NotFinishedError if it has not within so long. The run goes on."""
        patience = None if timeout is None else float(seconds(timeout, "timeout"))
        began, asked = time.monotonic(), 0
        while True:
            # At first without waiting: most often it has ended.
            query = {"wait": asked or None}
            run = await self._fetch(_path(run_id), lambda found: read_run(found["run"]), query, patience=asked)
            if run.status in FINAL:
                return run
            left = _MAX_WAIT if patience is None else began + patience - time.monotonic()
            if left <= 0:
                raise not_finished(run, patience or 0)
            asked = max(1, min(_MAX_WAIT, int(left)))

    async def attempts(self, run_id: int) -> Sequence[AttemptRecord]:
        """The attempts of a run that did not end it well."""
        return await self._fetch(_path(run_id), lambda found: [*map(read_attempt, found["attempts"])])

    async def logs(self, run_id: int, *, after: tuple[int, int] = (0, 0), limit: int = 1_000) -> Sequence[LogLine]:
        """What a run has said so far, in order, behind this attempt and number; also while it runs."""
        return (await self.read_logs(run_id, after=after, limit=limit)).lines

    async def read_logs(self, run_id: int, *, after: tuple[int, int] = (0, 0), limit: int = 1_000) -> RunLogs:
        """The same, and how the run stands: once it is final, there is no more to come."""
        page_size(limit)
        lines: list[LogLine] = []
        status: Status | None = None
        place = f"{after[0]}.{after[1]}"
        while True:
            query: Query = {"after": place, "limit": min(_PAGE, limit - len(lines))}
            page = await self._fetch(f"{_path(run_id)}/logs", lambda found: _LogPage.read(run_id, found), query)
            # How it stood before the first of them was read counts: what it has logged by then is here.
            status = status or page.status
            lines += page.lines
            if page.following is None or len(lines) >= limit:
                return RunLogs(status, lines)
            place = page.following

    async def follow_logs(self, run_id: int, *, after: tuple[int, int] = (0, 0)) -> AsyncIterator[LogLine]:
        """Each line of a run behind this attempt and number, as it comes, until the run has come to its end."""
        losses = 0
        while True:
            query = self._query({"follow": True, "after": f"{after[0]}.{after[1]}"})
            question = HttpRequest("GET", f"{_path(run_id)}/logs", query, repeatable=True)
            try:
                async for event in self._transport.listen(question):
                    if event.name == "end":
                        return
                    line = self._transport.understood(lambda found: read_log(run_id, found), event.data)
                    after, losses = (line.attempt, line.number), 0
                    yield line
            except StoreUnavailableError:
                # What was told is not told again, so that one can come back.
                losses += 1
                if losses > _MAX_LOSSES:
                    raise
            await asyncio.sleep(_REST)

    async def progress(self, run_id: int) -> Progress | None:
        """How far a run said that it was, last; None when it has said nothing."""
        return await self._fetch(
            _path(run_id), lambda found: maybe(lambda each: read_progress(run_id, each), found["progress"])
        )

    async def queue_position(self, run_id: int) -> QueuePosition | None:
        """What keeps a queued run back in its queue: a rate, or others that may pass it; None where nothing does."""
        return await self._fetch(_path(run_id), lambda found: maybe(read_queue_position, found["queue_position"]))

    async def waiting_for(self, run_id: int, *, tz: str | None = None) -> Sequence[Step]:
        """What keeps a run that has not begun from it, as `why` tells it; nothing where a worker should take it now."""
        query = {"tz": None if tz is None else zone(tz).name}
        return await self._fetch(_path(run_id), lambda found: [*map(read_step, found["waiting_for"])], query)

    async def cancel(self, run_id: int, *, actor: str, reason: str = "") -> RunRecord:
        """Cancel a run that has not started, or ask a running one to stop."""
        return await self._post(f"{_path(run_id)}/cancel", read_run, {"reason": reason})

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
        key = None if idempotency_key is None else check_key(idempotency_key)
        body = {"payload": None if payload is None else sent(payload)}
        return await self._post(f"{_path(run_id)}/retry", _created_run, body, key=key)


@dataclass(frozen=True, slots=True)
class _LogPage:
    status: Status
    lines: list[LogLine]
    following: str | None

    @classmethod
    def read(cls, run_id: int, document: Document) -> _LogPage:
        return cls(document["status"], [read_log(run_id, each) for each in document["items"]], document["next"])


def _created_run(document: Document) -> RunRecord:
    return read_run(document["run"])


def _path(run_id: int) -> str:
    if not 0 < run_id < 2**63:
        raise NotFoundError(f"there is no run {run_id};", hint="`tickbird runs` shows the newest.")
    return f"/runs/{run_id}"
