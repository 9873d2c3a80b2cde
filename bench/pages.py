"""How long pages of the dashboard take beside many schedules and runs; and what fifty open ones ask of the store."""

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

from bench.api import Asked, serving
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
# What one page has read, others are shown for a second: so long is waited before it is asked for again.
FRESH: Final = 1.05
# Counted apart, and not made by the server: who keeps the store busy is another role of the database.
OTHER: Final = "churn"
PAGES_OPEN: Final = 50
# What these show takes long to count of many schedules.
_COUNTING: Final = ("/", "/load")
_LOOK_UP: Final = "a schedule by its key, over the API"


@dataclass(frozen=True, slots=True)
class Place:
    """A page, and what it is called."""

    name: str
    path: str


@dataclass
class Loads:
    """What was measured of a page, in seconds: anew; and beside it again, from what had just been read."""

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
    """Four that live for as long as this takes."""
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
    [coming, *_] = await client.ticks.next(name, 1)
    whys = {"why of a past tick": past.scheduled_for, "why of a coming tick": coming.scheduled_for}
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
async def _visiting(url: str) -> AsyncIterator[tuple[Asked, Browser]]:
    """A server that has just started, and somebody who has logged in to it."""
    with serving("site", url) as asked:
        session = await Browser.log_in(asked.port, asked.token)
        browser = Browser(asked.port, {"Cookie": session})
        try:
            yield asked, browser
        finally:
            browser.close()


async def _first(url: str, options: Options, report: Report) -> None:
    """What takes long is counted once: the first who ask for it after a start, and others meanwhile."""
    taken: dict[str, list[float]] = {}
    for _ in range(options.size(3, 1)):
        async with _visiting(url) as (asked, browser):
            for path in _COUNTING:
                with Browser.closing(asked.port, {"Authorization": f"Bearer {asked.token}"}) as beside:
                    loading = asyncio.create_task(_until_whole(browser, path))
                    while not loading.done():
                        look_up = await beside.get("/api/v1/schedules/s1")
                        taken.setdefault(f"{path}, first: look-ups meanwhile", []).append(look_up.seconds)
                        await asyncio.sleep(0.01)
                first, whole = await loading
                taken.setdefault(f"{path}, first", []).append(first)
                taken.setdefault(f"{path}, first: all counted", []).append(whole)
    report.samples |= taken
    rows = []
    for path in _COUNTING:
        firsts, wholes = taken[f"{path}, first"], taken[f"{path}, first: all counted"]
        others = _middle_and_worst(taken[f"{path}, first: look-ups meanwhile"])
        rows.append([path, *_middle_and_worst(firsts), 1e3 * statistics.median(wholes), *others])
    note = "The key look-up is asked for by somebody else, again and again, until everything on the page is counted."
    columns = ("page", "median ms", "worst ms", "all counted: median ms", "look-up meanwhile: median ms", "worst ms")
    report.tables.append(Table("The first load after the server has started", columns, rows, note))


async def _until_whole(browser: Browser, path: str) -> tuple[float, float]:
    """How long until a page is there, and until nothing on it is still being counted."""
    began = time.perf_counter()
    page = await browser.get(path)
    first = page.seconds
    while b"eing counted" in page.body:
        await asyncio.sleep(FRESH)
        page = await browser.get(path)
    return first, time.perf_counter() - began


async def _pages(url: str, places: Sequence[Place], options: Options, report: Report) -> None:
    """Every page in turns with the look-up, in rounds that lie so far apart that each is read anew."""
    rounds = options.size(15, 1)
    loads = {place.path: Loads([], []) for place in places}
    look_ups: list[float] = []
    sizes: dict[str, int] = {}
    async with _visiting(url) as (asked, browser):
        api = Browser(asked.port, {"Authorization": f"Bearer {asked.token}"})
        for number in range(rounds + 1):
            began = time.monotonic()
            for place in list(places):
                look_up = (await api.get(f"/api/v1/schedules/s{1 + number}")).seconds
                try:
                    cold, shared = await browser.get(place.path), await browser.get(place.path)
                except FileNotFoundError:
                    report.facts.setdefault("left out, since there is no such page", []).append(place.path)
                    places = [each for each in places if each is not place]
                    continue
                sizes[place.path] = len(cold.body)
                if number:  # the first round only warms
                    look_ups.append(look_up)
                    loads[place.path].cold.append(cold.seconds)
                    loads[place.path].shared.append(shared.seconds)
            await asyncio.sleep(max(0.0, began + FRESH - time.monotonic()))
        api.close()
    base = statistics.median(look_ups)
    report.samples[_LOOK_UP] = look_ups
    rows: list[list[Any]] = [[_LOOK_UP, *_middle_and_worst(look_ups), 1.0, "–", "–"]]
    for place in places:
        taken = loads[place.path]
        report.samples[place.path], report.samples[f"{place.path}, shared"] = taken.cold, taken.shared
        ratio = statistics.median(taken.cold) / base
        again = 1e3 * statistics.median(taken.shared)
        rows.append([place.name, *_middle_and_worst(taken.cold), ratio, again, f"{sizes[place.path] / 1e3:.0f} kB"])
    note = (
        f"{rounds} loads of each, on a kept connection, with a session. What is read for one is shared by all who ask "
        "within a second: each load waited that out, and what it took with a reading that is shared stands beside it. "
        "What `/` and `/load` tell of the coming load is kept for twenty times as long as it took to compute."
    )
    columns = ("page", "median ms", "worst ms", "× the key look-up", "shared: median ms", "size")
    report.tables.append(Table("Pages of the dashboard", columns, rows, note))


async def _open_pages(url: str, store: PostgresStore, options: Options, report: Report) -> None:
    """Pages that are open while something happens all the time: each loads itself on every word."""
    seconds = options.size(10, 1)
    rows = []
    async with _visiting(url) as (asked, browser):
        cookie = browser.headers["Cookie"]
        async with _busy(store):
            for pages in (1, options.size(PAGES_OPEN, 3)):
                found = await _open(url, asked.port, cookie, pages, seconds)
                report.samples[f"{pages} open pages: loads of each"] = [float(each) for each in found.loads]
                rows.append(
                    [
                        pages,
                        found.statements / found.seconds,
                        sum(found.loads) / found.seconds,
                        1e3 * statistics.median(found.taken),
                        min(found.loads),
                    ]
                )
        await browser.get("/")
    note = f"For {seconds} s each, on a store in which runs are made, started and ended ten times a second."
    columns = ("open pages", "statements a second", "loads of `/` a second", "median ms", "fewest loads of a page")
    report.tables.append(Table("What open pages ask of PostgreSQL", columns, rows, note))


@dataclass(frozen=True, slots=True)
class Opened:
    """What became of open pages."""

    seconds: float
    statements: int
    loads: Sequence[int]
    taken: Sequence[float]


async def _open(url: str, port: int, cookie: str, pages: int, seconds: float) -> Opened:
    counts, taken = [0] * pages, list[float]()

    async def page(number: int, stream: Browser) -> None:
        with Browser.closing(port, {"Cookie": cookie}) as browser:
            async for _ in stream.words("/live"):
                taken.append((await browser.get("/")).seconds)
                counts[number] += 1

    async with AsyncExitStack() as stack:
        streams = [stack.enter_context(Browser.closing(port, {"Cookie": cookie})) for _ in range(pages)]
        following = [asyncio.create_task(page(number, each)) for number, each in enumerate(streams)]
        try:
            # Every page is live before it counts.
            async with asyncio.timeout(120):
                while min(counts) == 0:
                    await asyncio.wait(following, timeout=0.05, return_when=asyncio.FIRST_EXCEPTION)
                    _raise_of(following)
            counts[:], before, began = [0] * pages, _statements(url), time.monotonic()
            taken.clear()
            await asyncio.wait(following, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
            _raise_of(following)
            return Opened(time.monotonic() - began, _statements(url) - before, list(counts), list(taken))
        finally:
            for each in following:
                each.cancel()
            await asyncio.gather(*following, return_exceptions=True)


def _raise_of(tasks: Sequence[asyncio.Task[None]]) -> None:
    for each in tasks:
        if each.done():
            each.result()
            raise RuntimeError("a stream of words has ended")


@asynccontextmanager
async def _busy(store: PostgresStore) -> AsyncIterator[None]:
    """Runs are made, started and ended all the time."""

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
    """How many statements the server has sent so far."""
    with _connected(url) as db:
        [(count,)] = db.execute(STATEMENTS["statements"]).fetchall()
    return int(count)


@contextmanager
def _connected(url: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(url.replace("//postgres@", f"//{OTHER}@"), autocommit=True) as db:
        yield db


def _middle_and_worst(seconds: Sequence[float]) -> tuple[float, float]:
    return 1e3 * statistics.median(seconds), 1e3 * max(seconds)
