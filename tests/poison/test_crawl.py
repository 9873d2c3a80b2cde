"""Every verb, route and page with poisoned rows in the store: none fails, and no other row is affected."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from conformance.steps import a_worker
from tests.api.conftest import postgres_store, shared_url, sqlite_store  # noqa: F401
from tests.api.test_isolation import STREAMS
from tests.api.test_routes import walk
from tests.poison.rows import RECORDS, insert_all, poison_runs
from tests.store.conftest import PlainPostgres, PlainRows, PlainSqlite
from tickbird.api.app import create_api
from tickbird.api.middleware.guard import RequestLimits
from tickbird.client import StoreClient
from tickbird.domain.errors import StoreError, TickbirdError
from tickbird.domain.runs.run import Outcome
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import at
from tickbird.store.protocol.store import Store
from tickbird.web.app import ROUTES, create_site

STEP = 3 if os.environ.get("TICKBIRD_FUZZ", "1") == "1" else 1
LIMITS = RequestLimits(per_second=1e6, burst=10**6, lookups_per_second=1e6, lookups_burst=10**6)
# Thousands of requests.
pytestmark = pytest.mark.timeout(900)
FAR = datetime(2100, 1, 1, tzinfo=UTC)
HEADERS = {"Host": "127.0.0.1", "Origin": "http://127.0.0.1"}


@pytest.fixture(params=["sqlite", "postgres"])
def driver(request: pytest.FixtureRequest) -> str:
    """Each store in turn."""
    kind: str = request.param
    return kind


@pytest.fixture
def store(driver: str, request: pytest.FixtureRequest) -> Store:
    """An open store with nothing in it."""
    found: Store = request.getfixturevalue(f"{driver}_store")
    return found


@pytest.fixture
def plain(driver: str, request: pytest.FixtureRequest, tmp_path: Path) -> PlainRows:
    """Writes rows behind the store's back."""
    if driver == "sqlite":
        return PlainSqlite(f"{tmp_path}/t.db")
    return PlainPostgres(request.getfixturevalue("shared_url"))


@pytest.fixture
async def poisoned(store: Store, plain: PlainRows) -> list[str]:
    """The names of poisoned schedules, next to a healthy one."""
    client = StoreClient(store)
    await client.schedules.create(
        "healthy", every(seconds=60), "report", actor="ada", unknown_task_ok=True, overlap="allow"
    )
    return await insert_all(plain)


@pytest.fixture
async def runs(store: Store, plain: PlainRows) -> list[int]:
    """Poisoned runs."""
    client = StoreClient(store)
    await client.schedules.create("history", at(FAR), "report", actor="ada", unknown_task_ok=True, overlap="allow")
    runs = [
        await client.schedules.trigger("history", payload={"n": number}, actor="ada")
        for number, _ in enumerate(RECORDS)
    ]
    await poison_runs(plain, [run.id for run in runs])
    return [run.id for run in runs]


async def plan_on(store: Store, ticks: int) -> None:
    """Plan the next ticks of the healthy schedule, one by one: each must become a run in its step."""
    for _ in range(ticks):
        healthy = await store.schedules.get("default", "healthy")
        assert healthy is not None
        assert healthy.next_run_at is not None
        steps = [await store.planning.plan_due(now=healthy.next_run_at)]
        while steps[-1].more and len(steps) < 100:
            steps.append(await store.planning.plan_due(now=healthy.next_run_at))
        assert not steps[-1].more
        newest = (await store.runs.list("default", schedule="healthy", limit=1))[0]
        assert newest.scheduled_for == healthy.next_run_at


async def test_planning_goes_on(store: Store, poisoned: list[str]) -> None:
    await plan_on(store, 5)
    rows = await store.schedules.list("default", limit=1_000)
    assert {row.schedule.name for row in rows} == {"healthy", *poisoned}
    for row in rows:
        assert row.schedule.state != "parked" or row.schedule.error


async def test_claims_go_on(store: Store, poisoned: list[str], runs: list[int]) -> None:
    await plan_on(store, 1)
    await StoreClient(store).schedules.trigger("healthy", actor="ada")
    claimed: set[str | None] = set()
    for _ in range(10):
        claim = await store.leases.claim(a_worker(), 100, 60, queues=["default"], targets=[("task", "report")])
        claimed |= {run.schedule for run in claim.runs}
        outcomes = [Outcome(run.id, run.attempt, "succeeded") for run in claim.runs]
        await store.leases.finish(outcomes)
    assert "healthy" in claimed
    assert len(poisoned) > len(runs) > 0


async def test_every_verb_of_the_client(store: Store, poisoned: list[str]) -> None:
    await plan_on(store, 1)
    client = StoreClient(store)
    now = await client.system.now()
    verbs: list[Callable[[str], Awaitable[Any]]] = [
        client.schedules.get,
        client.ticks.next,
        lambda name: client.ticks.why(name, now),
        client.ticks.verify,
        client.revisions.history,
        lambda name: client.schedules.trigger(name, actor="ada"),
        lambda name: client.schedules.skip(name, actor="ada"),
        lambda name: client.schedules.reschedule(name, now + timedelta(days=1), actor="ada"),
        lambda name: client.schedules.pause(name, actor="ada"),
        lambda name: client.schedules.resume(name, actor="ada"),
        lambda name: client.schedules.update(name, actor="ada", grace=5),
        lambda name: client.schedules.delete(name, actor="ada"),
    ]
    broken: list[str] = []
    for name in poisoned:
        for number, verb in enumerate(verbs):
            try:
                await verb(name)
            except TickbirdError as error:
                # One sentence, with the next step; the store itself never is to blame.
                if isinstance(error, StoreError):
                    broken.append(f"{name} {number}: {error}")
            except Exception as error:
                broken.append(f"{name} {number}: {error!r}")
    assert broken == []
    await plan_on(store, 3)


async def test_every_verb_of_the_client_about_runs(store: Store, runs: list[int]) -> None:
    client = StoreClient(store)
    verbs: list[Callable[[int], Awaitable[Any]]] = [
        client.runs.get,
        client.runs.list_attempts,
        client.runs.logs,
        client.runs.progress,
        client.runs.queue_position,
        client.runs.waiting_for,
        lambda run_id: client.runs.cancel(run_id, actor="ada"),
        lambda run_id: client.runs.retry(run_id, actor="ada"),
    ]
    broken: list[str] = []
    for run_id, record in zip(runs, RECORDS, strict=True):
        for number, verb in enumerate(verbs):
            try:
                await verb(run_id)
            except TickbirdError as error:
                if isinstance(error, StoreError):
                    broken.append(f"{str(record)[:100]} {number}: {error}")
            except Exception as error:
                broken.append(f"{str(record)[:100]} {number}: {error!r}")
    assert broken == []
    assert len(await client.runs.list(limit=100)) >= len(runs)


async def test_every_route(store: Store, poisoned: list[str], runs: list[int]) -> None:
    await plan_on(store, 1)
    api = create_api(lambda namespace: StoreClient(store, namespace), loopback="default", limits=LIMITS)
    broken: list[str] = []
    for route in walk(api.routes):
        if route.path in STREAMS or route.path.endswith("/stream"):
            continue
        for method in sorted(route.methods - {"HEAD"}):
            for path in paths(route.path, poisoned, runs) if method != "DELETE" else []:
                query = {"at": "2026-01-01T00:00:00Z"} if path.endswith("/why") else {}
                body: dict[str, Any] = {} if method == "GET" else {"json": {}}
                broken += await ask(api, method, path, params=query, **body)
    assert broken == []
    await plan_on(store, 3)


async def test_every_page(store: Store, poisoned: list[str], runs: list[int]) -> None:
    await plan_on(store, 1)
    site = create_site(lambda namespace: StoreClient(store, namespace), loopback="default", limits=LIMITS)
    broken: list[str] = []
    for door in ROUTES:
        if "GET" not in door.methods or door.path in ("/live", "/runs/{id}/lines"):
            continue
        for path in paths(door.path, poisoned, runs):
            broken += await ask(site, "GET", path)
    assert broken == []
    await plan_on(store, 3)


def paths(route: str, names: list[str], runs: list[int]) -> list[str]:
    """The route with poisoned schedules or runs in it; of schedules every third one, or all with TICKBIRD_FUZZ."""
    if "{name" in route:
        names = names[len(route) % STEP :: STEP]
        return [
            re.sub(r"\{[^}]*\}", "1", re.sub(r"\{name[^}]*\}", quote(name, safe="").replace("\\", "\\\\"), route))
            for name in [*names, "healthy"]
        ]
    if "/runs/{" in route:
        return [re.sub(r"\{[^}]*\}", str(run_id), route) for run_id in runs]
    return [re.sub(r"\{[^}]*\}", "1", route)]


async def ask(app: Any, method: str, path: str, **request: Any) -> list[str]:
    """The answer, if the server is to blame for it."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as http:
        answer = await http.request(method, path, headers=HEADERS, **request)
    return [f"{method} {path}: {answer.status_code} {answer.text[:300]}"] if answer.status_code >= 500 else []
