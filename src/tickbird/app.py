"""Tickbird: an app, its tasks and schedules, and its store."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from tickbird.consumer_registry import ConsumerRegistry
from tickbird.domain.errors import StoreError
from tickbird.domain.leadership import DEFAULT_TIMEOUT, SHARED, Coordination, check_coordination, check_timeout
from tickbird.domain.text import check_name
from tickbird.domain.time.durations import Duration, seconds
from tickbird.domain.urls import describe_url, is_server
from tickbird.loop_local import PerLoop
from tickbird.stores import DEFAULT_URL, has_sql_functions, open_store
from tickbird.targets.protocol import Run
from tickbird.targets.task import Task
from tickbird.task_registry import TaskRegistry

# Modules that only a connected process needs load on first use, so that importing an app's code stays fast.
if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from tickbird.client import Client, StoreClient
    from tickbird.client.http import Transport
    from tickbird.domain.events.deliveries import DeliveryOutcome
    from tickbird.domain.events.event import NewEvent
    from tickbird.engine.code_sync import Declarations
    from tickbird.loop_thread import Portal
    from tickbird.store.protocol.sql_functions import SqlFunctionStore
    from tickbird.store.protocol.store import Store

    Lifespan = Callable[[Any], AbstractAsyncContextManager[Any]]

__all__ = ["Run", "Task", "Tickbird"]

# Seconds. In fallback, older rows are not used, because the schedules may have been edited since.
DEFAULT_FALLBACK_AGE = 86_400.0
_SCHEMES = ("http", "https", "sqlite", "postgresql", "postgres")


class Tickbird(TaskRegistry, ConsumerRegistry):
    """An app: its tasks and consumers, the schedules that its code declares, and its store."""

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
        sql_connections: int = 4,
        coordination: Coordination = SHARED,
        leader_timeout: float = DEFAULT_TIMEOUT,
        durable_by_default: bool = True,
        fallback: bool | Duration = True,
    ) -> None:
        TaskRegistry.__init__(self, commands, command_env, sql_connections)
        self.durable_by_default = durable_by_default
        # Seconds; None: no fallback.
        self.fallback_max_age = _checked_fallback(fallback)
        ConsumerRegistry.__init__(self)
        self.url = url or os.environ.get("TICKBIRD_URL") or DEFAULT_URL
        self.app = check_name(app, "app")
        self.namespace = check_name("default" if namespace is None else namespace, "namespace")
        # On a server, None means the only namespace that the token may access.
        self._named = namespace
        # The settings of its workers.
        self.coordination = check_coordination(coordination)
        self.leader_timeout = check_timeout(leader_timeout)
        self._token = token
        self._adopted: Client | None = None
        # MODULE:ATTRIBUTE, if the app was imported by that reference.
        self.reference: str | None = None
        self._clients: PerLoop[Client] = PerLoop(self._connected)
        self._sql_functions: PerLoop[SqlFunctionStore] = PerLoop(self._open_sql_functions)

    @classmethod
    def connect(cls, url: str | None = None, *, token: str | None = None, namespace: str | None = None) -> Tickbird:
        """Connect a program without tasks to a server (address and token) or to a store (URL).

        Defaults: TICKBIRD_SERVER and TICKBIRD_TOKEN, then TICKBIRD_URL. `async with` returns the client, `with` the
        synchronous client.
        """
        bird = cls(url or os.environ.get("TICKBIRD_SERVER"), token=token, namespace=namespace)
        if bird.url.partition(":")[0].lower() not in _SCHEMES:
            raise StoreError(
                f"{describe_url(bird.url)!r} is neither the address of a server nor the URL of a store.",
                hint="Use https://tickbird.example.com, sqlite:///path/to/file.db or postgresql://user@host/database.",
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

    @property
    def declarations(self) -> Declarations:
        from tickbird.engine.code_sync import Declarations

        return Declarations(self.namespace, self.app, dict(self._declared))

    def client_on(self, store: Store) -> StoreClient:
        """Create a client of this app for an open store."""
        from tickbird.client import StoreClient

        return StoreClient(store, self.namespace, self._validators, self._settings)

    async def client(self) -> Client:
        """The client for this event loop. It connects on the first call and closes with the loop at the latest."""
        if self._adopted is not None:
            return self._adopted
        return await self._clients.get()

    async def _connected(self) -> tuple[Store | Transport, Client]:
        if is_server(self.url):
            from tickbird.client.http import HttpClient, Transport

            transport = Transport(self.url, self._token or os.environ.get("TICKBIRD_TOKEN"))
            return transport, HttpClient(transport, self._named, self._validators, self._settings)
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
        """Use this client for all calls, for example in tests; None restores the app's own client."""
        self._adopted = client

    async def aclose(self) -> None:
        await self._sql_functions.close()
        await self._clients.close()

    @property
    def sql_functions(self) -> Callable[[], Awaitable[SqlFunctionStore]] | None:
        """Opens the functions of the store's database, on connections of the running event loop; None without any."""
        return self._sql_functions.get if has_sql_functions(self.url) else None

    async def _open_sql_functions(self) -> tuple[Store, SqlFunctionStore]:
        store = open_store(self.url)
        await store.open()
        return store, store.sql_functions

    @property
    def sync(self) -> Any:
        """The client for code without an event loop: every call blocks until it has a result."""
        from tickbird.client.sync import SyncClient
        from tickbird.loop_thread import Portal

        # `setdefault` is atomic, so that threads share one portal.
        portal: Portal = vars(self).setdefault("_portal", Portal())
        if portal.closed:
            portal = self._portal = Portal()
        return SyncClient(self.client, portal)

    def close(self) -> None:
        """Close the connections of `sync`. Calls in other threads raise StoreError."""
        if "_portal" in vars(self):
            self._portal.close()

    def lifespan(self, *, worker: bool = False, within: Lifespan | None = None, **options: Any) -> Lifespan:
        """Return an ASGI lifespan: it opens the store, runs a worker if `worker=True`, and drains it at the end.

        `within` is the app's own lifespan; it starts before and ends after. Options are those of a WorkerProcess.
        """
        from tickbird.integrations.asgi_lifespan import lifespan

        return lifespan(self, worker, within, options)

    def api(self, *, under: str = "", otherwise: Any = None) -> Any:
        """The HTTP API as an ASGI app. Clients need a token.

        Mount it under any path, or pass `under="/tickbird"` and `otherwise=app`: requests to other paths go to `app`.
        """
        from tickbird.integrations import asgi_mount

        return asgi_mount.api(self, under, otherwise)

    def dashboard(self, *, under: str = "", otherwise: Any = None) -> Any:
        """The dashboard and the HTTP API as an ASGI app. Mount it like `api`; users log in with a token."""
        from tickbird.integrations import asgi_mount

        return asgi_mount.dashboard(self, under, otherwise)

    def enqueue_in(
        self,
        connection: Any,
        task: Task[..., Any] | str,
        payload: Mapping[str, Any] | None = None,
        *,
        unknown_task_ok: bool = False,
        **options: Any,
    ) -> Any:
        """Enqueue a run in the transaction of your connection to the store's database; a rollback discards the run.

        Returns the run's id; on an async connection, an awaitable of it. Options are those of `task.using`.
        """
        from tickbird.integrations.caller_transactions import enqueue_in

        name = task if isinstance(task, str) else task.name
        return enqueue_in(self, connection, name, payload or {}, options, unknown_task_ok=unknown_task_ok)

    def publish(
        self,
        topic: str,
        type: str,  # noqa: A002 - as CloudEvents has it
        data: Any = None,
        *,
        connection: Any = None,
        source: str | None = None,
        actor: str | None = None,
        **options: Any,
    ) -> Any:
        """Publish an event; returns an awaitable of its id.

        With `connection`, it is published in the transaction of your connection to the store's database, and a rollback
        discards it; on a connection that is not async, returns the id. Options: key, headers, tenant, event_id,
        expected_version.
        """
        from tickbird.domain.events.event import new_event

        if connection is None:
            return self._publish(topic, type, data, {**options, "source": source, "actor": actor or self.app})
        event = new_event(topic, type, data, **options)
        published = self.publish_many([event], connection=connection, source=source, actor=actor)
        return _first(published) if isawaitable(published) else published[0]

    def publish_many(
        self,
        events: Sequence[NewEvent],
        *,
        connection: Any = None,
        source: str | None = None,
        actor: str | None = None,
    ) -> Any:
        """Publish up to 1,000 events together, as `publish` does; returns an awaitable of their ids, in order.

        A consumer group handles or fails them together. With a `connection` that is not async, returns the ids.
        """
        if connection is None:
            return self._publish_many(events, source, actor or self.app)
        from tickbird.integrations.caller_transactions import publish_in

        return publish_in(self, connection, events, source=source, actor=actor)

    def commit_outcome(self, connection: Any, outcome: DeliveryOutcome) -> Any:
        """Record the outcome of a delivery in the transaction of a connection, as `EventBatch.commit` does."""
        from tickbird.integrations.caller_transactions import commit_in

        return commit_in(self, connection, outcome)

    def finish_run(self, run: Run, connection: Any, result: Any) -> Any:
        """Record the success of a run in the transaction of a connection, as `Run.finish_in` does."""
        from tickbird.integrations.caller_transactions import finish_in

        return finish_in(self, connection, run, result)

    def transaction_of(self, connection: Any) -> Any:
        """A new transaction of a connection, as `Run.transaction` begins it."""
        from tickbird.integrations.caller_transactions import transaction_of

        return transaction_of(connection)

    async def _publish(self, topic: str, type: str, data: Any, options: Mapping[str, Any]) -> str:  # noqa: A002
        client = await self.client()
        # The client sends texts; with a connection, a UUID is taken as it is.
        if options.get("event_id") is not None:
            options = {**options, "event_id": str(options["event_id"])}
        return str((await client.events.publish(topic, type, data, **options)).id)

    async def _publish_many(self, events: Sequence[NewEvent], source: str | None, actor: str) -> list[str]:
        client = await self.client()
        return [str(event.id) for event in await client.events.publish_many(events, source=source, actor=actor)]

    async def _send(self, task: Task[Any, Any], payload: Mapping[str, Any], options: Mapping[str, Any]) -> int:
        client = await self.client()
        return await client.runs.enqueue(task.name, payload, **{"actor": self.app, **options})


def _checked_fallback(fallback: bool | Duration) -> float | None:
    """Return the maximum age of rows in seconds; raises DefinitionError for an invalid duration."""
    if isinstance(fallback, bool):
        return DEFAULT_FALLBACK_AGE if fallback else None
    return float(seconds(fallback, "fallback", minimum=1))


async def _first(published: Awaitable[list[str]]) -> str:
    [event_id] = await published
    return event_id
