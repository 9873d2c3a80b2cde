"""The worker's side of a child that executes runs; the child is reused for further runs."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from tickbird.domain.runs.run import ClaimedRun
from tickbird.domain.text import clean_text
from tickbird.engine.processes import process_tree
from tickbird.engine.processes.framing import HUNG_UP, Message
from tickbird.engine.processes.messages import to_message
from tickbird.engine.processes.supervised_process import RunStopped, SupervisedProcess, size
from tickbird.engine.result_encoding import encode_value
from tickbird.engine.task_errors import LateStart, TaskFailure
from tickbird.targets.protocol import EncodedResult, Run

# Seconds that a child has to exit.
_LEAVING = 3.0
# Seconds to wait for the last messages of a child that ends.
_DRAIN_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class ChildConfig:
    """The app that children import, and the settings of their worker."""

    reference: str
    # With its password.
    url: str = field(repr=False)
    namespace: str

    def hello(self) -> Message:
        """The first message to a child."""
        return {
            "app": self.reference,
            "url": self.url,
            "namespace": self.namespace,
            "path": sys.path,
            # Not through the environment of the supervisor, which other processes of this user can read.
            "env": dict(os.environ),
            "level": min(logging.INFO, logging.getLogger().getEffectiveLevel()),
        }


@dataclass(slots=True, eq=False)
class RunRequest:
    """A run to execute in a child; `started` is called in the children's thread when its function starts."""

    claimed: ClaimedRun
    run: Run
    module: str
    memory: int | None
    started: Callable[[], None]
    # The latest instant at which it may start, on the monotonic clock.
    begin_by: Callable[[], float]
    # Seconds from the stop request to SIGTERM; None: no stop was requested.
    grace: float | None = None
    # True if it executes a command.
    program: bool = False
    on_stop: Callable[[], None] = field(default=lambda: None)

    def stop(self, grace: float) -> None:
        """Stop it, with SIGTERM after `grace` seconds; called in the children's loop."""
        if self.grace is None or grace < self.grace:
            self.grace = grace
            self.on_stop()


class TaskProcess(SupervisedProcess):
    """Used in the children's loop."""

    def __init__(self, config: ChildConfig, unwinding: float) -> None:
        super().__init__("app", config.reference)
        # Seconds between SIGTERM and SIGKILL.
        self._unwinding = unwinding
        self.runs = 0
        self._request: RunRequest | None = None
        self._limit = 0
        # True if it closed its channel and did not end.
        self._closed = False

    async def start(self, config: ChildConfig, request: RunRequest, within: float) -> None:
        """Wait until it has imported the app, at most `within` seconds; raises TaskFailure or RunStopped."""
        request.on_stop = self._news.set
        deadline = self._loop.time() + within
        await self._send(config.hello())
        while True:
            await self._wait(deadline)
            for message in self._drain_messages():
                if "ready" in message:
                    self.pid = message["ready"]
                    return
                if "failed" in message:
                    raise TaskFailure(clean_text(str(message["failed"])))
            if request.grace is not None:
                raise RunStopped
            if self.gone or self._hung_up:
                await self._wait_until_drained()
                if self._messages:
                    continue
                raise TaskFailure(
                    f"the child process {self._end()} while it imported {config.reference}{self._last_lines_text()}"
                )
            if self._loop.time() >= deadline:
                raise TaskFailure(f"the child process could not import {config.reference} within {within:.0f} s")

    async def execute(self, request: RunRequest) -> EncodedResult:
        """Execute a run; raises TaskFailure, LateStart or RunStopped."""
        self._request, self.runs = request, self.runs + 1
        request.on_stop = self._news.set
        for output in self._outputs:
            output.begin(request.run)
        self._limit = request.memory or 0
        self._order(b"limit %d\n" % self._limit)
        try:
            await self._send(to_message(request.claimed, request.module, request.begin_by(), request.run.worker))
            return await self._receive(request)
        finally:
            for output in self._outputs:
                output.end()
            self._order(b"limit 0\n")
            self._request = None

    async def _receive(self, request: RunRequest) -> EncodedResult:
        deadline: float | None = None
        is_stopping = False
        while True:
            await self._wait(deadline)
            for message in self._drain_messages():
                if "result" in message:
                    return EncodedResult(encode_value(EncodedResult(message["result"])))
                if "late" in message:
                    raise LateStart
                if "stopped" in message:
                    raise RunStopped
                if "error" in message or "refused" in message:
                    if request.grace is not None:
                        # The error is probably a consequence of the stop.
                        raise RunStopped
                    raise TaskFailure(
                        clean_text(str(message.get("error") or message["refused"])), may_retry="error" in message
                    )
            if self.gone or self._hung_up:
                await self._wait_until_drained()
                if self._messages:
                    continue
                if request.grace is not None and not self._ending.get("over"):
                    raise RunStopped
                raise TaskFailure(self._why(), is_lost=True)
            if request.grace is None:
                continue
            now = self._loop.time()
            if not is_stopping:
                is_stopping = True
                await self._send({"do": "stop"})
            limit = now + request.grace
            deadline = limit if deadline is None else min(deadline, limit)
            if now >= deadline:
                await self.kill(self._unwinding)

    def fits(self, limit: int | None) -> bool:
        """True if it may execute another run. False if earlier runs left it with half of the memory limit in use."""
        if self.gone or self._hung_up or self._messages:
            return False
        return limit is None or process_tree.memory([self.pid]) < limit / 2

    def orphans(self) -> set[int]:
        """Processes that earlier runs have left behind."""
        return process_tree.alive(process_tree.descendants(self._process.pid) - {self.pid})

    async def leave(self) -> None:
        """Let an idle child exit; kill it if it does not."""
        if not self.gone:
            await self._send({"do": "leave"})
            await self._until_gone(_LEAVING)
        await self.kill(0)

    def _on_message(self, message: Message) -> None:
        request = self._request
        if "line" in message:
            if request is not None:
                request.run.log.relay(message["level"], message["line"], datetime.fromisoformat(message["at"]))
        elif "progress" in message:
            if request is not None:
                request.run.heartbeat(message["progress"])
        elif "commits" in message:
            if request is not None:
                request.run.has_commit = request.run.is_recording = True
        elif "started" in message:
            if request is not None:
                request.started()
        else:
            super()._on_message(message)

    async def _wait_until_drained(self) -> None:
        """Wait for its end, and until all its messages are read."""
        # A child that has closed its channel but does not end is killed.
        self._closed = not await self._until_gone(_DRAIN_SECONDS)
        await self.kill(0)

    def _why(self) -> str:
        """The reason for the missing result, for the run's error."""
        over = self._ending.get("over")
        if over:
            return f"used {size(over)} of memory, more than its limit of {size(self._limit)}, and was killed"
        return f"the child process {self._end()}{self._last_lines_text()}"

    def _end(self) -> str:
        if self._ending.get("status") == HUNG_UP or self._closed:
            return "was ended: its code closed the channel to the worker"
        return super()._end()

    def _last_lines_text(self) -> str:
        text = self._last_lines()
        return f"; its last lines:\n{text}" if text else ""
