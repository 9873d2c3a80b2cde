"""No request keeps the event loop busy: each route gets the most expensive input that it accepts."""

import asyncio
import json
import math
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from contextvars import Context
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from lab.servers import PostgresServer
from tickbird.api import PREFIX
from tickbird.api.app import HANDLERS
from tickbird.api.middleware.guard import RequestLimits
from tickbird.client import NOUNS, Client, StoreClient
from tickbird.cpu_threads import compute
from tickbird.domain.schedules.codec import decode_field
from tickbird.domain.schedules.definition import check_payload
from tickbird.domain.triggers.every import every
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store
from tickbird.web.app import ROUTES, create_site
from tickbird.wire.operations import Operation, operations_of
from tickbird.wire.parameters import Meta

BASE = "http://127.0.0.1:8420"
# A grid whose next tick is expensive: it asks 32 crons, and looks for days that are open.
HEAVY = {"any_of": [{"cron": f"{minute} {minute % 24} * * *", "tz": "Europe/Rome"} for minute in range(32)]}
DATES = [f"{2020 + day // 336}-{day // 28 % 12 + 1:02}-{day % 28 + 1:02}" for day in range(2_000)]
WIDE = {f"k{number}": number for number in range(20_000)}
MAX_SIZE = {f"k{number}": number for number in range(60_000)}
KEYS = ",".join(f'"k{number}":1' for number in range(35_000))
BODIES = (
    # The duplicate key is the last one of many.
    f'{{"definition":{{{KEYS},"k34999":2}}}}',
    json.dumps(
        {"definition": {"trigger": {"cron": "0 9 * * *"}, "target": {"task": "t"}, "payload": WIDE}, "name": "x"}
    ),
)
MANY_TICKS_AGO = (datetime.now(UTC) - timedelta(days=105_000 // 32)).isoformat()
DRAFT = {"trigger": HEAVY, "roll": "next", "calendars": ["closed"]}
SPECIAL: dict[str, dict[str, Any]] = {
    "preview": {"definition": DRAFT, "count": 10_000},
    "simulate": {"days": 1},
    "preview_calendar": {"definition": {"dates": DATES[:1_000]}, "horizon": 5 * 366 * 86_400},
    # Nearly as many ticks as a range may have: all of them are looked at.
    "preview_backfill": {"first": MANY_TICKS_AGO, "last": "2100-01-01T00:00:00Z"},
    "skip_ticks": {"count": 10_000},
    "trigger_schedule": {"payload": WIDE},
    "create_run": {"task": "report", "payload": WIDE},
    "diff": {"document": {"version": 1, "schedules": {f"s{number}": DRAFT for number in range(500)}}},
}
QUERIES = {
    "first": "2000-01-01T00:00:00Z",
    "last": "2100-01-01T00:00:00Z",
    "since": "2000-01-01T00:00:00Z",
    "at": "2027-01-01T00:00:00Z",
    "everything": "true",
}
# The rest of a long computation is given up, so that the test goes on.
LIMITS = RequestLimits(answer_within=0.5, per_second=1_000)
STREAMS = ("/live", "/api/v1/activity/stream", "/runs/{id}/lines")
# A callback may take as long as checking the largest payload of a schedule ten times.
MAX_COUNT = 10


class WatchedLoop(asyncio.SelectorEventLoop):
    """Measures the most CPU time of one callback in the loop's thread, which does not depend on other processes."""

    longest = 0.0

    def _timed(self, callback: Callable[..., object]) -> Callable[..., object]:
        def run(*args: object) -> object:
            begun = time.thread_time()
            try:
                return callback(*args)
            finally:
                self.longest = max(self.longest, time.thread_time() - begun)

        return run

    def call_soon(self, callback: Any, *args: Any, context: Context | None = None) -> Any:  # type: ignore[override]
        return super().call_soon(self._timed(callback), *args, context=context)

    def call_soon_threadsafe(self, callback: Any, *args: Any, context: Context | None = None) -> Any:  # type: ignore[override]
        return super().call_soon_threadsafe(self._timed(callback), *args, context=context)

    def call_at(self, when: float, callback: Any, *args: Any, context: Context | None = None) -> Any:  # type: ignore[override]
        return super().call_at(when, self._timed(callback), *args, context=context)


def limit_of_callbacks() -> float:
    """Seconds of CPU time, calibrated on this machine."""
    took = []
    for _ in range(3):
        begun = time.thread_time()
        check_payload(MAX_SIZE)
        took.append(time.thread_time() - begun)
    return MAX_COUNT * max(took)


def queries(operation: Operation) -> str:
    """The largest number that each parameter accepts, and the widest range."""
    pairs = ["limit=1000"] if operation.page is not None else []
    for parameter in operation.parameters:
        maximum = [
            note.le for note in getattr(parameter.hint, "__metadata__", ()) if isinstance(note, Meta) and note.le
        ]
        if parameter.place == "query" and maximum:
            pairs.append(f"{parameter.key}={maximum[0]:.0f}")
        elif parameter.place == "query" and parameter.key in QUERIES:
            pairs.append(f"{parameter.key}={QUERIES[parameter.key]}")
    return "&".join(pairs)


def fill(path: str, name: str, run_id: int) -> str:
    path = re.sub(r"\{(name|key|worker|queue)(:path)?\}", name, path)
    path = re.sub(r"\{calendar\}", "closed", path)
    return re.sub(r"\{(id|to|tick|token|token_id|session|session_id)\}", str(run_id), path)


def api_operations() -> Iterator[tuple[str, Operation]]:
    for noun in NOUNS.values():
        for operation in operations_of(noun).values():
            if operation.routed:
                yield f"{PREFIX}{operation.path}", operation
    for path, _, handler in HANDLERS:
        if path not in STREAMS:
            yield path, handler.operation


def api_requests(run_id: int) -> Iterator[tuple[str, str, Any]]:
    for template, operation in api_operations():
        for name in ("closed",) if "/calendars" in template else ("heavy", "wide"):
            path = fill(template, name, run_id)
            if name == "wide" and path == template:
                continue
            yield operation.method, f"{path}?{queries(operation)}", None
            if operation.method in ("POST", "PUT", "PATCH") and name != "wide":
                special = SPECIAL.get(operation.id)
                for body in (*BODIES, *([] if special is None else [json.dumps(special)])):
                    yield operation.method, path, body


def page_requests(run_id: int) -> Iterator[tuple[str, str, Any]]:
    when = " or ".join(f"{minute} {minute % 24} * * *" for minute in range(32))
    forms = (
        {"when": when, "tz": "Europe/Rome", "roll": "next", "task": "report", "name": "x", "calendars": "closed"},
        {"when": "0 9 * * *", "tz": "UTC", "task": "report", "payload.whole": json.dumps(WIDE), "payload": "{}"},
        {f"payload.integer:k{number}": "1" for number in range(19_000)},
    )
    for door in (door for door in ROUTES if door.path not in STREAMS):
        for name in ("heavy", "wide"):
            path = fill(door.path, name, run_id)
            for method in door.methods:
                for form in (None,) if method == "GET" else forms if name == "heavy" else ():
                    yield method, f"{path}?at=2027-01-01T00:00:00Z" if form is None else path, form


async def prepare(client: Client) -> int:
    """A store with intricate grids and large payloads; the id of a run."""
    await client.calendars.put("closed", {"dates": DATES}, actor="ana")
    trigger = decode_field("trigger", HEAVY)
    options: dict[str, Any] = {"actor": "ana", "unknown_task_ok": True}
    for name in ("heavy", *(f"other-{number:03}" for number in range(20))):
        await client.schedules.create(name, trigger, "report", calendars=("closed",), roll="next", **options)
    await client.schedules.create("wide", every(hours=1), "report", payload=WIDE, **options)
    return [(await client.schedules.trigger("wide", actor="ana")).id for _ in range(3)][-1]


async def send_everything(url: str) -> list[str]:
    """The requests that kept the loop busy for too long."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, WatchedLoop)
    store = open_store(url)
    await store.open()
    slow = []
    try:
        run_id = await prepare(StoreClient(store))
        site = create_site(lambda namespace: StoreClient(store, namespace), loopback="default", limits=LIMITS)
        transport = httpx.ASGITransport(site, client=("127.0.0.1", 1), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=BASE, timeout=None) as http:
            # On a busy machine this page may take longer than answer_within; request it again.
            async with asyncio.timeout(60):
                while not (csrf := re.search(r'name="csrf" value="([^"]+)"', (await http.get("/schedules/new")).text)):
                    pass
            maximum = limit_of_callbacks()
            requests = [*api_requests(run_id), *page_requests(run_id)]
            # A schedule that was changed or deleted is not as expensive any more.
            requests.sort(key=lambda request: (request[0] != "GET", request[0] == "DELETE" or "delete" in request[1]))
            for method, path, body in requests:
                headers = {"X-Tickbird": "1", "X-Csrf": csrf[1], "Origin": BASE}
                if isinstance(body, str):
                    sent: dict[str, Any] = {"content": body, "headers": headers | {"Content-Type": "application/json"}}
                else:
                    sent = {"data": body, "headers": headers}
                await asyncio.sleep(0)
                loop.longest = 0.0
                answer = await http.request(method, path, **sent)
                # The callback that got the answer is measured when it has ended.
                await asyncio.sleep(0)
                longest = loop.longest
                assert answer.status_code < 500 or answer.status_code == 503, (method, path, answer.text[:500])
                if longest > maximum:
                    slow.append(f"{method} {path[:100]} {str(body)[:60]}: {longest:.2f} s, more than {maximum:.2f} s")
        await site.state.authority.settle()
    finally:
        await store.close()
    return slow


def store_url(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """The address of a new store."""
    if kind == "sqlite":
        return f"sqlite:///{tmp_path}/t.db"
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return server.create_database()


@asynccontextmanager
async def ask_site(store: Store, limits: RequestLimits) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the site with these limits."""
    site = create_site(lambda namespace: StoreClient(store, namespace), loopback="default", limits=limits)
    transport = httpx.ASGITransport(site, client=("127.0.0.1", 1), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=BASE, timeout=None, headers={"X-Tickbird": "1"}) as http:
        yield http
    await site.state.authority.settle()


@pytest.mark.timeout(600)
def test_no_request_keeps_the_event_loop_busy(postgres_server: PostgresServer) -> None:
    """On PostgreSQL, whose driver decodes rows in the event loop. SQLite does everything in threads of its own."""
    url = postgres_server.create_database()
    asyncio.run(open_store(url).migrate())
    with asyncio.Runner(loop_factory=WatchedLoop) as runner:
        assert runner.run(send_everything(url)) == []


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_a_long_computation_holds_up_nobody(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Neither the connections of the store nor its threads; and it ends when its request is answered, or given up."""
    url = store_url(kind, tmp_path, request)
    store = open_store(url)
    if kind == "postgres":
        await store.migrate()
    await store.open()
    try:
        await prepare(StoreClient(store))
        path, body = "/api/v1/schedules/heavy/backfill/preview", SPECIAL["preview_backfill"]
        # The order of the answers counts, not how long they take: on a busy machine a short one may take seconds.
        async with ask_site(store, RequestLimits(answer_within=math.inf)) as http:
            # More of them than there are connections.
            long = [asyncio.create_task(http.post(path, json=body)) for _ in range(15)]
            short = await http.get("/api/v1/schedules?limit=1")
            assert short.status_code == 200
            assert not any(each.done() for each in long)
            for each in long:
                each.cancel()
            await asyncio.wait(long)
        async with ask_site(store, LIMITS) as http:
            assert (await http.post(path, json=body)).status_code == 503
        # The thread is free again.
        assert await compute(len, "free") == 4
    finally:
        await store.close()
