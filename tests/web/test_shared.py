"""Fifty open pages share one stream of queries after each change."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import httpx
import pytest

from tests.web.conftest import DEEDS, Served
from tickbird.api.streams.activity_feed import ActivityFeed, FeedOptions
from tickbird.client import StoreClient
from tickbird.domain.errors import StoreUnavailableError
from tickbird.domain.triggers.every import every
from tickbird.store.protocol.store import Store
from tickbird.web import live_updates
from tickbird.web.pages import overview
from tickbird.web.query_cache import MAX_BYTES, QueryCache

PAGES = 50
PATIENCE = 60.0
# Asked by the one who follows the store for all pages, as often as time passes; and once by whoever begins to listen.
BY_THE_CLOCK = {"activity.watermark", "activity.read", "wakeups"}


class Counted:
    """A store, or a noun of one, that counts which verbs are called."""

    def __init__(self, real: Any, asked: Counter[str], noun: str = "") -> None:
        self._real = real
        self._asked = asked
        self._noun = noun

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        if isinstance(found, int | str | frozenset):
            return found
        if not callable(found):
            return Counted(found, self._asked, f"{name}.")

        def ask(*args: Any, **values: Any) -> Any:
            self._asked[f"{self._noun}{name}"] += 1
            return found(*args, **values)

        return ask


class OpenPage:
    """A page whose script reloads it on each notification."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self.words = 0
        self.shown = ""
        self.status = 0
        self._news = asyncio.Condition()

    async def follow(self) -> None:
        """Load it on every word, until the page is closed."""
        async with self._http.stream("GET", "/live", headers={"Accept": "text/event-stream"}) as stream:
            async for line in stream.aiter_lines():
                if line.startswith("event: changed"):
                    answer = await self._load()
                    async with self._news:
                        self.words, self.status, self.shown = self.words + 1, answer.status_code, answer.text
                        self._news.notify_all()

    async def _load(self) -> httpx.Response:
        """Where the machine is too busy to answer in time, or a kept connection has just been closed, ask again."""
        while True:
            with suppress(httpx.TransportError):
                if (answer := await self._http.get("/")).status_code != 503:
                    return answer

    async def until_shown(self, text: str) -> None:
        """Wait until it has heard of something, and shows it."""
        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(lambda: self.words > 0 and text in self.shown)


@asynccontextmanager
async def opened(url: str, count: int) -> AsyncIterator[list[OpenPage]]:
    """So many pages that have heard a word and shown something."""
    limits = httpx.Limits(max_connections=None)
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(httpx.AsyncClient(base_url=url, limits=limits, timeout=PATIENCE))
        pages = [OpenPage(http) for _ in range(count)]
        tasks = [asyncio.create_task(page.follow()) for page in pages]
        try:
            await asyncio.gather(*(page.until_shown("") for page in pages))
            yield pages
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("view", DEEDS[:2], ids=lambda view: view.store, indirect=True)
async def test_fifty_open_pages_ask_the_store_no_more_than_one(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_updates, "_MIN_PAUSE", 0.01)
    monkeypatch.setattr(overview, "_TIMEOUT", PATIENCE)
    asked: Counter[str] = Counter()
    found: dict[int, Counter[str]] = {}
    async with Served(Counted(store, asked), loopback="default") as site:
        beats: live_updates.LiveUpdates = site.app.state.beats
        stand_still(beats._readings)
        for count in (1, PAGES):
            async with opened(site.url, count) as pages:
                # Whatever the number of pages, one follows the store for all of them.
                assert len(site.app.state.feed._followers) == 1
                asked.clear()
                for number in range(2):
                    name = f"of-{count}-{number}"
                    await site.client.schedules.create(
                        name, every(minutes=1), "report", actor="ana", unknown_task_ok=True
                    )
                    # What was read before the change is not shown after it, to anybody.
                    await asyncio.gather(*(page.until_shown(name) for page in pages))
                    assert {page.status for page in pages} == {200}
                found[count] = Counter({name: times for name, times in asked.items() if name not in BY_THE_CLOCK})
    assert found[1]["dashboard.timeline"] == 2
    assert found[PAGES] == found[1]


async def test_pending_notification_stops_reading_the_feed(store: Store) -> None:
    asked: Counter[str] = Counter()
    client = StoreClient(store)
    feed = ActivityFeed(StoreClient(Counted(store, asked)), FeedOptions(poll=0.01, rest=0.0))
    glance = live_updates.ChangeSubscriber("default", None, ())
    events = feed.follow(glance, None)
    await anext(events)
    for name in ("first", "second"):
        await client.schedules.create(name, every(minutes=1), "report", actor="ana", unknown_task_ok=True)
        async with asyncio.timeout(PATIENCE):
            await glance.news.wait()
        assert glance.has_enough
        asked.clear()
        await client.schedules.pause(name, actor="ana", note="more of it")
        await asyncio.sleep(0.1)
        assert asked["activity.watermark"] == asked["activity.read"] == 0
        # Once it is heard, what happened meanwhile is found as well.
        assert (await anext(events)).startswith(b"event: changed")
        assert (await anext(events)).startswith(b"event: changed")
    await events.aclose()


def stand_still(readings: QueryCache) -> None:
    """Only changes make readings old, and not the time that a busy machine takes."""
    ticks = itertools.count()
    readings._clock = readings._results._clock = lambda: next(ticks) * 1e-9


async def test_slow_query_runs_once_and_blocks_no_page() -> None:
    clock = [0.0]
    readings = QueryCache(lambda: clock[0])
    begun: list[asyncio.Future[str]] = []

    async def read() -> str:
        begun.append(asyncio.get_running_loop().create_future())
        return await begun[-1]

    async def ask(patience: float = 0.0) -> str | None:
        return await readings.latest(("load", "week"), read, 2.0, 20.0, patience)

    assert await ask() is None
    # Longer than it would be fresh, and still it is the same one.
    clock[0] = 5.0
    assert await ask() is None
    assert len(begun) == 1
    waits = asyncio.create_task(ask(PATIENCE))
    begun[0].set_result("first")
    assert await waits == "first"
    # It took five seconds: it is kept for a hundred, and shown until the next one is there.
    clock[0] = 99.0
    assert (await ask(), len(begun)) == ("first", 1)
    clock[0] = 101.0
    assert [await ask(), await ask()] == ["first", "first"]
    assert len(begun) == 2
    begun[1].set_exception(StoreUnavailableError("gone"))
    with pytest.raises(StoreUnavailableError):
        await ask(PATIENCE)
    assert (await ask(), len(begun)) == ("first", 3)
    begun[2].set_result("third")
    assert await ask(PATIENCE) == "third"


async def test_query_from_before_a_change_is_not_shared() -> None:
    readings = QueryCache(lambda: 0.0)
    begun: list[asyncio.Future[str]] = []

    async def read() -> str:
        begun.append(asyncio.get_running_loop().create_future())
        return await begun[-1]

    async def ask(namespace: str) -> asyncio.Task[str]:
        task = asyncio.create_task(readings.share((namespace, "runs"), read))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return task

    before, elsewhere = await ask("default"), await ask("other")
    readings.expire("default")
    after, joined = await ask("default"), await ask("other")
    assert len(begun) == 3
    for future, text in zip(begun, ("before", "elsewhere", "after"), strict=True):
        future.set_result(text)
    results = [await task for task in (before, elsewhere, after, joined)]
    assert results == ["before", "elsewhere", "after", "elsewhere"]
    assert await (await ask("default")) == "after"


async def test_a_timeout_of_the_reading_itself_is_an_error() -> None:
    readings = QueryCache()

    async def read() -> str:
        raise TimeoutError("of the store")

    with pytest.raises(TimeoutError, match="of the store"):
        await readings.latest(("default", "load"), read, 2.0, 20.0, PATIENCE)


async def test_readings_are_limited_in_bytes_and_go_when_they_are_old() -> None:
    """One visitor may ask for a thousand different things, each of them large."""
    readings = QueryCache()
    large = MAX_BYTES // 10

    async def read() -> list[str]:
        return ["x" * large]

    for number in range(50):
        assert await readings.share(("default", "log", number), read, fresh=0.2) == ["x" * large]
        await readings.latest(("default", "load", number), read, 0.2, 0.0, PATIENCE)
        assert readings.size <= 2 * MAX_BYTES
    # Once they are old, without anybody asking; the last ones that were shown may be shown again.
    async with asyncio.timeout(PATIENCE):
        while readings._results.size:  # noqa: ASYNC110 - timers of this loop drop them
            await asyncio.sleep(0.01)
