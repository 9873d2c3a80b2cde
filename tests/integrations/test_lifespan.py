"""Tickbird inside a FastAPI app that uvicorn serves: opened with it, drained with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI, Request

from tickbird import InvalidError, SchemaError, Tickbird
from tickbird.client import StoreClient
from tickbird.stores import open_store

EVENTS: list[str] = []


@pytest.fixture(params=["sqlite", "postgres"])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store that was just migrated."""
    address = f"sqlite:///{tmp_path}/t.db" if request.param == "sqlite" else request.getfixturevalue("migrated_url")
    await open_store(address).migrate()
    EVENTS.clear()
    return str(address)


@pytest.fixture
def bird(url: str) -> Tickbird:
    """An app with a fast task and one that waits for a release."""
    bird = Tickbird(url, app="shop")

    @bird.task
    async def double(number: int) -> int:
        EVENTS.append("double")
        return 2 * number

    @bird.task
    async def slow() -> str:
        EVENTS.append("slow begins")
        await asyncio.sleep(0.2)
        EVENTS.append("slow ends")
        return "done"

    return bird


@asynccontextmanager
async def own(app: Any) -> AsyncIterator[dict[str, str]]:
    """The app's own lifespan."""
    EVENTS.append("opened")
    yield {"greeting": "hello"}
    EVENTS.append("closed")


@asynccontextmanager
async def served(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """The app on a real server."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", lifespan="on"))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        assert not serving.done(), "the server did not start"
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        yield client
    server.should_exit = True
    await serving


def routes(app: FastAPI, bird: Tickbird) -> FastAPI:
    """A route that enqueues a run and one that waits for its end."""

    async def send(number: int) -> dict[str, int]:
        return {"run": await bird.tasks["double"].enqueue(number=number)}

    async def result(run: int, request: Request) -> dict[str, Any]:
        ended = await (await bird.client()).runs.wait(run, timeout=60)
        return {"status": ended.status, "result": ended.result, "greeting": getattr(request.state, "greeting", None)}

    app.post("/double/{number}")(send)
    app.get("/runs/{run}")(result)
    return app


async def test_a_worker_inside_the_app(bird: Tickbird) -> None:
    app = routes(FastAPI(lifespan=bird.lifespan(worker=True, within=own, slots=3)), bird)
    async with served(app) as http:
        run = (await http.post("/double/21")).json()["run"]
        answer = (await http.get(f"/runs/{run}")).json()
        assert answer == {"status": "succeeded", "result": 42, "greeting": "hello"}
        [worker] = await (await bird.client()).workers.list()
        assert (worker.app, worker.slots) == ("shop", 3)
    assert EVENTS == ["opened", "double", "closed"]


async def test_the_role_of_a_worker_inside_the_app(bird: Tickbird) -> None:
    app = routes(FastAPI(lifespan=bird.lifespan(worker=True, role="execute-only", queues=["default", "gpu"])), bird)
    async with served(app) as http:
        run = (await http.post("/double/21")).json()["run"]
        assert (await http.get(f"/runs/{run}")).json()["result"] == 42
        [worker] = await (await bird.client()).workers.list()
        assert (worker.kind, worker.queues) == ("executor", ("default", "gpu"))
    with pytest.raises(InvalidError, match="'both' is not a role of workers"):
        async with bird.lifespan(worker=True, role="both")(None):
            raise AssertionError("it started")


async def test_running_tasks_end_before_the_apps_lifespan(bird: Tickbird, url: str) -> None:
    async with served(FastAPI(lifespan=bird.lifespan(worker=True, within=own))):
        run_id = await bird.tasks["slow"].enqueue()
        async with asyncio.timeout(60):
            while "slow begins" not in EVENTS:  # noqa: ASYNC110 - the worker tells so
                await asyncio.sleep(0.01)
    assert EVENTS == ["opened", "slow begins", "slow ends", "closed"]
    store = open_store(url)
    await store.open()
    assert (await StoreClient(store).runs.get(run_id)).result == "done"
    assert list(await StoreClient(store).workers.list()) == []
    await store.close()


async def test_without_a_worker_runs_are_only_sent(bird: Tickbird) -> None:
    app = routes(FastAPI(lifespan=bird.lifespan()), bird)
    async with served(app) as http:
        run = (await http.post("/double/21")).json()["run"]
        client = await bird.client()
        assert (await client.runs.get(run)).status == "queued"
        assert list(await client.workers.list()) == []
    assert EVENTS == []


@pytest.mark.parametrize("worker", [True, False])
async def test_a_store_without_a_schema_keeps_the_app_from_starting(postgres_url: str, worker: bool) -> None:
    bird = Tickbird(postgres_url)
    EVENTS.clear()
    with pytest.raises(SchemaError, match="Run `tickbird migrate`"):
        async with bird.lifespan(worker=worker, within=own)(None):
            raise AssertionError("it started")
    assert EVENTS == ["opened"]


def test_worker_options_without_worker_are_refused() -> None:
    with pytest.raises(TypeError, match=r"slots: only for a worker. Pass worker=True too"):
        Tickbird().lifespan(slots=3)
