"""Runs over HTTP: enqueued with the settings of this process, waited for, and their logs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from tickbird.client.base import page_size
from tickbird.client.http.operations import HttpNoun
from tickbird.client.http.transport import HttpRequest
from tickbird.client.parameters import check_run_id
from tickbird.client.runs import Runs
from tickbird.domain.errors import StoreUnavailableError
from tickbird.domain.runs.idempotency import check_key
from tickbird.domain.runs.logs import LogLine, Progress, RunLogs
from tickbird.domain.runs.run import RunRecord, Status
from tickbird.domain.schedules.definition import Target
from tickbird.domain.schedules.fields import POLICIES, Priority
from tickbird.domain.schedules.task_settings import FROM_TASK, FromTask
from tickbird.domain.schedules.task_settings import crash_limit as crash_limit_of
from tickbird.domain.time.durations import Duration, seconds
from tickbird.wire.codec import decode
from tickbird.wire.operations import operations_of

_OPERATIONS: Final = operations_of(Runs)
# The maximum number of lines in one response.
_PAGE: Final = 1_000
# How often in a row a lost log stream is opened again, and the seconds between.
_MAX_LOSSES: Final = 5
_PAUSE: Final = 1.0


class HttpRuns(HttpNoun, Runs):
    """Runs of a server."""

    async def enqueue(
        self,
        task: str,
        payload: Mapping[str, Any] | None = None,
        *,
        actor: str,
        at: datetime | None = None,
        delay: Duration = 0,
        queue: str | None = None,
        priority: Priority | None = None,
        start_within: Duration | None = None,
        crash_limit: int | None = None,
        idempotency_key: str | None = None,
        concurrency_key: str | FromTask | None = FROM_TASK,
        unknown_task_ok: bool = False,
    ) -> int:
        """With the payload validator and the settings of the task, if this process has it."""
        own = self._settings.get(task, {})
        declared: dict[str, Any] = {**own, "crash_limit": crash_limit_of(own)} if own else {}
        given = {"queue": queue, "priority": POLICIES["priority"].read(priority), "crash_limit": crash_limit}
        settings = declared | {name: value for name, value in given.items() if value is not None}
        if not isinstance(concurrency_key, FromTask):
            settings["concurrency_key"] = concurrency_key
        run_id: int = await self.send(
            _OPERATIONS["enqueue"],
            {
                "task": task,
                "payload": self._own_payload(Target(task), payload or {}),
                "at": at,
                "delay": seconds(delay, "delay"),
                "start_within": None if start_within is None else seconds(start_within, "start_within"),
                "idempotency_key": None if idempotency_key is None else check_key(idempotency_key),
                "unknown_task_ok": unknown_task_ok or task in self._validators,
                # The server takes settings that are left out from the task.
                **{name: settings.get(name) for name in given},
                "concurrency_key": settings.get("concurrency_key", FROM_TASK),
            },
        )
        return run_id

    async def wait(self, run_id: int, *, timeout: Duration | None = None) -> RunRecord:
        """The server waits, a minute at a time."""
        return await self.wait_for_run(run_id, timeout=timeout)

    async def progress(self, run_id: int) -> Progress | None:
        """The response does not repeat the id of the run."""
        progress: Progress | None = await self.send(_OPERATIONS["progress"], {"run_id": run_id})
        return None if progress is None else replace(progress, run_id=run_id)

    async def logs(self, run_id: int, *, after: tuple[int, int] = (0, 0), limit: int = 1_000) -> Sequence[LogLine]:
        """The lines of `read_logs`."""
        return (await self.read_logs(run_id, after=after, limit=limit)).lines

    async def read_logs(self, run_id: int, *, after: tuple[int, int] = (0, 0), limit: int = 1_000) -> RunLogs:
        """In as many requests as needed."""
        page_size(limit)
        check_run_id(run_id)
        lines: list[LogLine] = []
        status: Status | None = None
        place: str | None = f"{after[0]}.{after[1]}"
        while place is not None and len(lines) < limit:
            size = min(_PAGE, limit - len(lines))
            query = {**self._namespace_query(), "after": place, "limit": str(size)}
            page = await self._transport.request(HttpRequest("GET", f"/runs/{run_id}/logs", query, repeatable=True))
            lines += self._transport.understood(
                lambda document: [_line(run_id, item) for item in document["items"]], page
            )
            # The status of the first page counts: all lines that were logged before it are included.
            status, place = status or page["status"], page["next"]
        assert status is not None
        return RunLogs(status, lines)

    async def follow_logs(self, run_id: int, *, after: tuple[int, int] = (0, 0)) -> AsyncIterator[LogLine]:
        """As server-sent events; a stream that is lost is opened again after the last line."""
        check_run_id(run_id)
        losses = 0
        while True:
            query = {**self._namespace_query(), "follow": "true", "after": f"{after[0]}.{after[1]}"}
            request = HttpRequest("GET", f"/runs/{run_id}/logs", query, repeatable=True)
            try:
                async for event in self._transport.listen(request):
                    if event.name == "end":
                        return
                    line = self._transport.understood(lambda document: _line(run_id, document), event.data)
                    after, losses = (line.attempt, line.number), 0
                    yield line
            except StoreUnavailableError:
                losses += 1
                if losses > _MAX_LOSSES:
                    raise
            await asyncio.sleep(_PAUSE)


def _line(run_id: int, document: Any) -> LogLine:
    return replace(decode(LogLine, document), run_id=run_id)
