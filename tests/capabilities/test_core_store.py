"""Everything works on a store that has nothing but the core, or is refused in one sentence."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from fastapi.routing import APIRoute

from tests.core_store import CoreStore
from tests.engine.test_worker import QUICK, until, working
from tickbird import Tickbird, every
from tickbird.cli import root
from tickbird.cli.errors import UNSUPPORTED
from tickbird.client import StoreClient
from tickbird.client.http import HttpClient, Transport
from tickbird.domain.errors import UnsupportedError
from tickbird.store.protocol.capabilities import CAPABILITIES
from tickbird.web.app import ROUTES, create_site
from tickbird.web.dashboard_reads import DashboardReads
from tickbird.worker import WorkerProcess

BASE = "http://127.0.0.1:8420"
DOCUMENT = {"app": "shop", "schedules": {"tidy": {"task": "tidy", "every": "1h"}}}
SENTENCE = re.compile(r"[a-z_]+: this store has no [a-z ]+\.")


async def fill(client: StoreClient) -> None:
    """A schedule with a run that was cancelled and one that is queued."""
    await client.schedules.create("clock", every(hours=1), "work", actor="ada", unknown_task_ok=True)
    await client.schedules.trigger("clock", actor="ada")
    await client.runs.cancel(1, actor="ada")
    await client.schedules.trigger("clock", actor="ada")


@pytest.fixture(autouse=True)
def core_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens a store by its URL gets one without capabilities."""
    monkeypatch.setattr("tickbird.store.sqlite.SqliteStore", CoreStore)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/core.db"


@pytest.fixture
async def store(url: str) -> AsyncIterator[CoreStore]:
    """An open store that has nothing but the core."""
    store = CoreStore(url)
    await store.open()
    await fill(StoreClient(store))
    yield store
    await store.close()


@pytest.fixture
def site(store: CoreStore) -> Any:
    return create_site(lambda namespace: StoreClient(store, namespace), loopback="default")


@pytest.fixture
async def http(site: Any) -> AsyncIterator[httpx.AsyncClient]:
    wire = httpx.ASGITransport(site, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=wire, base_url=BASE, headers={"X-Tickbird": "1"}) as http:
        yield http


async def test_a_worker_plans_and_executes(url: str) -> None:
    bird = Tickbird(url, app="shop")

    @bird.task(schedule=every(seconds=1), retries=1)
    async def work() -> int:
        return 7

    async with working(bird) as (client, _):

        async def ended() -> Any:
            return [run for run in await client.runs.list(schedule="work", status="succeeded") if run.scheduled_for]

        [run, *_] = await until(ended)
        assert run.result == 7
        run_id = (await client.schedules.trigger("work", actor="ada")).id
        await until(lambda: client.runs.list(schedule="work", status="succeeded", before=run_id + 1))
        assert (await client.ticks.why("work", run.scheduled_for)).steps


async def test_a_worker_whose_code_needs_more_says_so(url: str) -> None:
    bird = Tickbird(url, app="shop")

    @bird.task(schedule=every(seconds=1), concurrency_key="gpu")
    async def work() -> None: ...

    with pytest.raises(UnsupportedError, match=r"^concurrency_key: this store has no concurrency limits\."):
        await WorkerProcess(bird, options=QUICK).run()


async def test_client_verbs_of_capabilities_are_refused(store: CoreStore) -> None:
    client = StoreClient(store)
    refused = {
        "backfills": client.backfills.list(),
        "bulk_changes": client.files.apply(DOCUMENT, actor="ada"),
        "calendars": client.calendars.list(),
        "consumers": client.consumers.list(),
        "dead_letters": client.dead_letters.list(),
        "held": client.held.list(),
        "limits": client.limits.list(),
        "pings": client.pings.create("clock"),
        "queues": client.queues.list(),
        "sessions": client.sessions.list(),
        "statistics": client.forecasts.simulate(),
        "tokens": client.tokens.list(),
    }
    for name, verb in refused.items():
        with pytest.raises(UnsupportedError, match=rf"^{name}: this store has no ") as error:
            await verb
        assert error.value.field == name
    with pytest.raises(UnsupportedError, match=r"^dashboard: "):
        DashboardReads(client)
    with pytest.raises(UnsupportedError, match=r"^activity: this store has no "):
        client.store.activity  # noqa: B018
    with pytest.raises(UnsupportedError, match=r"^hold_above: this store has no held runs\."):
        await client.schedules.update("clock", actor="ada", catch_up="all", hold_above=3)


@pytest.fixture
def commands(url: str) -> Callable[..., Any]:
    """Calls the command line."""

    async def prepare() -> None:
        store = CoreStore(url)
        await store.open()
        await fill(StoreClient(store))
        await store.close()

    asyncio.run(prepare())

    def call(*args: str) -> Any:
        given = {"TICKBIRD_URL": url, "TICKBIRD_ACTOR": "ada", "TICKBIRD_APP": None}
        result = CliRunner().invoke(root, args, env=given)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
        return result

    return call


@pytest.mark.parametrize(
    "line",
    [
        "ls",
        "show clock",
        "why clock",
        "preview clock",
        "trigger clock",
        "pause clock --note later",
        "set clock priority=3",
        "skip clock",
        "reschedule clock +2h",
        "runs",
        "logs 1",
        "retry 1",
        "cancel 2",
        "revisions clock",
        "verify",
        "workers",
        "zones",
        "tail --since=-1h --no-follow",
        "export --all",
        "rm clock --yes",
    ],
)
def test_commands_of_the_core_work(commands: Any, line: str) -> None:
    result = commands(*line.split())
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    "line, name",
    [
        ("backfills", "backfills"),
        ("calendar ls", "calendars"),
        ("held", "held"),
        ("limits", "limits"),
        ("queues", "queues"),
        ("simulate", "statistics"),
        ("token list", "tokens"),
        ("shadow ping clock", "pings"),
    ],
)
def test_other_commands_are_refused_with_their_own_exit_code(commands: Any, line: str, name: str) -> None:
    result = commands(*line.split(), "--json")
    assert result.exit_code == UNSUPPORTED
    assert SENTENCE.search(result.stderr)
    error = json.loads(result.stdout.splitlines()[-1])["error"]
    assert (error["kind"], error["exit_code"], error["field"]) == ("unsupported", UNSUPPORTED, name)


def test_doctor_lists_what_is_missing(commands: Any) -> None:
    result = commands("doctor", "--json")
    checks = [check for check in json.loads(result.stdout)["checks"] if check["check"] == "capabilities"]
    assert [check["figures"]["capability"] for check in checks] == list(CAPABILITIES)
    assert all(check["ok"] for check in checks)
    text = commands("doctor").stdout
    for name, capability in CAPABILITIES.items():
        assert f"capabilities: {name}: not supported by this store. {capability.loss}" in text


async def test_routes_of_the_core_work(http: httpx.AsyncClient) -> None:
    for path in ("/schedules", "/schedules/clock", "/schedules/clock/ticks", "/runs", "/runs/1", "/workers", "/audit"):
        response = await http.get(f"/api/v1{path}")
        assert response.status_code == 200, response.text
    assert (await http.post("/api/v1/schedules/clock/trigger", json={})).status_code in (200, 201)
    assert (await http.post("/api/v1/schedules/clock/pause", json={})).status_code == 200
    assert (await http.get("/healthz")).status_code == 200
    # No worker plans, and nothing is due.
    assert (await http.get("/readyz")).status_code == 200


def _paths(routes: Any) -> Iterator[str]:
    for route in routes:
        if isinstance(route, APIRoute) and "GET" in (route.methods or ()):
            path = re.sub(r"\{(run_id|backfill_id|number|revision)(:\w+)?\}", "1", route.path)
            yield re.sub(r"\{\w+(:\w+)?\}", "clock", path)


async def test_no_route_fails(http: httpx.AsyncClient, site: Any) -> None:
    unsupported = set()
    for path in _paths(site._api.routes):
        response = await http.get(path, params={})
        assert response.status_code in (200, 403, 404, 406, 422, 501), (path, response.text)
        if response.status_code == 501:
            problem = response.json()
            assert problem["code"] == "unsupported"
            assert SENTENCE.fullmatch(problem["detail"])
            assert problem["hint"]
            unsupported.add(problem["field"])
    assert unsupported >= {"activity", "backfills", "calendars", "held", "limits", "queues", "statistics", "tokens"}


# The pages that need each capability; the others need none, or do without it.
PAGES = {
    "backfills": {"/backfills", "/backfills/1", "/backfills/1/cancel"},
    "consumers": {
        "/events/groups/clock",
        *(f"/events/groups/clock/{verb}" for verb in ("stop", "resume", "seek", "copy", "delete", "replay")),
    },
    "dashboard": {
        "/",
        "/schedules",
        "/schedules/clock",
        "/schedules/clock/edit",
        "/schedules/clock/revisions",
        "/schedules/clock/why",
        "/load",
        "/runs",
        "/runs/1",
        "/audit",
        "/events",
    },
    "dead_letters": {
        "/events/dead-letters",
        "/events/dead-letters/1",
        "/events/dead-letters/approval",
        *(f"/events/dead-letters/1/{verb}" for verb in ("replay", "skip", "repair", "approve")),
    },
    "held": {"/held", "/held/clock/release", "/held/clock/drop"},
    "leadership": {"/leader/resign"},
    "statistics": {"/"},
    "tokens": {"/settings/tokens"},
}


async def visit_pages(site: Any) -> tuple[set[str], set[str]]:
    """The paths of pages that are shown, and of those that are refused in one sentence; no other one fails."""
    shown, refused = set(), set()
    wire = httpx.ASGITransport(site, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=wire, base_url=BASE) as http:
        for route in ROUTES:
            if "GET" not in route.methods:
                continue
            path = re.sub(r"\{(run|id|number|backfill)(:\w+)?\}", "1", route.path)
            path = re.sub(r"\{\w+(:\w+)?\}", "clock", path)
            response = await http.get(path)
            assert response.status_code in (200, 204, 303, 404, 409, 422, 501), (path, response.text)
            if response.status_code == 501:
                assert "Not supported by this store" in response.text
                assert SENTENCE.search(re.sub(r"<[^>]+>", "", response.text).lower())
                refused.add(path)
            elif response.status_code == 200:
                shown.add(path)
    return shown, refused


async def test_pages_render_or_say_what_is_missing(site: Any) -> None:
    shown, refused = await visit_pages(site)
    assert shown >= {"/workers", "/settings", "/doctor", "/help"}
    assert refused == {"/live"}.union(*PAGES.values())


@pytest.mark.parametrize("name", CAPABILITIES)
async def test_only_pages_of_what_is_missing_are_refused(name: str, url: str) -> None:
    # Without activity, since its stream does not end by itself.
    store = CoreStore(url, CAPABILITIES.keys() - {name, "activity"})
    await store.open()
    await fill(StoreClient(store))
    shown, refused = await visit_pages(create_site(lambda namespace: StoreClient(store, namespace), loopback="default"))
    await store.close()
    assert refused - {"/live"} == PAGES.get(name, set())
    assert "/workers" in shown


async def test_navigation_has_only_pages_that_render(http: httpx.AsyncClient) -> None:
    text = (await http.get("/workers")).text
    navigation = text[text.index("<nav") : text.index("</nav>")]
    assert re.findall(r'href="([^"]*)"', navigation) == ["/workers", "/settings"]
    assert "data-live" not in text
    assert "Queues" not in text


async def test_the_client_over_http_works_without_stored_responses(http: httpx.AsyncClient, site: Any) -> None:
    key = {"Idempotency-Key": "k"}
    refused = await http.post("/api/v1/schedules/clock/pause", json={}, headers=key)
    assert (refused.status_code, refused.json()["field"]) == (501, "http_responses")
    client = HttpClient(Transport(BASE, None, wire=httpx.ASGITransport(site, raise_app_exceptions=False)))
    assert (await client.schedules.pause("clock", actor="ada")).state == "paused"
    assert (await client.schedules.trigger("clock", actor="ada", idempotency_key="once")).status == "waiting"
    with pytest.raises(UnsupportedError, match=r"^backfills: this store has no backfills\.") as error:
        await client.backfills.list()
    assert error.value.field == "backfills"
    assert error.value.hint
