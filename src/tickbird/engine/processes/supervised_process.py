"""The worker's side of a supervised process: start it, read it, stop it, and kill it with its children."""

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
from contextlib import suppress
from pathlib import Path

from tickbird.engine.processes import process_tree
from tickbird.engine.processes.framing import CHILD_VARIABLE as CHILD_VARIABLE
from tickbird.engine.processes.framing import Message, ProtocolError, Unpacker, pack
from tickbird.engine.processes.output import Output, tail

log = logging.getLogger("tickbird.isolation")


class RunStopped(Exception):
    """The run was stopped on request."""


class SupervisedProcess:
    """Used in the children's loop; `kind` selects the program that the supervisor starts."""

    def __init__(self, kind: str, app: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._token = secrets.token_hex(8)
        self._unpacker = Unpacker()
        self._control_data = b""
        self.pid = 0
        # Set by a message, by the end of the process, and by a stop request.
        self._news = asyncio.Event()
        self._messages: list[Message] = []
        self._hung_up = False
        self.gone = False
        self._ending: Message = {}
        self._reaped = False
        ours, channel = socket.socketpair()
        self._channel = ours
        self._control, control = socket.socketpair()
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        supervisor = [sys.executable, "-P", "-m", "tickbird.engine.processes"]
        try:
            # A thread that lives as long as the worker must do this: the kernel ends the supervisor with its thread.
            self._process = subprocess.Popen(
                [*supervisor, kind, app, str(os.getpid()), str(channel.fileno())],
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

    async def _wait(self, deadline: float | None) -> None:
        if self._messages or self.gone or self._hung_up:
            return
        await self._until_news(deadline)

    async def _until_news(self, deadline: float | None) -> None:
        self._news.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout_at(deadline):
                await self._news.wait()

    def _drain_messages(self) -> list[Message]:
        messages, self._messages = self._messages, []
        return messages

    async def _send(self, message: Message) -> None:
        # The process may have ended; its supervisor reports how it ended.
        with suppress(OSError):
            await self._loop.sock_sendall(self._channel, pack(message))

    def _order(self, order: bytes) -> None:
        with suppress(OSError):
            self._control.send(order)

    async def kill(self, unwinding: float) -> None:
        """Send SIGTERM, wait, then SIGKILL it and all its descendants. Returns when all have ended."""
        if unwinding and not self.gone:
            self._order(b"ask\n")
            await self._until_gone(unwinding)
        self._order(b"end\n")
        while not self.gone:
            if not await self._until_gone(10.0):
                log.error("process %d cannot be killed: it or one of its descendants still exists", self.pid)
        await self._reap_supervisor()

    async def _until_gone(self, seconds: float) -> bool:
        deadline = self._loop.time() + seconds
        while not self.gone and self._loop.time() < deadline:
            await self._until_news(deadline)
        return self.gone

    async def _reap_supervisor(self) -> None:
        """Wait for the supervisor, which is about to end, read the rest, and close everything."""
        if self._reaped:
            return
        self._reaped = True
        while self._process.poll() is None:  # noqa: ASYNC110 - it has closed its end of the line and is about to end
            await asyncio.sleep(0.001)
        if not self._ending:
            # The supervisor was killed, so its processes have no parent.
            await asyncio.to_thread(process_tree.kill_marked, CHILD_VARIABLE, self._token)
        while not self._hung_up and self._on_channel():
            pass
        self._hang_up()
        self._channel.close()
        for output in self._outputs:
            self._loop.remove_reader(output.descriptor)
            output.close()

    def _on_channel(self) -> bool:
        """Read the available data; False if there was none."""
        try:
            data = self._channel.recv(65_536)
            for message in self._unpacker.feed(data):
                self._on_message(message)
        except BlockingIOError:
            return False
        except (OSError, ProtocolError, LookupError, ValueError, TypeError):
            # User code in the child may have written anything to the channel.
            data = b""
        if not data:
            self._hang_up()
        return bool(data)

    def _hang_up(self) -> None:
        if not self._hung_up:
            self._hung_up = True
            self._loop.remove_reader(self._channel)
            self._news.set()

    def _on_message(self, message: Message) -> None:
        self._messages.append(message)
        self._news.set()

    def _on_control(self) -> None:
        try:
            data = self._control.recv(65_536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._control_data += data
        if not data:
            self.gone = True
            with suppress(ValueError):
                self._ending = json.loads(self._control_data)
            self._loop.remove_reader(self._control)
            self._control.close()
            self._news.set()

    def _on_output(self, output: Output) -> None:
        if not output.read():
            self._loop.remove_reader(output.descriptor)

    def _end(self) -> str:
        """Describe how it ended."""
        status = self._ending.get("status")
        if status is None:
            return "was killed from outside, together with its supervisor"
        if status >= 0:
            return f"ended with exit code {status}"
        number = -status
        name = signal.Signals(number).name if number in signal.valid_signals() else f"signal {number}"
        if number == signal.SIGKILL:
            maximum = size(self._ending.get("peak_memory", 0))
            return f"was killed by {name}, by a person or because memory ran out (it had used up to {maximum})"
        return f"was killed by {name}"

    def _last_lines(self) -> str:
        """The last lines of its output; may be empty."""
        return tail(self._outputs)


def size(count: int) -> str:
    return f"{count / 1e6:,.0f} MB"


# Variables that an interpreter, its dynamic loader and its memory allocator need to start.
_NEEDED = ("PATH", "HOME", "LANG", "TZ", "TMPDIR", "GLIBC_TUNABLES")
_NEEDED_PREFIXES = ("PYTHON", "LD_", "DYLD_", "LC_", "MALLOC_", "TICKBIRD_")
# Parts of names of Tickbird's own variables whose values may be secrets.
_SECRET_PARTS = ("URL", "SERVER", "TOKEN", "PASSWORD", "SECRET", "KEY")


def _is_needed(name: str) -> bool:
    if name.startswith("TICKBIRD_") and any(word in name for word in _SECRET_PARTS):
        return False
    return name in _NEEDED or name.startswith(_NEEDED_PREFIXES)


def _environment(token: str) -> dict[str, str]:
    """The environment of a supervisor: the variables that it needs to start, and no secrets.

    It also has the marker that identifies its descendants, and a path to this package if it is not installed.
    """
    needed = {name: value for name, value in os.environ.items() if _is_needed(name)}
    environment = {**needed, CHILD_VARIABLE: token}
    home = str(Path(__file__).parents[3])
    paths = environment.get("PYTHONPATH", "").split(os.pathsep)
    if home not in paths and Path(home).name not in ("site-packages", "dist-packages"):
        environment["PYTHONPATH"] = os.pathsep.join([*filter(None, paths), home])
    return environment
