"""The API on a store of its own, asked without a network in between, by holders of tokens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from lab.servers import PostgresServer
from tests.rows import delete_rows
from tickbird.api.app import create_api
from tickbird.api.middleware.guard import RequestLimits
from tickbird.api.streams.activity_feed import FeedOptions
from tickbird.client import StoreClient
from tickbird.domain.access.tokens import Role
from tickbird.domain.triggers.every import every
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store
from tickbird.wire.codec import shape_of

BASE = "http://tickbird.test"


@pytest.fixture(scope="session")
async def shared_url(postgres_server: PostgresServer) -> AsyncIterator[str]:
    """A database that all tests use in turn: a new one each would take most of the time."""
    url = postgres_server.create_database()
    await open_store(url).migrate()
    yield url
    postgres_server.drop_database(url)


async def empty(url: str) -> None:
    """Leave nothing but the schema."""
    async with await psycopg.AsyncConnection.connect(url) as connection:
        await connection.execute("SET lock_timeout = '10s'")
        await delete_rows(connection)


@pytest.fixture
async def sqlite_store(tmp_path: Path) -> AsyncIterator[Store]:
    """A file of its own."""
    store = open_store(f"sqlite:///{tmp_path}/t.db")
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def postgres_store(shared_url: str) -> AsyncIterator[Store]:
    """The shared database, emptied."""
    await empty(shared_url)
    store = open_store(shared_url)
    await store.open()
    yield store
    await store.close()


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest) -> Store:
    """An open store with nothing in it."""
    found: Store = request.getfixturevalue(f"{request.param}_store")
    return found


def keys(kind: type) -> set[str]:
    """The keys of a value's JSON object."""
    return {member.key for member in shape_of(kind).members}


class Api:
    """The API of one store."""

    def __init__(self, store: Store, limits: RequestLimits | None = None, pauses: FeedOptions | None = None) -> None:
        self.store = store
        self.app = create_api(lambda namespace: StoreClient(store, namespace), limits=limits, pauses=pauses)
        self._tokens: dict[tuple[Any, ...], str] = {}

    def client(self, namespace: str = "default") -> StoreClient:
        """The client beside the API."""
        return StoreClient(self.store, namespace)

    async def token(self, role: Role = "admin", *namespaces: str, name: str = "") -> str:
        """The text of a token: of namespace default, unless others are named; of all with a star."""
        key = (role, namespaces, name)
        if key not in self._tokens:
            everything = namespaces == ("*",)
            opened = None if everything else namespaces or None
            made = await self.client().tokens.create(
                name or role, role, actor="ada", namespaces=opened, all_namespaces=everything
            )
            self._tokens[key] = made[1]
        return self._tokens[key]

    async def ask(
        self, method: str, path: str, role: Role = "admin", *namespaces: str, token: str | None = None, **request: Any
    ) -> Any:
        """The answer to a request with such a token."""
        text = await self.token(role, *namespaces) if token is None else token
        headers = {"Authorization": f"Bearer {text}", **request.pop("headers", {})}
        return await self.plain(method, path, headers=headers, **request)

    async def plain(self, method: str, path: str, **request: Any) -> Any:
        """The answer to a request without a token."""
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as http:
            return await http.request(method, path, **request)

    @asynccontextmanager
    async def listen(self, path: str, *args: Any, token: str | None = None, **headers: str) -> AsyncIterator[Listener]:
        """Somebody who hears the events of a path as they come, and leaves at the end."""
        text = await self.token(*args) if token is None else token
        listener = Listener(self.app, f"/api/v1{path}", text, headers)
        try:
            yield listener
        finally:
            await listener.leave()

    async def get(self, path: str, *args: Any, **request: Any) -> Any:
        """The document that a path has."""
        answer = await self.ask("GET", f"/api/v1{path}", *args, **request)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def create(self, name: str, namespace: str = "default", **options: Any) -> None:
        """A schedule that a person made: hourly, of a task that nobody serves."""
        given = {"actor": "ana", "unknown_task_ok": True, **options}
        trigger = given.pop("trigger", every(hours=1))
        await self.client(namespace).schedules.create(name, trigger, "report", **given)


class Listener:
    """A client that takes what is sent bit by bit; events as (name, id, data)."""

    def __init__(self, app: Any, path: str, token: str, headers: Mapping[str, str]) -> None:
        sent = {"authorization": f"Bearer {token}", "accept": "text/event-stream"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        path, _, query = path.partition("?")
        self._scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "GET",
            "path": path,
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
            "client": ("127.0.0.1", 1),
        }
        self._messages: asyncio.Queue[Any] = asyncio.Queue()
        self._gone = asyncio.Event()
        self._text = ""
        self.task = asyncio.create_task(app(self._scope, self._receive, self._messages.put))

    async def _receive(self) -> Any:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def leave(self) -> None:
        """Hang up, and see that it is noticed."""
        self._gone.set()
        await self.task

    async def begins(self) -> Any:
        """The head of the answer."""
        return await self._messages.get()

    async def event(self) -> tuple[str, str, Any] | None:
        """The next event; None where there are no more."""
        while (told := await self.block()) is not None:
            fields = dict(line.split(": ", 1) for line in told.splitlines() if not line.startswith((":", "retry")))
            if fields:
                return fields.get("event", ""), fields.get("id", ""), json.loads(fields["data"])
        return None

    async def block(self) -> str | None:
        """What comes next, also where it is only a sign of life."""
        while "\n\n" not in self._text:
            message = await self._messages.get()
            if message["type"] == "http.response.start":
                assert message["status"] == 200
                continue
            self._text += message["body"].decode()
            if not message.get("more_body"):
                return None
        told, _, self._text = self._text.partition("\n\n")
        return told


@pytest.fixture
async def api(store: Store) -> AsyncIterator[Api]:
    """The API with its usual limits."""
    made = Api(store)
    yield made
    await made.app.state.authority.settle()


@pytest.fixture
async def memory() -> AsyncIterator[Api]:
    """The API on a store in memory, for what does not depend on the store."""
    store = open_store("sqlite://:memory:")
    await store.open()
    made = Api(store)
    yield made
    await made.app.state.authority.settle()
    await store.close()


def refused(answer: Any, status: int, code: str) -> str:
    """The sentence of an answer that must be a problem of this kind."""
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), answer.text
    problem = answer.json()
    assert set(problem) == {"type", "title", "status", "code", "detail", "field", "hint"}
    assert (problem["status"], problem["code"]) == (status, code), problem
    return f"{problem['detail']} {problem['hint'] or ''}".rstrip()
