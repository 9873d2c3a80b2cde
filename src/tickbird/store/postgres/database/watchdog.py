"""Response timeouts: a frozen server keeps its connections open and never responds."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import time
from contextlib import suppress
from math import inf
from typing import Any, Final, Protocol

import psycopg
from psycopg_pool import AsyncConnectionPool
from psycopg_pool._acompat import AEvent
from psycopg_pool.pool_async import StopWorker
from psycopg_pool.sched_async import AsyncScheduler

Connection = psycopg.AsyncConnection[tuple[Any, ...]]

# A response may take this much longer than the statement timeout; the check of an idle connection is much shorter.
_TIMEOUT_FACTOR: Final = 4 / 3
_PROOF: Final = 1.0


class Requester(Protocol):
    """Sends one request after the other."""

    connection: Connection
    # The instant of the last request, on the monotonic clock.
    sent_at: float


class StatementWatchdog:
    """Aborts a connection whose server does not respond in time; the driver then reports it as lost."""

    __slots__ = ("_patience", "_requester", "_timer")

    def __init__(self, asking: Requester, patience: float) -> None:
        self._requester = asking
        self._patience = patience
        self._timer = asyncio.get_running_loop().call_later(patience, self._check)

    def _check(self) -> None:
        remaining = self._requester.sent_at + self._patience - time.monotonic()
        if remaining > 0:
            self._timer = asyncio.get_running_loop().call_later(remaining, self._check)
        else:
            abort_connection(self._requester.connection)

    def end(self) -> None:
        """Stop the timer: all responses have arrived."""
        self._timer.cancel()


class _CancelledPool(BaseException):
    """A task of the pool was cancelled. psycopg's pool swallows CancelledError like every Exception."""


class _MaintenanceTask:
    def __init__(self, job: Any) -> None:
        self._job = job

    async def run(self) -> None:
        """Run the job; raise if the worker was cancelled, which psycopg's worker would swallow."""
        try:
            await self._job.run()
        except asyncio.CancelledError:
            raise _CancelledPool from None
        if (task := asyncio.current_task()) is not None and task.cancelling():
            raise _CancelledPool


class _MaintenanceTasks:
    def __init__(self, jobs: Any) -> None:
        self._jobs = jobs

    async def get(self) -> Any:
        """Return the next job, wrapped, or StopWorker as it is."""
        job = await self._jobs.get()
        return job if isinstance(job, StopWorker) else _MaintenanceTask(job)


class _Event(AEvent):
    async def wait_timeout(self, timeout: float) -> bool:
        """Wait, and end when cancelled: wait_for of Python 3.11 swallows a cancellation that meets its result."""
        is_set = await super().wait_timeout(timeout)
        if (task := asyncio.current_task()) is not None and task.cancelling():
            raise asyncio.CancelledError
        return is_set


class _Scheduler(AsyncScheduler):
    def __init__(self) -> None:
        super().__init__()
        self._event = _Event()


class Pool(AsyncConnectionPool[Connection]):
    """A pool with a short timeout for checks of idle connections, whose tasks end when they are cancelled.

    At its end, asyncio.run cancels the remaining tasks, and waits for each of them without limit.
    """

    def _start_workers(self) -> None:
        self._sched = _Scheduler()
        super()._start_workers()

    @classmethod
    async def worker(cls, q: Any) -> None:
        """Run maintenance tasks until stopped or cancelled."""
        jobs: Any = _MaintenanceTasks(q)
        with suppress(_CancelledPool):
            await super().worker(jobs)

    async def getconn(self, timeout: float | None = None) -> Connection:
        """Wait for a connection. Python 3.11's wait_for drops a cancellation that arrives together with its result."""
        task = asyncio.current_task()
        before = task.cancelling() if task is not None else 0
        connection = await super().getconn(timeout)
        if task is not None and task.cancelling() > before:
            await self.putconn(connection)
            raise asyncio.CancelledError
        return connection

    async def _connect(self, timeout: float | None = None) -> Connection:
        try:
            return await super()._connect(timeout)
        except asyncio.CancelledError:
            raise _CancelledPool from None

    async def close(self, timeout: float = 5.0) -> None:
        """Close every idle connection, also after asyncio.run has cancelled the tasks of the pool."""
        tasks = [*self._workers, *([self._sched_runner] if self._sched_runner is not None else [])]
        self._workers, self._sched_runner = [], None
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await super().close(timeout)

    @staticmethod
    async def check_connection(conn: Connection) -> None:
        """Raise unless the server responds soon."""
        timer = asyncio.get_running_loop().call_later(_PROOF, abort_connection, conn)
        try:
            await conn.execute("")
        finally:
            timer.cancel()


def abort_connection(connection: Connection) -> None:
    """Abort a connection while a caller waits for a response; the caller then gets an error at once."""
    if connection.closed:
        return
    # Not closed here: its descriptor would be reused while the loop still watches it.
    with socket.socket(fileno=os.dup(connection.fileno())) as sock, suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


def response_timeout(options: str) -> float:
    """Seconds to wait for a response: somewhat longer than the statement timeout in libpq's `options`."""
    timeouts = re.findall(r"statement_timeout=(\d+)", options)
    return _TIMEOUT_FACTOR * (int(timeouts[-1]) / 1_000) if timeouts and int(timeouts[-1]) else inf
