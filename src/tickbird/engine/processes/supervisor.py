"""The supervisor: the parent of one child. It runs no user code, so it always responds, and no descendant outlives it.

All processes that a run starts stay below it, even if they fork twice or start a new session. It kills all of them if
the worker requests it or has ended, if the child takes too much memory, or if the child ends. It then reports how the
child ended.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from tickbird.engine.processes import process_tree

# Seconds between two checks of the memory of a run with a limit.
_MEMORY_INTERVAL = 0.05
_ORPHANED = signal.SIGUSR1


def main(be: Callable[[int], NoReturn], worker: int, channel: int) -> NoReturn:
    """Run as supervisor. Standard input is connected to the worker, `channel` to the child, which runs `be`."""
    process_tree.die_with_parent(worker, _ORPHANED)
    control = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    process_tree.adopt_orphans()
    woken, wake = os.pipe()
    for end in (woken, wake):
        os.set_blocking(end, False)
    # Signals to the process group or to all processes of a service are for the worker, which then decides.
    caught = (signal.SIGCHLD, _ORPHANED, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    for number in caught:
        signal.signal(number, _notice)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    supervisor = os.getpid()
    child = os.fork()
    if child == 0:
        signal.set_wakeup_fd(-1)
        for number in caught:
            signal.signal(number, signal.SIG_DFL)
        control.close()
        for end in (woken, wake):
            os.close(end)
        _be_child(be, supervisor, channel)
    os.close(channel)
    # The output must end when the child and its descendants have ended, not when the supervisor has.
    _close_output()
    Supervisor(control, child, woken, worker).run()
    os._exit(0)


def _notice(number: int, frame: Any) -> None:
    """Do nothing: the wake-up file descriptor delivers the signal."""


def _close_output() -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nothing, stream)
    os.close(nothing)


def _be_child(be: Callable[[int], NoReturn], supervisor: int, channel: int) -> NoReturn:
    """Run in the child, before any user code is loaded; it ends like any program."""
    os.setsid()
    process_tree.die_with_parent(supervisor, signal.SIGKILL)
    process_tree.be_killed_first()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    be(channel)


class Supervisor:
    """Waits for the worker, the child and the memory limit."""

    def __init__(self, control: socket.socket, child: int, woken: int, worker: int) -> None:
        self._control = control
        self._child = child
        self._woken = woken
        self._worker = worker
        self._limit = 0
        self._over = 0
        self._status: int | None = None
        self._peak_memory = 0
        self._partial_order = b""

    def run(self) -> None:
        """Wait until the child has ended or must end; then kill all descendants, and report."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(self._woken, select.POLLIN)
        while self._continues():
            poll.poll(_MEMORY_INTERVAL * 1000 if self._limit else None)
        self._kill_all()
        report = {"status": self._status, "peak_memory": self._peak_memory, "over": self._over}
        with suppress(OSError):
            self._control.sendall(json.dumps(report).encode())

    def _continues(self) -> bool:
        with suppress(BlockingIOError):
            os.read(self._woken, 1000)
        self._reap()
        if self._status is not None or os.getppid() != self._worker or not self._handle_order():
            return False
        if self._limit:
            used = process_tree.memory(process_tree.descendants(os.getpid()))
            if used > self._limit:
                self._over = used
                return False
        return True

    def _handle_order(self) -> bool:
        """Handle the orders of the worker; False if it orders the end, or has ended."""
        try:
            data = self._control.recv(1000, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return True
        except OSError:
            return False
        *orders, self._partial_order = (self._partial_order + data).split(b"\n")
        for order in orders:
            verb, _, value = order.partition(b" ")
            if verb == b"limit":
                self._limit = int(value)
            elif verb == b"ask":
                self._terminate()
            else:
                return False
        return bool(data)

    def _terminate(self) -> None:
        """Send SIGTERM to the child and its descendants."""
        with suppress(OSError):
            os.killpg(self._child, signal.SIGTERM)

    def _reap(self) -> bool:
        """Reap ended processes, adopted ones too; True if no child is left."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if pid == 0:
                return False
            if pid == self._child:
                self._status = os.waitstatus_to_exitcode(status)
                self._peak_memory = usage.ru_maxrss * (1024 if process_tree.LINUX else 1)

    def _kill_all(self) -> None:
        """Kill all descendants; on systems without orphan adoption, at least the child's process group."""
        process_tree.kill_all(lambda: process_tree.descendants(os.getpid()), self._all_gone)
        if not process_tree.LINUX:
            with suppress(OSError):
                os.killpg(self._child, signal.SIGKILL)

    def _all_gone(self, spared: set[int]) -> bool:
        # If all orphans are adopted here, having no child means having no descendant.
        return self._reap() or bool(spared and not process_tree.alive(process_tree.descendants(os.getpid()) - spared))
