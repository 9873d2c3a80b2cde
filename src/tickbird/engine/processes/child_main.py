"""The child: imports the app once, then executes one run after the other in its main thread."""

from __future__ import annotations

import asyncio
import contextvars
import faulthandler
import importlib
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from queue import SimpleQueue
from typing import Any

from tickbird.domain.errors import PayloadError, TickbirdError
from tickbird.domain.runs.logs import fit_level
from tickbird.domain.text import clean_text
from tickbird.engine.monotonic import steady
from tickbird.engine.processes.framing import (
    CHILD_VARIABLE,
    HUNG_UP,
    MAX_LINE_LENGTH,
    MAX_LINES,
    Message,
    Unpacker,
    pack,
)
from tickbird.engine.processes.messages import from_message
from tickbird.engine.result_encoding import encode_value
from tickbird.engine.task_errors import LateStart, encode_error, refuse_awaitable
from tickbird.targets.protocol import Executable, Run


class StopSignal(BaseException):
    """Raised in the main thread by SIGTERM, after the worker has requested a stop of the run."""


class Channel:
    """The child's end of the socket to the worker."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)
        self._socket = socket.socket(fileno=descriptor)
        self._unpacker = Unpacker()
        self._lock = threading.Lock()
        self._inode = os.fstat(descriptor).st_ino

    def send(self, message: Message) -> None:
        """Send a message. OSError if user code closed the socket; its descriptor may be another file by now."""
        data = pack(message)
        with self._lock:
            if os.fstat(self._socket.fileno()).st_ino != self._inode:
                raise OSError("the channel to the worker was closed")
            self._socket.sendall(data)

    def receive(self) -> list[Message]:
        """The next messages; empty if the worker has closed the socket."""
        while data := self._socket.recv(65_536):
            if messages := list(self._unpacker.feed(data)):
                return messages
        return []


class ChannelSink:
    """The sink of a run in a child: sends log lines and progress to the worker."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.sent = 0

    def line(self, run: Run | None, level: int, text: str, at: datetime) -> None:
        """Send a line, unless the run has exceeded its limit."""
        self.sent += 1
        if self.sent <= MAX_LINES:
            # If user code closed the socket, the run fails at its end.
            with suppress(OSError):
                line = clean_text(str.__getitem__(text, slice(MAX_LINE_LENGTH)), nul="\ufffd")
                self._channel.send({"line": line, "level": fit_level(level), "at": at.isoformat()})

    def progress(self, run: Run, value: Any) -> None:
        with suppress(OSError):
            self._channel.send({"progress": encode_value(value)})

    async def flush(self) -> None:
        """Every line is sent at once."""


class LogForwarder(logging.Handler):
    """Forwards records of all loggers except `run.log`."""

    def __init__(self, sink: ChannelSink) -> None:
        super().__init__()
        self._sink = sink
        self.setFormatter(logging.Formatter("%(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Send one line; an error here must not fail the run."""
        try:
            at = datetime.fromtimestamp(record.created, UTC)
            self._sink.line(None, record.levelno, self.format(record), at)
        except Exception:  # noqa: BLE001
            self.handleError(record)


class Child:
    """The state of a child: its tasks, and the current run."""

    def __init__(self, channel: Channel, sink: ChannelSink) -> None:
        self._channel = channel
        self._sink = sink
        self._orders: SimpleQueue[Message | None] = SimpleQueue()
        self._tasks: Mapping[str, Executable] = {}
        self._runner = asyncio.Runner()
        self._run: Run | None = None
        self._task: asyncio.Task[Any] | None = None
        self._stopping = threading.Event()
        # The run has ended; signals no longer interrupt the response.
        self._responding = False

    def load(self, hello: Message) -> None:
        """Import the app, and set the url and namespace of the worker on it."""
        module, _, attribute = hello["app"].partition(":")
        app_object: Any = importlib.import_module(module)
        for part in attribute.split("."):
            app_object = getattr(app_object, part)
        # The worker's command line may have set them.
        app_object.url, app_object.namespace = hello["url"], hello["namespace"]
        self._tasks = app_object.tasks

    def serve(self) -> None:
        """Execute the runs that the worker sends, until it sends an order to end."""
        signal.signal(signal.SIGTERM, self._on_term)
        threading.Thread(target=self._listen, name="tickbird orders", daemon=True).start()
        while (order := self._orders.get()) is not None:
            try:
                response = self._execute(order)
            except StopSignal:
                response = {"stopped": True}
            for stream in (sys.stdout, sys.stderr):
                with suppress(Exception):
                    stream.flush()
            try:
                self._channel.send(response)
            except OSError:
                sys.exit(HUNG_UP)
        with suppress(Exception):
            self._runner.close()

    def _listen(self) -> None:
        """Read orders in a separate thread, because they also arrive during a run."""
        with suppress(OSError):
            while orders := self._channel.receive():
                for order in orders:
                    if order["do"] == "stop":
                        self._stop()
                    else:
                        self._orders.put(order if order["do"] == "run" else None)
        # If the worker is gone, the supervisor ends this process; if only the socket is closed, the worker does.
        self._orders.put(None)

    def _stop(self) -> None:
        self._stopping.set()
        if self._run is not None:
            self._run.request_stop()
        if self._task is not None:
            with suppress(RuntimeError):
                self._runner.get_loop().call_soon_threadsafe(self._task.cancel)

    def _on_term(self, number: int, frame: Any) -> None:
        # A service manager may signal all processes of a service; only the worker decides whether this run stops.
        if self._stopping.is_set() and not self._responding:
            raise StopSignal

    def _execute(self, order: Message) -> Message:
        self._sink.sent, self._responding = 0, False
        run = self._run = Run(from_message(order), self._sink, order["worker"])
        run.announce_commit = lambda: self._channel.send({"commits": True})
        name = order["target"]
        try:
            if name not in self._tasks:
                importlib.import_module(order["module"])
            task = self._tasks[name]
        except KeyError:
            return {"refused": f"the app that the child process imported has no task {name!r}."}
        except StopSignal:
            raise
        except BaseException as error:  # noqa: BLE001 - user code may raise anything
            return {"refused": encode_error(error).text}
        try:
            arguments = task.prepare(run)
        except PayloadError as error:
            return {"refused": clean_text(str(error))}
        except StopSignal:
            raise
        except BaseException as error:  # noqa: BLE001 - a signature that is wrong stays wrong
            return {"refused": encode_error(error).text}
        self._channel.send({"started": True})
        # A run must not see the variables of another run.
        context = contextvars.copy_context()
        try:
            result = self._call(task, arguments, context, order["begin_by"])
            self._responding = True
            return {"result": encode_value(result)}
        except asyncio.CancelledError:
            if self._stopping.is_set():
                return {"stopped": True}
            return {"error": "the coroutine was cancelled from inside"}
        except StopSignal:
            raise
        except LateStart:
            return {"late": True}
        except BaseException as error:  # noqa: BLE001 - any error of a task is its outcome
            self._responding = True
            return {"error": encode_error(error).text}
        finally:
            self._run = self._task = None

    def _call(
        self, task: Executable, arguments: Mapping[str, Any], context: contextvars.Context, begin_by: float
    ) -> Any:
        if not task.blocking:
            return self._runner.run(self._await(task, arguments, begin_by), context=context)
        _check_lease(begin_by)
        result = context.run(task.call, arguments)
        refuse_awaitable(result)
        return result

    async def _await(self, task: Executable, arguments: Mapping[str, Any], begin_by: float) -> Any:
        self._task = asyncio.current_task()
        if self._stopping.is_set():
            raise asyncio.CancelledError
        _check_lease(begin_by)
        return await task.call(arguments)


def _check_lease(begin_by: float) -> None:
    """Called directly before the function, because this process or its worker may have been frozen."""
    if steady() > begin_by:
        raise LateStart


def serve(app: str, descriptor: int) -> None:
    """Run a child: the first message names the app, the others are runs."""
    channel = Channel(descriptor)
    greeting = channel.receive()
    if not greeting:
        return
    hello = greeting[0]
    # The app may need the whole environment of its worker. The marker identifies the processes that it starts.
    marker = os.environ[CHILD_VARIABLE]
    os.environ.clear()
    os.environ.update({**hello["env"], CHILD_VARIABLE: marker})
    sys.path[:] = hello["path"]
    faulthandler.enable()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True, errors="backslashreplace")
    sink = ChannelSink(channel)
    logging.getLogger().addHandler(LogForwarder(sink))
    logging.getLogger().setLevel(hello["level"])
    child = Child(channel, sink)
    try:
        child.load(hello)
    except BaseException as error:  # noqa: BLE001 - user code may raise anything
        text = str(error) if isinstance(error, TickbirdError) else encode_error(error).text
        channel.send({"failed": f"the child process could not import {app}: {text}"})
        return
    # The sink sends the lines of `run.log`. They must not go to the handlers of the root logger too.
    run_logger = logging.getLogger("tickbird.run")
    run_logger.propagate = False
    run_logger.addHandler(logging.NullHandler())
    channel.send({"ready": os.getpid()})
    child.serve()
