"""Tickbird: an app, its tasks and schedules, and the store that they live in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tickbird.domain.errors import StoreError
from tickbird.domain.text import check_name
from tickbird.domain.urls import describe_url, is_server
from tickbird.loop_local import PerLoop
from tickbird.stores import DEFAULT_URL, open_store
from tickbird.targets.protocol import Run
from tickbird.targets.task import Task
from tickbird.task_registry import TaskRegistry

# What only a process needs that connects or works loads when it does: importing an app's code stays quick.
if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from tickbird.client import Client, StoreClient
    from tickbird.client.http import Transport
    from tickbird.engine.code_sync import Declarations
    from tickbird.loop_thread import Portal
    from tickbird.store.protocol.store import Store

    Lifespan = Callable[[Any], AbstractAsyncContextManager[Any]]

__all__ = ["Run", "Task", "Tickbird"]

_SCHEMES = ("http", "https", "sqlite", "postgresql", "postgres")


class Tickbird(TaskRegistry):
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
        super().__init__(commands, command_env)
        self.url = url or os.environ.get("TICKBIRD_URL") or DEFAULT_URL
        self.app = check_name(app, "app")
        self.namespace = check_name("default" if namespace is None else namespace, "namespace")
        # On a server, the only one that the token opens where none is named.
        self._named = namespace
        self._token = token
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

    @property
    def declarations(self) -> Declarations:
        """The schedules that this app's code declares."""
        from tickbird.engine.code_sync import Declarations

        return Declarations(self.namespace, self.app, dict(self._declared))

    def client_on(self, store: Store) -> StoreClient:
        """A client of this app on a store that is open already."""
        from tickbird.client import StoreClient

        return StoreClient(store, self.namespace, self._validators, self._settings)

    async def client(self) -> Client:
        """The client for this event loop, connected when first asked for; closed with the loop at the latest."""
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
        """Use this client for everything that is sent, as tests do; None goes back to the app's own."""
        self._adopted = client

    async def aclose(self) -> None:
        """Close the connections of this event loop."""
        await self._clients.close()

    @property
    def sync(self) -> Any:
        """The client for code without an event loop: every method waits for its result."""
        from tickbird.client.sync import SyncClient
        from tickbird.loop_thread import Portal

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
        from tickbird.integrations import asgi_mount

        return asgi_mount.api(self, under, otherwise)

    def dashboard(self, *, under: str = "", otherwise: Any = None) -> Any:
        """The dashboard with the HTTP API as an ASGI app, to be mounted as `api` is; visitors log in with a token."""
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
        """Send a run in the transaction of a connection to the store's database: if that rolls back, there is no run.

        Returns the run's id, or an awaitable of it where the connection is an async one. Options are those of
        `task.using`.
        """
        from tickbird.integrations.caller_transactions import enqueue_in

        name = task if isinstance(task, str) else task.name
        return enqueue_in(self, connection, name, payload or {}, options, unknown_task_ok=unknown_task_ok)

    async def _send(self, task: Task[Any, Any], payload: Mapping[str, Any], options: Mapping[str, Any]) -> int:
        """What `task.enqueue` does."""
        client = await self.client()
        return await client.runs.enqueue(task.name, payload, **{"actor": self.app, **options})
