"""The fleet of the lab: workers of several kinds, other commands as members, and waits for their journals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from multiprocessing.forkserver import set_forkserver_preload
from typing import Any, Self, TypeVar

from lab.faults.worker import Setup, run_worker
from tickbird.proof import fleet as proof
from tickbird.proof import worker
from tickbird.proof.fleet import Member, until

set_forkserver_preload(["lab.faults.worker", "psycopg_pool", "tickbird.store.postgres"])

S = TypeVar("S", bound=worker.Setup)


class Fleet(proof.Fleet):
    """`with Fleet(url, folder) as fleet:` the worker processes of one test; none outlives it."""

    def start(self, *, url: str | None = None, **setup: Any) -> Member:
        """Start a worker, optionally with another URL of the same store."""
        return self.fork(run_worker, self._setup(url, setup))

    def fork(self, target: Callable[[S], None], setup: S) -> Member:
        """Start a process that calls a function of a module."""
        with _python_path():
            return super().fork(target, setup)

    def spawn(
        self,
        *,
        url: str | None = None,
        environment: Mapping[str, str] | None = None,
        prefix: Sequence[str] = (),
        **setup: Any,
    ) -> Member:
        """Start a worker with its own interpreter: for another environment, or a prefix such as `ip netns exec`."""
        text = json.dumps(asdict(self._setup(url, setup)))
        return self.run([*prefix, sys.executable, "-m", "lab.faults.worker", text], environment)

    def run(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> Member:
        """Start any other command, such as `tickbird worker shop:bird`, as a member."""
        paths = {"PYTHONPATH": _sys_path()}
        with (self.folder / "commands.log").open("ab") as log:
            variables = {**os.environ, **paths, **(environment or {})}
            process = _Command(command, env=variables, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self._add(process)

    def member(self, pid: int) -> Member:
        """The member with this pid."""
        return next(member for member in self.members if member.pid == pid)

    async def wait_for_workers(self, count: int) -> None:
        """Wait until this number of workers has started."""
        await until(lambda: len(self.entries("started")) >= count)

    async def wait_for_runs(self, count: int) -> None:
        """Wait until this number of runs was executed from now on."""
        before = len(self.entries("done"))
        await until(lambda: len(self.entries("done")) >= before + count)

    async def wait_for_ticks(self, count: int) -> None:
        """Wait until this number of runs of ticks was executed from now on."""
        before = self._count_ticks()
        await until(lambda: self._count_ticks() >= before + count)

    def _count_ticks(self) -> int:
        return sum(entry.tick is not None for entry in self.entries("done"))

    def create_file(self, name: str) -> None:
        """Let runs of `wait_for_file` continue."""
        (self.folder / name).touch()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _setup(self, url: str | None, setup: Mapping[str, Any]) -> Setup:
        return Setup(url=url or self.url, folder=str(self.folder), **setup)


class _Command(subprocess.Popen[bytes]):
    """A command with the interface of a process of multiprocessing."""

    @property
    def exitcode(self) -> int | None:
        return self.poll()

    def join(self) -> None:
        self.wait()


def _sys_path() -> str:
    return os.pathsep.join(path for path in sys.path if path)


@contextmanager
def _python_path() -> Iterator[None]:
    """Let the fork server, which starts with the first process, import from the same paths as this process."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = _sys_path()
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before
