"""Load times of dashboard pages with many schedules and runs; and the statements of fifty open ones."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlencode

import psycopg

from bench.api import Server, serving
from bench.browser import Browser
from bench.common import Options, Report, Table, step
from bench.crowd import Crowd
from bench.database import server, version
from tickbird.client import Client, StoreClient
from tickbird.domain.runs.run import NewRun, Outcome
from tickbird.domain.schedules.definition import Target
from tickbird.domain.workers import Worker
from tickbird.store.postgres import PostgresStore
from tickbird.store.shared.sql import load_statements

STATEMENTS: Final = {name: text.encode() for name, text in load_statements("bench", "pages").items()}
# Seconds. The data of a page is shared for a second, so a fresh load waits this long.
FRESH: Final = 1.05
# The role of the sessions that create load, so that their statements are counted separately.
OTHER: Final = "churn"
PAGES_OPEN: Final = 50
# Pages whose counts take long with many schedules.
_COUNTING: Final = ("/", "/load")
_LOOKUP: Final = "a schedule by its key, through the API"


@dataclass(frozen=True, slots=True)
class Place:
    """A page, and its name in the table."""

    name: str
    path: str


@dataclass
class Loads:
    """Load times of a page, in seconds: fresh, and repeated with shared data."""

    cold: list[float]
    shared: list[float]


async def measure(options: Options, report: Report) -> None:
    """One store, one server process at a time."""
    schedules, runs = options.schedules or options.size(100_000, 300), options.runs or options.size(5_000_000, 3_000)
    crowd = Crowd(schedules, runs, datetime.now(UTC))
    with server({"shared_preload_libraries": "pg_stat_statements"}) as running:
        url = running.create_database()
        with step(f"stored {crowd.schedules:,} schedules and {crowd.runs:,} runs"):
            await crowd.on_postgres(url)
        other = url.replace("//postgres@", f"//{OTHER}@")
        with psycopg.connect(url, autocommit=True) as db:
            for name in ("other_role", "statistics"):
                db.execute(STATEMENTS[name])
        store = PostgresStore(other)
        await store.open()
        try:
            await _workers(store)
            report.facts["PostgreSQL"] = f"{version(running.url)}, fsync on, loopback TCP"
            report.facts["stored"] = f"{crowd.schedules:,} schedules and {crowd.runs:,} runs"
            await _first(url, options, report)
            await _pages(url, await _places(StoreClient(store), crowd), options, report)
            await _open_pages(url, store, options, report)
        finally:
            await store.close()


async def _workers(store: PostgresStore) -> None:
    """Register four workers that stay live during the benchmark."""
    for number in range(4):
        worker = _worker(number)
        await store.workers.heartbeat(worker, live_for=86_400.0)


def _worker(number: int) -> Worker:
    name = f"w{number}"
    serves = {"queues": ("default",), "tasks": {"noop": {"queue": "default"}}}
    return Worker(id=name, namespace="default", app="bench", host=name, pid=1, version="0", slots=8, **serves)  # type: ignore[arg-type]


async def _places(client: Client, crowd: Crowd) -> Sequence[Place]:
    """Every page, each with something to show."""
    name = f"s{crowd.schedules // 2}"
    [newest, *_] = await client.runs.list(limit=1)
    [failed, *_] = await client.runs.list(status="failed", limit=1)
    [past, *_] = await client.runs.list(schedule=name, limit=1)
    assert past.scheduled_for is not None
    [upcoming, *_] = await client.ticks.next(name, 1)
    whys = {"why of a past tick": past.scheduled_for, "why of a coming tick": upcoming.scheduled_for}
    return [
        Place("/", "/"),
        Place("/schedules", "/schedules"),
        Place("… in the middle", f"/schedules?after={name}"),
        Place("… contains what few have", f"/schedules?q={name}"),
        Place("… contains what none has", "/schedules?q=nothing-of-the-kind"),
        Place("… paused", "/schedules?state=paused"),
        Place("… failing", "/schedules?failing=1"),
        Place("/schedules/NAME", f"/schedules/{name}"),
        *(Place(f"… {what}", f"/schedules/{name}/why?{urlencode({'at': _instant(at)})}") for what, at in whys.items()),
        Place("/runs", "/runs"),
        Place("… failed", "/runs?status=failed"),
        Place("… in the middle", f"/runs?before={newest.id // 2}"),
        Place("/runs/ID, succeeded", f"/runs/{past.id}"),
        Place("/runs/ID, failed", f"/runs/{failed.id}"),
        Place("/load", "/load"),
        Place("/workers", "/workers"),
        Place("/audit", "/audit"),
        Place("/settings", "/settings"),
    ]


def _instant(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@asynccontextmanager
async def _visiting(url: str) -> AsyncIterator[tuple[Server, Browser]]:
    """A server that has just started, and a logged-in browser."""
    with serving("site", url) as target:
        session = await Browser.log_in(target.port, target.token)
        browser = Browser(target.port, {"Cookie": session})
        try:
            yield target, browser
        finally:
            browser.close()


async def _first(url: str, options: Options, report: Report) -> None:
    """Long counts are computed once: measure the first load after a start, and other requests meanwhile."""
    load_times: dict[str, list[float]] = {}
    for _ in range(options.size(3, 1)):
        async with _visiting(url) as (target, browser):
            for path in _COUNTING:
                with Browser.closing(target.port, {"Authorization": f"Bearer {target.token}"}) as other_client:
                    loading = asyncio.create_task(_until_whole(browser, path))
                    while not loading.done():
                        lookup = await other_client.get("/api/v1/schedules/s1")
                        load_times.setdefault(f"{path}, first: look-ups meanwhile", []).append(lookup.seconds)
                        await asyncio.sleep(0.01)
                first, complete = await loading
                load_times.setdefault(f"{path}, first", []).append(first)
                load_times.setdefault(f"{path}, first: all counted", []).append(complete)
    report.samples |= load_times
    rows = []
    for path in _COUNTING:
        firsts, wholes = load_times[f"{path}, first"], load_times[f"{path}, first: all counted"]
        others = _middle_and_worst(load_times[f"{path}, first: look-ups meanwhile"])
        rows.append([path, *_middle_and_worst(firsts), 1e3 * statistics.median(wholes), *others])
    note = "Another client repeats the key lookup until everything on the page is counted."
    columns = ("page", "median ms", "worst ms", "all counted: median ms", "lookup meanwhile: median ms", "worst ms")
    report.tables.append(Table("The first load after the start of the server", columns, rows, note))


async def _until_whole(browser: Browser, path: str) -> tuple[float, float]:
    """Seconds until a page is loaded, and until all its counts are complete."""
    began = time.perf_counter()
    page = await browser.get(path)
    first = page.seconds
    while b"eing counted" in page.body:
        await asyncio.sleep(FRESH)
        page = await browser.get(path)
    return first, time.perf_counter() - began


async def _pages(url: str, places: Sequence[Place], options: Options, report: Report) -> None:
    """Every page, interleaved with the lookup, in rounds so far apart that nothing is shared."""
    rounds = options.size(15, 1)
    loads = {place.path: Loads([], []) for place in places}
    lookups: list[float] = []
    sizes: dict[str, int] = {}
    async with _visiting(url) as (target, browser):
        api = Browser(target.port, {"Authorization": f"Bearer {target.token}"})
        for number in range(rounds + 1):
            began = time.monotonic()
            for place in list(places):
                lookup = (await api.get(f"/api/v1/schedules/s{1 + number}")).seconds
                try:
                    cold, shared = await browser.get(place.path), await browser.get(place.path)
                except FileNotFoundError:
                    report.facts.setdefault("omitted, because the page does not exist", []).append(place.path)
                    places = [other for other in places if other is not place]
                    continue
                sizes[place.path] = len(cold.body)
                if number:  # the first round only warms the caches
                    lookups.append(lookup)
                    loads[place.path].cold.append(cold.seconds)
                    loads[place.path].shared.append(shared.seconds)
            await asyncio.sleep(max(0.0, began + FRESH - time.monotonic()))
        api.close()
    base = statistics.median(lookups)
    report.samples[_LOOKUP] = lookups
    rows: list[list[Any]] = [[_LOOKUP, *_middle_and_worst(lookups), 1.0, "–", "–"]]
    for place in places:
        load_times = loads[place.path]
        report.samples[place.path], report.samples[f"{place.path}, shared"] = load_times.cold, load_times.shared
        ratio = statistics.median(load_times.cold) / base
        again = 1e3 * statistics.median(load_times.shared)
        rows.append(
            [place.name, *_middle_and_worst(load_times.cold), ratio, again, f"{sizes[place.path] / 1e3:.0f} kB"]
        )
    note = (
        f"{rounds} loads of each, on a persistent connection, with a session. Data read for one page is shared "
        "for a second: each load waited until it expired; the time with shared data is in a separate column. "
        "The forecast on `/` and `/load` is cached for twenty times its computation time."
    )
    columns = ("page", "median ms", "worst ms", "× the key lookup", "shared: median ms", "size")
    report.tables.append(Table("Pages of the dashboard", columns, rows, note))


async def _open_pages(url: str, store: PostgresStore, options: Options, report: Report) -> None:
    """Open pages while the store changes all the time: each page reloads on every event."""
    seconds = options.size(10, 1)
    rows = []
    async with _visiting(url) as (target, browser):
        cookie = browser.headers["Cookie"]
        async with _busy(store):
            for pages in (1, options.size(PAGES_OPEN, 3)):
                opened = await _open(url, target.port, cookie, pages, seconds)
                report.samples[f"{pages} open pages: loads of each"] = [float(count) for count in opened.loads]
                rows.append(
                    [
                        pages,
                        opened.statements / opened.seconds,
                        sum(opened.loads) / opened.seconds,
                        1e3 * statistics.median(opened.load_times),
                        min(opened.loads),
                    ]
                )
        await browser.get("/")
    note = f"For {seconds} s each, with runs that are created, started and finished ten times per second."
    columns = ("open pages", "statements per second", "loads of `/` per second", "median ms", "fewest loads of a page")
    report.tables.append(Table("Statements of open pages on PostgreSQL", columns, rows, note))


@dataclass(frozen=True, slots=True)
class Opened:
    """The results of open pages."""

    seconds: float
    statements: int
    loads: Sequence[int]
    load_times: Sequence[float]


async def _open(url: str, port: int, cookie: str, pages: int, seconds: float) -> Opened:
    counts, load_times = [0] * pages, list[float]()

    async def page(number: int, stream: Browser) -> None:
        with Browser.closing(port, {"Cookie": cookie}) as browser:
            async for _ in stream.events("/live"):
                load_times.append((await browser.get("/")).seconds)
                counts[number] += 1

    async with AsyncExitStack() as stack:
        streams = [stack.enter_context(Browser.closing(port, {"Cookie": cookie})) for _ in range(pages)]
        following = [asyncio.create_task(page(number, stream)) for number, stream in enumerate(streams)]
        try:
            # Every page is live before counting starts.
            async with asyncio.timeout(120):
                while min(counts) == 0:
                    await asyncio.wait(following, timeout=0.05, return_when=asyncio.FIRST_EXCEPTION)
                    _raise_of(following)
            counts[:], before, began = [0] * pages, _statements(url), time.monotonic()
            load_times.clear()
            await asyncio.wait(following, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
            _raise_of(following)
            return Opened(time.monotonic() - began, _statements(url) - before, list(counts), list(load_times))
        finally:
            for task in following:
                task.cancel()
            await asyncio.gather(*following, return_exceptions=True)


def _raise_of(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        if task.done():
            task.result()
            raise RuntimeError("an event stream has ended")


@asynccontextmanager
async def _busy(store: PostgresStore) -> AsyncIterator[None]:
    """Create, start and finish runs all the time."""

    async def work() -> None:
        worker = _worker(0)
        while True:
            await store.runs.enqueue("default", [NewRun(Target("churn"), {})], "bench")
            claimed = await store.leases.claim(worker, 4, 60, queues=["default"], targets=[("task", "churn")])
            await store.leases.finish([Outcome(run.id, run.attempt, "succeeded", result=1) for run in claimed.runs])
            await asyncio.sleep(0.1)

    task = asyncio.create_task(work())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _statements(url: str) -> int:
    """The number of statements that the server has sent."""
    with _connected(url) as db:
        [(count,)] = db.execute(STATEMENTS["statements"]).fetchall()
    return int(count)


@contextmanager
def _connected(url: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(url.replace("//postgres@", f"//{OTHER}@"), autocommit=True) as db:
        yield db


def _middle_and_worst(seconds: Sequence[float]) -> tuple[float, float]:
    return 1e3 * statistics.median(seconds), 1e3 * max(seconds)
