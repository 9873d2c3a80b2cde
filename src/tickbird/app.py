"""Tickbird: an app with its tasks and schedules, the only place that names concrete targets."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from tickbird.domain.errors import DefinitionError, InvalidError, NotFoundError, StoreError
from tickbird.domain.schedules.definition import TASK_SETTINGS, Definition, Target, command_target
from tickbird.domain.schedules.policy_input import policies
from tickbird.domain.targets.byte_sizes import byte_count
from tickbird.domain.targets.command import check_variables, command
from tickbird.domain.text import check_name, check_new_name, check_text
from tickbird.domain.time.instants import EPOCH
from tickbird.domain.triggers.trigger import Trigger, at
from tickbird.domain.urls import describe_url, is_server
from tickbird.loop_local import PerLoop
from tickbird.stores import DEFAULT_URL, enqueue_steps, open_store
from tickbird.targets.protocol import Executable, Isolation, Run
from tickbird.targets.task import Task

# What only a process needs that connects or works loads when it does: importing an app's code stays quick.
if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from tickbird.client import Client
    from tickbird.client.http import Transport
    from tickbird.client.sync import Portal
    from tickbird.engine.code_sync import Declarations
    from tickbird.store.protocol.store import Store
    from tickbird.store.shared.statement_scripts import StatementScript
    from tickbird.targets.command import Command

    Lifespan = Callable[[Any], AbstractAsyncContextManager[Any]]

__all__ = ["Run", "Task", "Tickbird"]

P = ParamSpec("P")
R = TypeVar("R")

_SCHEMES = ("http", "https", "sqlite", "postgresql", "postgres")


def _checked_isolation(task: str, isolation: object, memory: object) -> int | None:
    """The limit in bytes of a task in child processes."""
    if isolation not in (None, "process"):
        raise DefinitionError(
            f"task {task!r}: isolation {str(isolation)[:60]!r} is not known;",
            field="isolation",
            hint='use isolation="process", or leave it out.',
        )
    if memory is None:
        return None
    if isolation is None:
        raise DefinitionError(
            f"task {task!r}: memory= can only limit a process;", field="memory", hint='give isolation="process" too.'
        )
    return byte_count(memory, "memory")


class Tickbird:
    """An app: its tasks, the schedules that its code declares, and the store they live in."""

    _portal: Portal

    def __init__(
        self,
        url: str | None = None,
        *,
        app: str = "default",
        namespace: str | None = None,
        token: str | None = None,
        commands: Iterable[str] = (),
        command_env: Iterable[str] = (),
    ) -> None:
        self.url = url or os.environ.get("TICKBIRD_URL") or DEFAULT_URL
        self.app = check_name(app, "app")
        self.namespace = check_name("default" if namespace is None else namespace, "namespace")
        # On a server, the only one that the token opens where none is named.
        self._named = namespace
        self._token = token
        self.tasks: dict[str, Task[Any, Any]] = {}
        # Programs that its workers start where schedules ask for them; all others are refused.
        self.allows: tuple[str, ...] = (commands,) if isinstance(commands, str) else tuple(commands)
        # Variables that definitions of such programs may set, and read from the environment of its workers.
        self.allows_env: tuple[str, ...] = check_variables(command_env)
        self._declared: dict[str, Definition] = {}
        self._adopted: Client | None = None
        # MODULE:ATTRIBUTE, when it was imported by that.
        self.reference: str | None = None
        self._clients: PerLoop[Client] = PerLoop(self._connected)

    @classmethod
    def connect(cls, url: str | None = None, *, token: str | None = None, namespace: str | None = None) -> Tickbird:
        """For programs without tasks of their own: a server by its address and a token, or a store by its URL.

        Without them TICKBIRD_SERVER and TICKBIRD_TOKEN, else TICKBIRD_URL. `async with` gives its client, and `with`
        the one whose calls wait for their answer.
        """
        bird = cls(url or os.environ.get("TICKBIRD_SERVER"), token=token, namespace=namespace)
        if bird.url.partition(":")[0].lower() not in _SCHEMES:
            raise StoreError(
                f"{describe_url(bird.url)!r} is neither the address of a server nor a store's URL;",
                hint="use https://tickbird.example.com, sqlite:///path/to/file.db or postgresql://user@host/database.",
            )
        return bird

    async def __aenter__(self) -> Client:
        return await self.client()

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __enter__(self) -> Any:
        return self.sync

    def __exit__(self, *_: object) -> None:
        self.close()

    @overload
    def task(self, function: Callable[P, R], /) -> Task[P, R]: ...

    @overload
    def task(
        self,
        function: None = None,
        /,
        *,
        name: str | None = None,
        schedule: Trigger | None = None,
        isolation: Isolation | None = None,
        memory: int | str | None = None,
        **options: Any,
    ) -> Callable[[Callable[P, R]], Task[P, R]]: ...

    def task(
        self,
        function: Callable[P, R] | None = None,
        /,
        *,
        name: str | None = None,
        schedule: Trigger | None = None,
        isolation: Isolation | None = None,
        memory: int | str | None = None,
        **options: Any,
    ) -> Task[P, R] | Callable[[Callable[P, R]], Task[P, R]]:
        """Register a function as a task; with `schedule=`, also declare a schedule of the same name.

        With `isolation="process"` its runs execute in child processes of the worker, which can be killed; `memory=`
        ("512MB") limits what such a process and all that it starts may take.
        """

        def register(function: Callable[P, R]) -> Task[P, R]:
            chosen = name if name is not None else str(getattr(function, "__name__", ""))
            given = policies({key: value for key, value in options.items() if key != "payload"})
            own = {key: value for key, value in given.items() if key in TASK_SETTINGS}
            if schedule is None and len(own) < len(options):
                extra = ", ".join(sorted(set(options) - set(own)))
                raise DefinitionError(f"task {chosen!r}: {extra} belongs to a schedule;", hint="give schedule= too.")
            # The policies of a task have the same ranges as those of a schedule.
            # The key may need fields that only a payload has.
            checked = {**own, "concurrency_key": None}
            Definition(trigger=at(EPOCH), target=Target(check_name(chosen, "task")), **checked)
            limit = _checked_isolation(chosen, isolation, memory)
            task = Task(self.prepare(function), chosen, self._send, isolation=isolation, memory=limit, **own)
            if chosen in self.tasks:
                raise DefinitionError(
                    f"there are two tasks named {chosen!r};", field="task", hint="give one of them another name=."
                )
            self.tasks[chosen] = task
            if schedule is not None:
                try:
                    self.schedule(chosen, task, schedule, **options)
                except Exception:
                    del self.tasks[chosen]
                    raise
            return task

        return register if function is None else register(function)

    def schedule(
        self,
        name: str,
        task: Task[..., Any] | str,
        trigger: Trigger,
        *,
        payload: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """Declare a schedule of a task in code; policies not given here are the task's."""
        check_new_name(name, "schedule")
        if not isinstance(task, Task | str):
            raise DefinitionError(
                f"schedule {name!r}: {getattr(task, '__name__', task)!r} is not a task;",
                field="task",
                hint="register the function with @bird.task first.",
            )
        self._check_schedule(name, trigger)
        registered = self.tasks.get(task if isinstance(task, str) else task.name)
        if registered is None or (isinstance(task, Task) and registered is not task):
            known = ", ".join(sorted(self.tasks)) or "none yet"
            raise NotFoundError(
                f"schedule {name!r}: this app has no task {task if isinstance(task, str) else task.name!r};",
                hint=f"register it with @bird.task first (known: {known}).",
            )
        definition = Definition(
            trigger=trigger,
            target=Target(registered.name),
            payload=registered.validate(payload or {}),
            **{**registered.settings, **policies(options)},
        )
        self._declared[name] = definition

    def command(
        self,
        name: str,
        args: Sequence[str] | None = None,
        *,
        schedule: Trigger,
        shell: str | None = None,
        program: str | None = None,
        env: Mapping[str, Any] | None = None,
        folder: str | None = None,
        user: str | None = None,
        success: int | Iterable[int] = (0,),
        input: str | None = None,  # noqa: A002 - as subprocess has it
        payload: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """Declare a schedule of a program: a list with its whole path first, or `shell=` with a line for /bin/sh.

        A worker starts only programs that it allows: `Tickbird(commands=["/usr/local/bin/backup"])`, or
        `tickbird worker --allow-command`. It sets only variables that it allows: `command_env=["LEVEL"]`, or
        `--allow-env`.
        """
        started = command(
            args, shell=shell, program=program, env=env, folder=folder, user=user, success=success, input=input
        )
        self._check_schedule(check_new_name(name, "schedule"), schedule)
        self._declared[name] = Definition(
            trigger=schedule, target=command_target(started), payload=payload or {}, **policies(options)
        )

    @property
    def programs(self) -> dict[str, Command]:
        """The commands that its workers allow, as they are found on this machine now."""
        from tickbird.targets.command import allowed

        return allowed(self.allows, self.allows_env)

    @property
    def executables(self) -> dict[str, Executable]:
        """All that its workers execute."""
        return {**self.tasks, **self.programs}

    def _check_schedule(self, name: str, trigger: Trigger) -> None:
        if not isinstance(trigger, Trigger):
            raise DefinitionError(
                f"schedule {name!r}: {str(trigger)[:60]!r} is not a trigger;",
                field="trigger",
                hint="use cron(...), every(...), at(...) or any_of(...).",
            )
        if name in self._declared:
            raise DefinitionError(f"there are two schedules named {name!r};", field="schedule", hint="rename one.")

    def prepare(self, function: Callable[P, R]) -> Callable[P, R]:
        """What is done to a function that becomes a task; an integration may do something around each call."""
        return function

    @property
    def declarations(self) -> Declarations:
        """The schedules that this app's code declares."""
        from tickbird.engine.code_sync import Declarations

        return Declarations(self.namespace, self.app, dict(self._declared))

    def client_on(self, store: Store) -> Client:
        """A client of this app on a store that is open already."""
        from tickbird.client import Client

        return Client(store, self.namespace, self._validators, self._settings)

    async def client(self) -> Client:
        """The client for this event loop, connected when first asked for; closed with the loop at the latest."""
        if self._adopted is not None:
            return self._adopted
        return await self._clients.get()

    async def _connected(self) -> tuple[Store | Transport, Client]:
        if is_server(self.url):
            from tickbird.client.http import RemoteClient, Transport

            transport = Transport(self.url, self._token or os.environ.get("TICKBIRD_TOKEN"))
            return transport, RemoteClient(transport, self._named, self._validators, self._settings)
        store = open_store(self.url)
        await store.open()
        return store, self.client_on(store)

    @property
    def _validators(self) -> Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]]:
        return {name: task.validate for name, task in self.tasks.items()}

    @property
    def _settings(self) -> Mapping[str, Mapping[str, Any]]:
        return {name: task.settings for name, task in self.tasks.items()}

    def adopt_client(self, client: Client | None) -> None:
        """Use this client for everything that is sent, as tests do; None goes back to the app's own."""
        self._adopted = client

    async def aclose(self) -> None:
        """Close the connections of this event loop."""
        await self._clients.close()

    @property
    def sync(self) -> Any:
        """The client for code without an event loop: every method waits for its result."""
        from tickbird.client.sync import Portal, SyncClient

        # One for all threads, also for those that come first at the same time.
        portal: Portal = vars(self).setdefault("_portal", Portal())
        if portal.closed:
            portal = self._portal = Portal()
        return SyncClient(self.client, portal)

    def close(self) -> None:
        """Close the connections of `sync`; calls under way in other threads raise StoreError."""
        if "_portal" in vars(self):
            self._portal.close()

    def lifespan(self, *, worker: bool = False, within: Lifespan | None = None, **options: Any) -> Lifespan:
        """For ASGI apps: opens the store, works in the app's process if asked to, and drains when the app ends.

        `within` is the app's own lifespan: begun before and ended after. Options are those of a WorkerProcess.
        """
        from tickbird.integrations.asgi_lifespan import lifespan

        return lifespan(self, worker, within, options)

    def api(self, *, under: str = "", otherwise: Any = None) -> Any:
        """The HTTP API as an ASGI app: mount it under any path, or put it before another app; it needs tokens.

        With `under="/tickbird"` and `otherwise=` another ASGI app, what is not under that path goes to the other one.
        """
        return self._mounted("api", under, otherwise)

    def dashboard(self, *, under: str = "", otherwise: Any = None) -> Any:
        """The dashboard with the HTTP API as an ASGI app, to be mounted as `api` is; visitors log in with a token."""
        return self._mounted("dashboard", under, otherwise)

    def _mounted(self, what: str, under: str, otherwise: Any) -> Any:
        if under and (not under.startswith("/") or under.endswith("/")):
            raise InvalidError(f"under: {under[:60]!r} is no path;", field="under", hint='write it like "/tickbird".')
        if bool(under) != (otherwise is not None):
            raise InvalidError(
                "under and otherwise: give both, or none of them;",
                field="under",
                hint=f'mount bird.{what}() in a framework, or bird.{what}(under="/tickbird", otherwise=app).',
            )
        try:
            from tickbird.integrations import asgi_mount

            mount = asgi_mount.dashboard if what == "dashboard" else asgi_mount.api
            return mount(self, under, otherwise)
        except ImportError as error:
            if error.name not in ("fastapi", "starlette", "jinja2"):
                raise
            raise StoreError(
                "the HTTP API needs FastAPI, and the dashboard Jinja2 too;",
                hint="install them with `pip install 'tickbird[server]'`.",
            ) from None

    def enqueue_in(
        self,
        connection: Any,
        task: Task[..., Any] | str,
        payload: Mapping[str, Any] | None = None,
        *,
        unknown_task_ok: bool = False,
        **options: Any,
    ) -> Any:
        """Send a run in the transaction of a connection to the store's database: if that rolls back, there is no run.

        Returns the run's id, or an awaitable of it where the connection is an async one. Options are those of
        `task.using`.
        """
        from tickbird.store.caller_connections import do_on

        name = task if isinstance(task, str) else task.name
        chosen = {"actor": self.app, **options}
        actor = chosen.pop("actor")

        def work(dialect: str) -> tuple[StatementScript[int], Mapping[str, str]]:
            from tickbird.client.payloads import check_by_schema, new_run
            from tickbird.domain.schedules.task_settings import read_settings

            joining = enqueue_steps(self.url, dialect)

            def steps() -> StatementScript[int]:
                yield from joining.placing(self.url)
                known = self.tasks.get(check_name(name, "task"))
                if known is not None:
                    checked: Mapping[str, Any] = known.validate(payload or {})
                    settings: Mapping[str, Any] = known.settings
                else:
                    published = yield from joining.publishing(self.namespace, name)
                    checked = check_by_schema(name, payload or {}, published, unknown_task_ok=unknown_task_ok)
                    settings = read_settings(published or {})
                check_text(actor, "actor", minimum=1, maximum=200)
                run = new_run(name, checked, settings=settings, **chosen)
                run_id: int = yield from joining.enqueueing(self.namespace, run, actor)
                return run_id

            return steps(), joining.statements(self.url)

        return do_on(connection, work)

    async def _send(self, task: Task[Any, Any], payload: Mapping[str, Any], options: Mapping[str, Any]) -> int:
        """What `task.enqueue` does."""
        client = await self.client()
        return await client.enqueue(task.name, payload, **{"actor": self.app, **options})
