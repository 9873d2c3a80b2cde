"""Runs over HTTP: enqueued with the settings of this process, waited for, and their logs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tickbird.client.base import page_size
from tickbird.client.http.operations import HttpBase
from tickbird.client.http.transport import HttpRequest
from tickbird.client.parameters import check_run_id
from tickbird.client.runs import Runs
from tickbird.domain.errors import StoreUnavailableError
from tickbird.domain.runs.logs import LogLine, Progress, RunLogs
from tickbird.domain.runs.run import RunRecord, Status
from tickbird.domain.schedules.definition import Target
from tickbird.domain.schedules.fields import POLICIES
from tickbird.domain.schedules.task_settings import FROM_TASK, FromTask, crash_limit
from tickbird.domain.time.durations import Duration, seconds
from tickbird.wire.codec import decode
from tickbird.wire.operations import Operation

# The maximum number of lines in one response.
_PAGE: Final = 1_000
# How often in a row a lost log stream is opened again, and the seconds between.
_MAX_LOSSES: Final = 5
_PAUSE: Final = 1.0


class HttpRuns(HttpBase, Runs):
    async def send(self, operation: Operation, arguments: Mapping[str, Any]) -> Any:
        if operation.name == "enqueue":
            arguments = self._with_task_settings(arguments)
        result = await super().send(operation, arguments)
        # The response does not repeat the id of the run.
        return replace(result, run_id=arguments["run_id"]) if isinstance(result, Progress) else result

    def _with_task_settings(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Validate the payload and add the settings of the task, if this process has the task."""
        task, start_within = arguments["task"], arguments["start_within"]
        own = self._settings.get(task, {})
        settings: dict[str, Any] = {**own, "crash_limit": crash_limit(own)} if own else {}
        stated = {
            "queue": arguments["queue"],
            "priority": POLICIES["priority"].read(arguments["priority"]),
            "crash_limit": arguments["crash_limit"],
        }
        settings |= {name: value for name, value in stated.items() if value is not None}
        if not isinstance(arguments["concurrency_key"], FromTask):
            settings["concurrency_key"] = arguments["concurrency_key"]
        return {
            **arguments,
            "payload": self._own_payload(Target(task), arguments["payload"] or {}),
            "delay": seconds(arguments["delay"], "delay"),
            "start_within": None if start_within is None else seconds(start_within, "start_within"),
            "unknown_task_ok": arguments["unknown_task_ok"] or task in self._validators,
            # The server takes settings that are left out from the task.
            **{name: settings.get(name) for name in stated},
            "concurrency_key": settings.get("concurrency_key", FROM_TASK),
        }

    async def wait(self, run_id: int, *, timeout: Duration | None = None) -> RunRecord:
        return await self.wait_for_run(run_id, timeout=timeout)

    async def logs(self, run_id: int, *, after: tuple[int, int] = (0, 0), limit: int = 1_000) -> Sequence[LogLine]:
        return (await self.read_logs(run_id, after=after, limit=limit)).lines

    async def read_logs(self, run_id: int, *, after: tuple[int, int] = (0, 0), limit: int = 1_000) -> RunLogs:
        page_size(limit)
        lines: list[LogLine] = []
        status: Status | None = None
        position: str | None = f"{after[0]}.{after[1]}"
        while position is not None and len(lines) < limit:
            request = self._logs_request(run_id, after=position, limit=str(min(_PAGE, limit - len(lines))))
            page = await self._transport.request(request)
            lines += self._transport.decode(lambda document: [_line(run_id, item) for item in document["items"]], page)
            # The status of the first page counts: all lines that were logged before it are included.
            status, position = status or page["status"], page["next"]
        assert status is not None
        return RunLogs(status, lines)

    async def follow_logs(self, run_id: int, *, after: tuple[int, int] = (0, 0)) -> AsyncIterator[LogLine]:
        """Read server-sent events; a lost stream is opened again after the last line."""
        losses = 0
        while True:
            request = self._logs_request(run_id, follow="true", after=f"{after[0]}.{after[1]}")
            try:
                async for event in self._transport.listen(request):
                    if event.name == "end":
                        return
                    line = self._transport.decode(lambda document: _line(run_id, document), event.data)
                    after, losses = (line.attempt, line.number), 0
                    yield line
            except StoreUnavailableError:
                losses += 1
                if losses > _MAX_LOSSES:
                    raise
            await asyncio.sleep(_PAUSE)

    def _logs_request(self, run_id: int, **query: str) -> HttpRequest:
        check_run_id(run_id)
        return HttpRequest("GET", f"/runs/{run_id}/logs", {**self._namespace_query(), **query}, repeatable=True)


def _line(run_id: int, document: Any) -> LogLine:
    return replace(decode(LogLine, document), run_id=run_id)
