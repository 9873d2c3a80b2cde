"""A worker process: the engine in its own thread, user code in the main thread's loop and in threads."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Protocol

from tickbird.consumers.consumer import Consumer
from tickbird.domain.errors import DefinitionError, InvalidError
from tickbird.domain.leadership import SHARED, Coordination, check_coordination, check_timeout
from tickbird.domain.schedules.codec import fingerprint
from tickbird.domain.targets.target import TargetKey
from tickbird.domain.workers import (
    DEFAULT_ROLE,
    Worker,
    WorkerRole,
    executes,
    is_planner,
    kind_of,
    publish_targets,
    read_queues,
)
from tickbird.engine.code_sync import Declarations
from tickbird.engine.code_sync import sync as write_declarations
from tickbird.engine.consumers import STUCK_FACTOR, ConsumerSet
from tickbird.engine.engine import Engine, EngineOptions
from tickbird.engine.processes.app_reference import find_reference
from tickbird.engine.processes.pool import ProcessPool
from tickbird.engine.processes.task_process import ChildConfig
from tickbird.engine.run_logs import RunHandler
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store, planning_is_on
from tickbird.targets.protocol import Executable
from tickbird.version import VERSION

log = logging.getLogger("tickbird.worker")
# Seconds. Some parents signal a child and then its process group: a second signal this soon is the same one.
ECHO = 0.2
# Seconds: enough for a deploy to start its workers, which then declare the same schedules.
_DECLARED_FOR = 600.0
_ROLE, _QUEUES = "TICKBIRD_ROLE", "TICKBIRD_QUEUES"


class WorkerApp(Protocol):
    """The part of an app that a worker needs; `tickbird.Tickbird` implements it."""

    url: str
    app: str
    namespace: str
    reference: str | None
    coordination: Coordination
    leader_timeout: float
    fallback_max_age: float | None

    @property
    def tasks(self) -> Mapping[str, Any]: ...

    @property
    def executables(self) -> Mapping[TargetKey, Executable]: ...

    @property
    def declarations(self) -> Declarations: ...

    @property
    def consumers(self) -> Mapping[str, Consumer]: ...

    async def aclose(self) -> None: ...


def describe_worker(
    bird: WorkerApp,
    *,
    queues: tuple[str, ...] | None = None,
    slots: int = 10,
    executables: Mapping[TargetKey, Executable] | None = None,
) -> Worker:
    """Describe this process: its id (new for each process), its queues and tasks, and the schedules in its code."""
    served = queues or tuple(sorted({"default", *(task.queue for task in bird.tasks.values())} | _queues(bird)))
    host = socket.gethostname()
    return Worker(
        id=f"{host}-{os.getpid()}-{secrets.token_hex(4)}",
        namespace=bird.namespace,
        app=bird.app,
        host=host,
        pid=os.getpid(),
        version=VERSION,
        queues=served,
        slots=slots,
        tasks=publish_targets(
            {key: executable.describe() for key, executable in (executables or bird.executables).items()}
        ),
        declared={name: fingerprint(definition) for name, definition in bird.declarations.schedules.items()},
    )


async def publish_declarations(bird: WorkerApp, *, adopt: bool = False) -> tuple[list[str], list[str]]:
    """Write an app's declared schedules without a worker; returns the changes, and the schedules that stay as stored.

    A schedule stays if a live worker declares the stored definition. With `adopt`, the app takes over schedules that a
    person or a file without an app created.
    """
    worker = replace(describe_worker(bird), kind="sync", queues=(), slots=0, tasks={})
    store = open_store(bird.url)
    await store.open()
    try:
        await store.workers.heartbeat(worker, _DECLARED_FOR)
        try:
            for sync_worker in await store.workers.list(bird.namespace):
                # This sync supersedes an earlier one, which would otherwise prevent a rollback from winning.
                if sync_worker.kind == "sync" and sync_worker.app == bird.app and sync_worker.id != worker.id:
                    await store.workers.remove(sync_worker.id)
            changes = await write_declarations(store, bird.declarations, worker, adopt=adopt)
        except BaseException:
            # Schedules that were not written must not count as declared.
            await store.workers.remove(worker.id)
            raise
        declared = bird.declarations.schedules
        stored = await store.schedules.list_of_app(bird.namespace, bird.app, list(declared))
        unchanged = [name for name, code in declared.items() if stored[name].schedule.fingerprint != fingerprint(code)]
        return changes, unchanged
    finally:
        await store.close()


def _queues(bird: WorkerApp) -> set[str]:
    return {definition.queue for definition in bird.declarations.schedules.values()}


def _children(bird: WorkerApp, executables: Iterable[Executable], options: EngineOptions) -> ProcessPool | None:
    """Create the pool of child processes, if any run needs one; children must be able to import the app."""
    isolated = {name: task.function.__module__ for name, task in bird.tasks.items() if task.isolation}
    if not isolated:
        needed = any(executable.isolation for executable in executables)
        return ProcessPool(None, {}, lease=options.lease) if needed else None
    reference = bird.reference or find_reference(bird, isolated.values())
    if reference is None or "__main__" in isolated.values():
        names = ", ".join(sorted(isolated))
        raise DefinitionError(
            f"tasks with isolation='process' ({names}) run in processes that import the app, but this app cannot be "
            "imported.",
            field="isolation",
            hint="Define the app in a module, at its top level, and start `tickbird worker module:bird`.",
        )
    return ProcessPool(ChildConfig(reference, bird.url, bird.namespace), isolated, lease=options.lease)


def _consumer_threads(consumers: Iterable[Consumer]) -> Executor | None:
    """Threads of their own, so that tasks and consumers do not wait for one another."""
    count = sum(STUCK_FACTOR * consumer.concurrency for consumer in consumers if consumer.blocking)
    return ThreadPoolExecutor(max_workers=count, thread_name_prefix="tickbird consumer") if count else None


def _kind(role: WorkerRole | None) -> str:
    """Return the kind of the worker: of this role, or else of TICKBIRD_ROLE."""
    if role is not None:
        return kind_of(role)
    try:
        return kind_of(os.environ.get(_ROLE, "").strip().lower() or DEFAULT_ROLE)
    except InvalidError as error:
        raise InvalidError(f"{_ROLE}: {error.message.partition(': ')[2]}", field=_ROLE, hint=error.hint) from None


def _served(kind: str, queues: str | Iterable[str] | None) -> tuple[str, ...] | None:
    """Return the queues that the worker serves, or else those of TICKBIRD_QUEUES; None: those of the app's code."""
    if queues is not None:
        if kind == "planner":
            raise InvalidError(
                "queues: a worker with the role plan-only executes no runs, so it serves no queues.",
                field="queues",
                hint="Omit queues, or choose another role.",
            )
        return read_queues(queues)
    stated = os.environ.get(_QUEUES, "").strip()
    return read_queues(stated) if stated else None


def _unplanned(kind: str, options: EngineOptions) -> tuple[str, EngineOptions]:
    """Return the kind and the options of a worker in an environment that switches planning off."""
    if kind == "planner":
        raise InvalidError(
            "role: a worker with the role plan-only has nothing to do, because TICKBIRD_PLANNING is off.",
            field="role",
            hint="Set TICKBIRD_PLANNING=on, or choose another role.",
        )
    return "executor", replace(options, off="plans nothing: TICKBIRD_PLANNING is off")


class WorkerProcess:
    """Runs the engine of an app until it is drained."""

    def __init__(
        self,
        bird: WorkerApp,
        *,
        slots: int = 10,
        queues: str | Iterable[str] | None = None,
        role: WorkerRole | None = None,
        options: EngineOptions | None = None,
    ) -> None:
        """Without `role` and `queues`, the environment variables apply: TICKBIRD_ROLE and TICKBIRD_QUEUES."""
        self._bird = bird
        self._options = options or EngineOptions()
        self._options = replace(
            self._options,
            coordination=check_coordination(self._options.coordination or bird.coordination),
            fallback_max_age=bird.fallback_max_age,
            leader_timeout=check_timeout(self._options.leader_timeout or bird.leader_timeout),
        )
        kind = _kind(role)
        served = _served(kind, queues)
        if kind != "executor" and not planning_is_on():
            kind, self._options = _unplanned(kind, self._options)
        self._executables = bird.executables
        self.worker = replace(
            describe_worker(bird, queues=served, slots=slots, executables=self._executables), kind=kind
        )
        if kind == "planner":
            self.worker = replace(self.worker, queues=(), slots=0, tasks={})
        if self.plans:
            self.worker = replace(self.worker, coordination=self._options.coordination or SHARED)
        self._children = _children(bird, self._executables.values(), self._options) if self.executes else None
        self._consumers = ConsumerSet(bird.consumers, _consumer_threads(bird.consumers.values()))
        self._engine: Engine | None = None
        self._engine_loop: asyncio.AbstractEventLoop | None = None
        self._draining = False
        self._signalled_at = float("-inf")
        self._failure: BaseException | None = None
        self.on_started: Callable[[], None] = lambda: None

    async def run(self, *, signals: bool = False) -> None:
        """Work until drained. With `signals`, SIGTERM and SIGINT drain, and a second one ends the process at once."""
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        threads = ThreadPoolExecutor(max_workers=max(1, self.worker.slots), thread_name_prefix="tickbird task")
        if signals:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, self._on_signal, number)

        def engine_thread() -> None:
            try:
                asyncio.run(self._run_engine(loop, threads))
            except BaseException as error:  # noqa: BLE001 - handed to the thread that waits
                self._failure = error
            finally:
                loop.call_soon_threadsafe(ended.set)

        thread = threading.Thread(target=engine_thread, name="tickbird engine", daemon=True)
        thread.start()
        try:
            await ended.wait()
        except asyncio.CancelledError:
            self.drain()
            await ended.wait()
            raise
        finally:
            # Threads that ignore the stop request must not delay the end of the process.
            threads.shutdown(wait=False, cancel_futures=True)
            if self._consumers.threads is not None:
                self._consumers.threads.shutdown(wait=False, cancel_futures=True)
            if self._children is not None:
                await asyncio.to_thread(self._children.close)
            await self._bird.aclose()
        thread.join()
        if self._failure is not None:
            raise self._failure
        if signals and self.busy:
            self._leave()

    @property
    def plans(self) -> bool:
        return is_planner(self.worker)

    @property
    def executes(self) -> bool:
        return executes(self.worker)

    @property
    def busy(self) -> int:
        """The number of occupied slots, and of calls of consumers."""
        if self._engine is None:
            return 0
        consuming = self._engine.consuming
        return self._engine.execution.running + (consuming.running if consuming is not None else 0)

    @property
    def may_work(self) -> bool:
        """False while the worker is on standby, for example in a copy of a store that no person has accepted."""
        return self._engine is None or self._engine.readiness.may_work

    def drain(self) -> None:
        """Claim nothing more, finish the running attempts, then end. Callable from any thread."""
        self._draining = True
        if self._engine is not None and self._engine_loop is not None:
            self._engine_loop.call_soon_threadsafe(self._engine.drain)

    def _leave(self) -> None:
        """End the process although some tasks did not stop; Python would wait for their threads."""
        log.warning("%d tasks or consumers ignored the stop request: other workers continue their work", self.busy)
        logging.shutdown()
        os._exit(0)

    def _on_signal(self, number: int) -> None:
        now = time.monotonic()
        if self._draining and now - self._signalled_at < ECHO:
            return
        self._signalled_at = now
        if self._draining:
            log.warning("second signal: ending at once; running runs are retried when their leases expire")
            os._exit(128 + number)
        log.info("draining: waiting up to %.0f s for running runs; a second signal ends at once", self._options.drain)
        self.drain()

    async def _run_engine(self, work_loop: asyncio.AbstractEventLoop, threads: ThreadPoolExecutor) -> None:
        store: Store = open_store(self._bird.url)
        try:
            await store.open()
            self._engine_loop = asyncio.get_running_loop()
            self._engine = Engine(
                store,
                self.worker,
                self._executables if self.executes else {},
                self._bird.declarations,
                self._options,
                work_loop=work_loop,
                threads=threads,
                children=self._children,
                wall=time.time,
                consumers=self._consumers,
            )
            if self._draining:
                self._engine.drain()
            log_handler = RunHandler(self._engine.logs)
            logging.getLogger().addHandler(log_handler)
            try:
                await self._engine.run(self.on_started)
            finally:
                logging.getLogger().removeHandler(log_handler)
        finally:
            await store.close()
