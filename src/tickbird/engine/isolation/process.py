"""One child as its worker sees it: started, given runs, asked to stop, killed, and read to its end."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from tickbird.domain.runs import ClaimedRun
from tickbird.engine.isolation import processes
from tickbird.engine.isolation.calls import to_message
from tickbird.engine.isolation.frames import HUNG_UP, Garbled, Message, Unpacker, pack
from tickbird.engine.isolation.output import Output, tail
from tickbird.engine.shown import Failed
from tickbird.targets.protocol import Kept, Run

log = logging.getLogger("tickbird.isolation")

MARK = "TICKBIRD_CHILD"
# How long one that is told to leave may take.
_LEAVING = 3.0
# How long the last word of a dying child may be on its way.
_LAST_WORD = 0.5


class Stopped(Exception):
    """The run was stopped as it was asked to be."""


@dataclass(frozen=True, slots=True)
class App:
    """What children import, and what they must know of the worker that starts them."""

    reference: str
    url: str
    namespace: str

    def hello(self) -> Message:
        """The first message to a child."""
        return {
            "app": self.reference,
            "url": self.url,
            "namespace": self.namespace,
            "path": sys.path,
            "pythonpath": os.environ.get("PYTHONPATH"),
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
    # Seconds between being asked to stop and SIGTERM; None while it may go on.
    grace: float | None = None
    on_stop: Callable[[], None] = field(default=lambda: None)

    def stop(self, grace: float) -> None:
        """In the children's loop: end it, at the latest so many seconds from now and a moment."""
        if self.grace is None or grace < self.grace:
            self.grace = grace
            self.on_stop()


class ChildProcess:
    """Lives in the children's loop."""

    def __init__(self, app: App, unwinding: float) -> None:
        # Between SIGTERM and SIGKILL.
        self._unwinding = unwinding
        self._loop = asyncio.get_running_loop()
        self._token = secrets.token_hex(8)
        self._unpacker = Unpacker()
        self._told = b""
        self.pid = 0
        self.runs = 0
        self._call: Call | None = None
        self._limit = 0
        # Set by whatever may end a wait: a message, the end of the child, a wish to stop it.
        self._news = asyncio.Event()
        self._messages: list[Message] = []
        self._hung_up = False
        self.gone = False
        self._ending: Message = {}
        # It closed its line and lived on.
        self._closed = False
        self._buried = False
        ours, channel = socket.socketpair()
        self._channel = ours
        self._control, control = socket.socketpair()
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        try:
            # A thread that lives as long as the worker must do this: the system ends the keeper when it ends.
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-P",
                    "-m",
                    "tickbird.engine.isolation",
                    app.reference,
                    str(os.getpid()),
                    str(channel.fileno()),
                ],
                stdin=control.fileno(),
                stdout=out_end,
                stderr=err_end,
                pass_fds=[channel.fileno()],
                start_new_session=True,
                env=_environment(self._token),
            )
        except BaseException:
            for end in (out, err):
                os.close(end)
            ours.close()
            self._control.close()
            raise
        finally:
            channel.close()
            control.close()
            os.close(out_end)
            os.close(err_end)
        self._outputs = [Output(out, logging.INFO), Output(err, logging.WARNING)]
        for line in (self._channel, self._control):
            line.setblocking(False)
        for output in self._outputs:
            os.set_blocking(output.descriptor, False)
            self._loop.add_reader(output.descriptor, self._on_output, output)
        self._loop.add_reader(self._channel, self._on_channel)
        self._loop.add_reader(self._control, self._on_control)

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
                    raise Failed(message["failed"])
            if call.grace is not None:
                raise Stopped
            if self.gone or self._hung_up:
                await self._last_word()
                if self._messages:
                    continue
                raise Failed(f"the child process {self._end()} while it imported {app.reference}{self._last_lines()}")
            if self._loop.time() >= ends:
                raise Failed(f"the child process could not import {app.reference} within {within:.0f} s")

    async def execute(self, call: Call) -> Kept:
        """Execute a run; raises Failed, or Stopped when the call was."""
        self._call, self.runs = call, self.runs + 1
        call.on_stop = self._news.set
        for output in self._outputs:
            output.begin(call.run)
        self._limit = call.memory or 0
        self._order(b"limit %d\n" % self._limit)
        try:
            await self._send(to_message(call.claimed, call.module))
            return await self._answer(call)
        finally:
            for output in self._outputs:
                output.end()
            self._order(b"limit 0\n")
            self._call = None

    async def _answer(self, call: Call) -> Kept:
        ends: float | None = None
        asked = False
        while True:
            await self._wait(ends)
            for message in self._taken():
                if "result" in message:
                    return Kept(message["result"])
                if "stopped" in message:
                    raise Stopped
                if "error" in message or "refused" in message:
                    if call.grace is not None:
                        # What it raised because it was stopped, most likely.
                        raise Stopped
                    raise Failed(message.get("error") or message["refused"], again="error" in message)
            if self.gone or self._hung_up:
                await self._last_word()
                if self._messages:
                    continue
                if call.grace is not None and not self._ending.get("over"):
                    raise Stopped
                raise Failed(self._why())
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

    async def _wait(self, ends: float | None) -> None:
        if self._messages or self.gone or self._hung_up:
            return
        self._news.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout_at(ends):
                await self._news.wait()

    def _taken(self) -> list[Message]:
        taken, self._messages = self._messages, []
        return taken

    async def _send(self, message: Message) -> None:
        # One that is dying does not listen; how it ended is told by its keeper.
        with suppress(OSError):
            await self._loop.sock_sendall(self._channel, pack(message))

    def _order(self, words: bytes) -> None:
        with suppress(OSError):
            self._control.send(words)

    def fits(self, limit: int | None) -> bool:
        """May it be given another run? Not when what earlier ones left in memory takes half of the limit."""
        if self.gone or self._hung_up or self._messages:
            return False
        return limit is None or processes.memory([self.pid]) < limit / 2

    def left_behind(self) -> set[int]:
        """Processes that runs have left."""
        return processes.alive(processes.descendants(self._process.pid) - {self.pid})

    async def leave(self) -> None:
        """Let an idle one end by itself, then make sure of it."""
        if not self.gone:
            await self._send({"do": "leave"})
            await self._until_gone(_LEAVING)
        await self.kill(0)

    async def kill(self, unwinding: float) -> None:
        """SIGTERM, a moment to unwind, then SIGKILL to it and all that it has started; returns when all are gone."""
        if unwinding and not self.gone:
            self._order(b"ask\n")
            await self._until_gone(unwinding)
        self._order(b"end\n")
        while not self.gone:
            if not await self._until_gone(10.0):
                log.error("the child process %d cannot be killed: it or what it started is still there", self.pid)
        await self._bury()

    async def _until_gone(self, seconds: float) -> bool:
        ends = self._loop.time() + seconds
        while not self.gone and self._loop.time() < ends:
            self._news.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(ends):
                    await self._news.wait()
        return self.gone

    async def _bury(self) -> None:
        """Wait for the keeper, which has said its last word, read what is left, and close everything."""
        if self._buried:
            return
        self._buried = True
        while self._process.poll() is None:  # noqa: ASYNC110 - it has closed its end of the line and is about to end
            await asyncio.sleep(0.001)
        if not self._ending:
            # Somebody has killed the keeper, so that what was below it is nobody's now.
            await asyncio.to_thread(processes.kill_marked, MARK, self._token)
        while not self._hung_up and self._on_channel():
            pass
        self._hang_up()
        self._channel.close()
        for output in self._outputs:
            self._loop.remove_reader(output.descriptor)
            output.close()

    def _on_channel(self) -> bool:
        """Read what there is; False when there was nothing."""
        try:
            data = self._channel.recv(65_536)
            for message in self._unpacker.feed(data):
                self._hear(message)
        except BlockingIOError:
            return False
        except (OSError, Garbled):
            data = b""
        if not data:
            self._hang_up()
        return bool(data)

    def _hang_up(self) -> None:
        if not self._hung_up:
            self._hung_up = True
            self._loop.remove_reader(self._channel)
            self._news.set()

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
            self._messages.append(message)
            self._news.set()

    def _on_control(self) -> None:
        try:
            data = self._control.recv(65_536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._told += data
        if not data:
            self.gone = True
            with suppress(ValueError):
                self._ending = json.loads(self._told)
            self._loop.remove_reader(self._control)
            self._control.close()
            self._news.set()

    def _on_output(self, output: Output) -> None:
        if not output.read():
            self._loop.remove_reader(output.descriptor)

    async def _last_word(self) -> None:
        """It is gone, and all that it has sent is read."""
        # One that has closed its line while it lives on is of no use any more.
        self._closed = not await self._until_gone(_LAST_WORD)
        await self.kill(0)

    def _why(self) -> str:
        """Why there is no answer, in words for the run's error."""
        over = self._ending.get("over")
        if over:
            return f"used {_size(over)} of memory, more than its limit of {_size(self._limit)}, and was killed"
        return f"the child process {self._end()}{self._last_lines()}"

    def _end(self) -> str:
        status = self._ending.get("status")
        if status is None:
            return "was killed from outside, and its keeper with it"
        if status == HUNG_UP or self._closed:
            return "was ended: its code closed the line to the worker"
        if status >= 0:
            return f"ended with exit code {status}"
        number = -status
        name = signal.Signals(number).name if number in signal.valid_signals() else f"signal {number}"
        if number == signal.SIGKILL:
            most = _size(self._ending.get("most", 0))
            return f"was killed by {name}, by a person or because memory ran out (it had used up to {most})"
        return f"was killed by {name}"

    def _last_lines(self) -> str:
        text = tail(self._outputs)
        return f"; its last lines:\n{text}" if text else ""


def _size(count: int) -> str:
    return f"{count / 1e6:,.0f} MB"


def _environment(token: str) -> dict[str, str]:
    """The worker's, with a mark to find what comes of it, and a way to this package where it is not installed."""
    environment = {**os.environ, MARK: token}
    home = str(Path(__file__).parents[3])
    paths = environment.get("PYTHONPATH", "").split(os.pathsep)
    if home not in paths and Path(home).name not in ("site-packages", "dist-packages"):
        environment["PYTHONPATH"] = os.pathsep.join([*filter(None, paths), home])
    return environment
