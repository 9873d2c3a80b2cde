"""A fleet of worker processes that can be killed, frozen and drained; its own journal records the faults."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from tickbird.proof.cleanup import CleanupProcess
from tickbird.proof.journal import Entry, Journal, read_journals
from tickbird.proof.worker import Setup, run_worker

# Processes are forked from one that has imported everything, because starting an interpreter takes much longer.
_forkserver = multiprocessing.get_context("forkserver")
_forkserver.set_forkserver_preload(["tickbird.proof.worker", "psycopg_pool", "tickbird.store.postgres"])
# Seconds. Only a failure takes this long, so the limit is generous for busy machines.
TIMEOUT: Final = 90.0

S = TypeVar("S", bound=Setup)


class Process(Protocol):
    """A process of multiprocessing, or an object with the same interface."""

    @property
    def pid(self) -> int | None: ...

    @property
    def exitcode(self) -> int | None: ...

    def join(self) -> None: ...


class Member:
    """One worker process."""

    def __init__(self, process: Process, journal: Journal) -> None:
        self._process = process
        self._journal = journal
        self.pid = int(process.pid or 0)
        self.frozen = False

    @property
    def exitcode(self) -> int | None:
        """None while it is alive."""
        return self._process.exitcode

    @property
    def alive(self) -> bool:
        return self.exitcode is None

    def kill(self) -> None:
        """Send SIGKILL, and wait until it has ended."""
        if self.alive:
            self._signal(signal.SIGKILL)
            self._process.join()
            # After the join, so that no entry of the process is later.
            self._journal.write("killed", pid=self.pid)

    def freeze(self) -> None:
        """Send SIGSTOP."""
        self._journal.write("frozen", pid=self.pid)
        self._signal(signal.SIGSTOP)
        self.frozen = True

    def thaw(self) -> None:
        """Send SIGCONT if it is frozen."""
        if self.frozen:
            self.frozen = False
            # Before the signal, so that a lease check after this entry was made by a process that was not frozen.
            self._journal.write("thawed", pid=self.pid)
            self._signal(signal.SIGCONT)

    def drain(self) -> None:
        """Send SIGTERM."""
        self._journal.write("draining", pid=self.pid)
        self._signal(signal.SIGTERM)

    async def wait(self, seconds: float = TIMEOUT) -> int:
        """Wait until it has ended; returns its exit code, or raises TimeoutError."""
        await until(lambda: not self.alive, seconds)
        assert self.exitcode is not None
        return self.exitcode

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)


class Fleet:
    """The worker processes on one store; `close` kills those that are alive."""

    def __init__(self, url: str, folder: Path, cleanup: CleanupProcess | None = None) -> None:
        self.url = url
        self.folder = folder
        self.members: list[Member] = []
        self.journal = Journal(folder, "fleet")
        self._cleanup = cleanup

    def start(self, **setup: Any) -> Member:
        return self.fork(run_worker, Setup(url=self.url, folder=str(self.folder), **setup))

    def fork(self, target: Callable[[S], None], setup: S) -> Member:
        """Start a process that calls a function of a module."""
        process = _forkserver.Process(target=target, args=(setup,))
        process.start()
        return self._add(process)

    @property
    def alive(self) -> list[Member]:
        return [member for member in self.members if member.alive]

    def entries(self, event: str | None = None, run: int | None = None) -> list[Entry]:
        """The entries of all journals, of this event and run."""
        entries = read_journals(self.folder)
        return [entry for entry in entries if event in (None, entry.event) and run in (None, entry.run)]

    def logs(self) -> str:
        """The log output of all processes."""
        return "".join(path.read_text() for path in sorted(self.folder.glob("*.log")))

    def end(self, member: Member) -> None:
        """Kill it if it is alive; afterwards the system may reuse its pid."""
        member.kill()
        if self._cleanup is not None:
            self._cleanup.remove_process(member.pid)

    def end_all(self) -> None:
        for member in self.alive:
            self.end(member)

    def close(self) -> None:
        self.end_all()
        self.journal.close()

    def _add(self, process: Process) -> Member:
        member = Member(process, self.journal)
        self.members.append(member)
        if self._cleanup is not None:
            self._cleanup.add_process(member.pid)
        return member


async def until(predicate: Callable[[], Any | Awaitable[Any]], seconds: float = TIMEOUT) -> Any:
    """Wait for a true value and return it; raises TimeoutError."""
    deadline = time.monotonic() + seconds
    while True:
        value = predicate()
        if isinstance(value, Awaitable):
            value = await value
        if value:
            return value
        if time.monotonic() > deadline:
            raise TimeoutError(f"still false after {seconds:.0f} s")
        await asyncio.sleep(0.03)
