"""One child as its worker sees it: given runs, asked to stop, and kept warm for the next."""

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
from tickbird.engine.processes.supervised_process import Stopped, SupervisedProcess, size
from tickbird.engine.result_encoding import encode_value
from tickbird.engine.task_errors import LateStart, TaskFailure
from tickbird.targets.protocol import EncodedResult, Run

# How long one that is told to leave may take.
_LEAVING = 3.0
# How long the last word of a dying child may be on its way.
_LAST_WORD = 0.5


@dataclass(frozen=True, slots=True)
class App:
    """What children import, and what they must know of the worker that starts them."""

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
            # Not by the environment of the supervisor, which other processes of this user can read.
            "env": dict(os.environ),
            "level": min(logging.INFO, logging.getLogger().getEffectiveLevel()),
        }


@dataclass(slots=True, eq=False)
class Call:
    """A run to execute in a child; `started` is called in the children's thread."""

    claimed: ClaimedRun
    run: Run
    module: str
    memory: int | None
    started: Callable[[], None]
    # The latest instant at which it may begin, on the steady clock.
    begin_by: Callable[[], float]
    # Seconds between being asked to stop and SIGTERM; None while it may go on.
    grace: float | None = None
    # It starts a program.
    program: bool = False
    on_stop: Callable[[], None] = field(default=lambda: None)

    def stop(self, grace: float) -> None:
        """In the children's loop: end it, at the latest so many seconds from now and a moment."""
        if self.grace is None or grace < self.grace:
            self.grace = grace
            self.on_stop()


class TaskProcess(SupervisedProcess):
    """Lives in the children's loop."""

    def __init__(self, app: App, unwinding: float) -> None:
        super().__init__("app", app.reference)
        # Between SIGTERM and SIGKILL.
        self._unwinding = unwinding
        self.runs = 0
        self._call: Call | None = None
        self._limit = 0
        # It closed its line and lived on.
        self._closed = False

    async def start(self, app: App, call: Call, within: float) -> None:
        """Wait until it has imported the app, as long as the run may wait; raises Failed or Stopped."""
        call.on_stop = self._news.set
        ends = self._loop.time() + within
        await self._send(app.hello())
        while True:
            await self._wait(ends)
            for message in self._taken():
                if "ready" in message:
                    self.pid = message["ready"]
                    return
                if "failed" in message:
                    raise TaskFailure(clean_text(str(message["failed"])))
            if call.grace is not None:
                raise Stopped
            if self.gone or self._hung_up:
                await self._last_word()
                if self._messages:
                    continue
                raise TaskFailure(f"the child process {self._end()} while it imported {app.reference}{self._last()}")
            if self._loop.time() >= ends:
                raise TaskFailure(f"the child process could not import {app.reference} within {within:.0f} s")

    async def execute(self, call: Call) -> EncodedResult:
        """Execute a run; raises Failed, or Stopped when the call was."""
        self._call, self.runs = call, self.runs + 1
        call.on_stop = self._news.set
        for output in self._outputs:
            output.begin(call.run)
        self._limit = call.memory or 0
        self._order(b"limit %d\n" % self._limit)
        try:
            await self._send(to_message(call.claimed, call.module, call.begin_by()))
            return await self._receive(call)
        finally:
            for output in self._outputs:
                output.end()
            self._order(b"limit 0\n")
            self._call = None

    async def _receive(self, call: Call) -> EncodedResult:
        ends: float | None = None
        asked = False
        while True:
            await self._wait(ends)
            for message in self._taken():
                if "result" in message:
                    return EncodedResult(encode_value(EncodedResult(message["result"])))
                if "late" in message:
                    raise LateStart
                if "stopped" in message:
                    raise Stopped
                if "error" in message or "refused" in message:
                    if call.grace is not None:
                        # What it raised because it was stopped, most likely.
                        raise Stopped
                    raise TaskFailure(
                        clean_text(str(message.get("error") or message["refused"])), again="error" in message
                    )
            if self.gone or self._hung_up:
                await self._last_word()
                if self._messages:
                    continue
                if call.grace is not None and not self._ending.get("over"):
                    raise Stopped
                raise TaskFailure(self._why())
            if call.grace is None:
                continue
            now = self._loop.time()
            if not asked:
                asked = True
                await self._send({"do": "stop"})
            limit = now + call.grace
            ends = limit if ends is None else min(ends, limit)
            if now >= ends:
                await self.kill(self._unwinding)

    def fits(self, limit: int | None) -> bool:
        """May it be given another run? Not when what earlier ones left in memory takes half of the limit."""
        if self.gone or self._hung_up or self._messages:
            return False
        return limit is None or process_tree.memory([self.pid]) < limit / 2

    def orphans(self) -> set[int]:
        """Processes that runs have left."""
        return process_tree.alive(process_tree.descendants(self._process.pid) - {self.pid})

    async def leave(self) -> None:
        """Let an idle one end by itself, then make sure of it."""
        if not self.gone:
            await self._send({"do": "leave"})
            await self._until_gone(_LEAVING)
        await self.kill(0)

    def _hear(self, message: Message) -> None:
        call = self._call
        if "line" in message:
            if call is not None:
                call.run.log.relay(message["level"], message["line"], datetime.fromisoformat(message["at"]))
        elif "progress" in message:
            if call is not None:
                call.run.heartbeat(message["progress"])
        elif "started" in message:
            if call is not None:
                call.started()
        else:
            super()._hear(message)

    async def _last_word(self) -> None:
        """It is gone, and all that it has sent is read."""
        # One that has closed its line while it lives on is of no use any more.
        self._closed = not await self._until_gone(_LAST_WORD)
        await self.kill(0)

    def _why(self) -> str:
        """Why there is no answer, in words for the run's error."""
        over = self._ending.get("over")
        if over:
            return f"used {size(over)} of memory, more than its limit of {size(self._limit)}, and was killed"
        return f"the child process {self._end()}{self._last()}"

    def _end(self) -> str:
        if self._ending.get("status") == HUNG_UP or self._closed:
            return "was ended: its code closed the line to the worker"
        return super()._end()

    def _last(self) -> str:
        text = self._last_lines()
        return f"; its last lines:\n{text}" if text else ""
