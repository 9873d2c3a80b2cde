"""Real worker processes that can be killed, frozen and drained; what is done to them is noted beside what they do."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Self

from tickbird.testing.faults.app import Setup, work
from tickbird.testing.faults.ledger import Ledger, Note, read_notes

# Processes are forked from one that has imported everything: an interpreter each would take most of the time.
_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["tickbird.testing.faults.app", "psycopg_pool", "tickbird.store.postgres"])
# How long a condition may take. Only a test that fails waits this long, so it leaves room for a busy machine.
PATIENCE = 90.0


class Member:
    """One worker process."""

    def __init__(self, process: BaseProcess | subprocess.Popen[bytes], ledger: Ledger) -> None:
        self._process = process
        self._ledger = ledger
        self.pid = int(process.pid or 0)
        self.frozen = False

    @property
    def exitcode(self) -> int | None:
        """How it ended; None while it lives."""
        return self._process.poll() if isinstance(self._process, subprocess.Popen) else self._process.exitcode

    @property
    def alive(self) -> bool:
        """Has it not ended?"""
        return self.exitcode is None

    def kill(self) -> None:
        """End it with SIGKILL, frozen or not, and wait until it is gone."""
        if self.alive:
            self._signal(signal.SIGKILL)
            self._wait()
            # After the wait: nothing of it can come later.
            self._ledger.note("killed", pid=self.pid)

    def freeze(self) -> None:
        """SIGSTOP: it stands still, and does not know."""
        self._ledger.note("frozen", pid=self.pid)
        self._signal(signal.SIGSTOP)
        self.frozen = True

    def thaw(self) -> None:
        """SIGCONT: it goes on where it was."""
        if self.frozen:
            self.frozen = False
            # Noted before: a look at a lease that comes after this was made by a process that was awake.
            self._ledger.note("thawed", pid=self.pid)
            self._signal(signal.SIGCONT)

    def drain(self) -> None:
        """SIGTERM: it takes nothing new, finishes and ends."""
        self._ledger.note("told to drain", pid=self.pid)
        self._signal(signal.SIGTERM)

    async def ended(self) -> int:
        """Its exit code once it has one."""
        await until(lambda: not self.alive)
        assert self.exitcode is not None
        return self.exitcode

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def _wait(self) -> None:
        if isinstance(self._process, subprocess.Popen):
            self._process.wait()
        else:
            self._process.join()


class Fleet:
    """`with Fleet(url, folder) as fleet:` the worker processes of one test; none outlives it."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder
        self.members: list[Member] = []
        # What is done to them, and by the lab itself.
        self.ledger = Ledger(folder, "lab")

    def start(self, *, url: str | None = None, **setup: Any) -> Member:
        """One more worker of the lab's app, perhaps with another address of the same store."""
        process = _forks.Process(target=work, args=(self._setup(url, setup),))
        with _findable():
            process.start()
        return self._add(process)

    def start_apart(
        self,
        *,
        url: str | None = None,
        environment: Mapping[str, str] | None = None,
        prefix: Sequence[str] = (),
        **setup: Any,
    ) -> Member:
        """One with an interpreter of its own: for another environment, or behind a command such as `ip netns exec`."""
        told = json.dumps(asdict(self._setup(url, setup)))
        return self.run([*prefix, sys.executable, "-m", "tickbird.testing.faults.app", told], environment)

    def run(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> Member:
        """Any other command, such as `tickbird worker shop:bird`, as a member."""
        paths = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        with (self.folder / "commands.log").open("ab") as log:
            surroundings = {**os.environ, **paths, **(environment or {})}
            process = subprocess.Popen(command, env=surroundings, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self._add(process)

    @property
    def alive(self) -> list[Member]:
        """Those that have not ended."""
        return [member for member in self.members if member.alive]

    def member(self, pid: int) -> Member:
        """The one with this id."""
        return next(member for member in self.members if member.pid == pid)

    def notes(self, event: str | None = None, run: int | None = None) -> list[Note]:
        """What the processes noted, of this kind and run."""
        return [note for note in read_notes(self.folder) if event in (None, note.event) and run in (None, note.run)]

    def logs(self) -> str:
        """What all processes logged."""
        return "".join(path.read_text() for path in sorted(self.folder.glob("*.log")))

    async def started(self, count: int) -> None:
        """Wait until so many have started."""
        await until(lambda: len(self.notes("started")) >= count)

    async def ran_more(self, count: int) -> None:
        """Wait until so many more runs were executed."""
        seen = len(self.notes("done"))
        await until(lambda: len(self.notes("done")) >= seen + count)

    async def ticked_more(self, count: int) -> None:
        """Wait until so many more runs of ticks were executed, whatever else was."""
        seen = self._ticked()
        await until(lambda: self._ticked() >= seen + count)

    def _ticked(self) -> int:
        return sum(note.tick is not None for note in self.notes("done"))

    def open(self, gate: str) -> None:
        """Let the runs of `held` go on that wait for it."""
        (self.folder / gate).touch()

    def close(self) -> None:
        """Kill every process that is left."""
        for member in self.members:
            member.kill()
        self.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _setup(self, url: str | None, setup: Mapping[str, Any]) -> Setup:
        return Setup(url=url or self.url, folder=str(self.folder), **setup)

    def _add(self, process: BaseProcess | subprocess.Popen[bytes]) -> Member:
        member = Member(process, self.ledger)
        self.members.append(member)
        return member


@contextmanager
def _findable() -> Iterator[None]:
    """The process that forks the others finds what this one finds, whenever it is started."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


async def until(condition: Callable[[], Any | Awaitable[Any]], seconds: float = PATIENCE) -> Any:
    """What the condition gives once it is true."""
    ends = time.monotonic() + seconds
    while True:
        value = condition()
        if isinstance(value, Awaitable):
            value = await value
        if value:
            return value
        if time.monotonic() > ends:
            raise TimeoutError(f"not so after {seconds:.0f} s")
        await asyncio.sleep(0.03)
