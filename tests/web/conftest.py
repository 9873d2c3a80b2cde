"""A real browser and a real server, on both stores. Errors in a page fail the test."""

import asyncio
import os
import shutil
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.async_api import Browser, BrowserContext, Locator, Page, async_playwright, expect

from tests.api.conftest import postgres_store, shared_url, sqlite_store  # noqa: F401
from tests.conftest import leave_out
from tickbird.api.middleware.guard import RequestLimits
from tickbird.api.streams.activity_feed import FeedOptions
from tickbird.client import StoreClient
from tickbird.domain.access.tokens import Role
from tickbird.store.protocol.store import Store
from tickbird.web.app import create_site

AXE = (Path(__file__).parent / "axe.min.js").read_text()
# With TICKBIRD_PICTURES=1, a screenshot of each checked page is saved here.
PICTURES = Path(__file__).parents[2] / "build" / "screenshots" if os.environ.get("TICKBIRD_PICTURES") else None
# Chromium without a user interface: the same engine, and a third less CPU time per test.
CHROMIUM = "chromium-headless-shell"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
# Generous, since nothing waits for as long unless it fails.
PATIENCE = 30_000
expect.set_options(timeout=PATIENCE)


@dataclass(frozen=True)
class View:
    """A store, a width and a theme."""

    store: str
    wide: bool
    dark: bool

    def __str__(self) -> str:
        return f"{self.store}-{'desktop' if self.wide else 'phone'}-{'dark' if self.dark else 'light'}"


_ALL = [View(store, wide, dark) for store in ("sqlite", "postgres") for wide in (True, False) for dark in (False, True)]
# Each store, each width and each theme; all eight with TICKBIRD_VIEWS=all.
EVERY = os.environ.get("TICKBIRD_VIEWS") == "all"
LOOKS = _ALL if EVERY else [each for each in _ALL if (each.wide == each.dark) == (each.store == "postgres")]
DEEDS = _ALL if EVERY else [View("sqlite", True, False), View("postgres", False, True)]

# A page that is looked at, in four views; something that is done, in two.
looked_at = pytest.mark.parametrize("view", LOOKS, ids=str, indirect=True)
done = pytest.mark.parametrize("view", DEEDS, ids=str, indirect=True)


@pytest.fixture
def view(request: pytest.FixtureRequest) -> View:
    """How the page is looked at; on SQLite, wide and light where a test does not say."""
    return getattr(request, "param", View("sqlite", True, False))


@pytest.fixture
def store(request: pytest.FixtureRequest, view: View) -> Store:
    """An open store with nothing in it."""
    found: Store = request.getfixturevalue(f"{view.store}_store")
    return found


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Debian's Chromium."""
    chromium = shutil.which(CHROMIUM)
    if chromium is None:
        leave_out(f"Debian's {CHROMIUM} is not installed")
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=chromium, headless=True, args=FLAGS)
        yield opened
        await opened.close()


class Served:
    """The site of a store at an address of its own."""

    def __init__(self, store: Store, loopback: str | None = None) -> None:
        self.store = store
        limits = RequestLimits(per_second=1_000, burst=10_000, lookups_per_second=1_000, lookups_burst=10_000)
        pauses = FeedOptions(poll=0.05, rest=0.01)
        self.app = create_site(lambda name: StoreClient(store, name), limits=limits, pauses=pauses, loopback=loopback)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._server = uvicorn.Server(
            uvicorn.Config(self.app, log_config=None, lifespan="off", timeout_graceful_shutdown=1)
        )
        # Signals are the test run's own.
        self._server.install_signal_handlers = lambda: None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Served":
        self._task = asyncio.create_task(self._server._serve([self._socket]))
        # It listens already: whoever comes before it has started waits for it.
        return self

    async def __aexit__(self, *_: object) -> None:
        self.app.state.streams.close()
        self._server.should_exit = True
        assert self._task is not None
        await self._task
        self._socket.close()

    @property
    def client(self) -> StoreClient:
        """The client beside the pages."""
        return StoreClient(self.store)

    async def token(self, role: Role = "admin", name: str = "ana", **options: Any) -> str:
        """The text of a new token."""
        return (await self.client.tokens.create(name, role, actor="ada", **options))[1]


@pytest.fixture
async def served(store: Store) -> AsyncIterator[Served]:
    """The dashboard without login."""
    async with Served(store, loopback="default") as site:
        yield site


@pytest.fixture
async def guarded(store: Store) -> AsyncIterator[Served]:
    """The dashboard with login."""
    async with Served(store) as site:
        yield site


@dataclass
class Desk:
    """One browser window, and everything in it that a page must not do."""

    page: Page
    url: str
    view: View
    wrong: list[str] = field(default_factory=list)
    # Answers that a test provokes on purpose: the browser reports them as errors.
    expected: set[int] = field(default_factory=set)

    def watch(self) -> None:
        """Record errors of the page."""

        def on_console(message: Any) -> None:
            provoked = any(
                f"{words} {status}" in message.text for status in self.expected for words in ("status of", "Error Code")
            )
            # Whoever leaves a page takes along what it was still asking for.
            left = message.text.startswith(("htmx:sendAbort", "htmx:afterRequest"))
            if message.type in ("error", "warning") and not provoked and not left:
                self.wrong.append(f"{message.type}: {message.text} ({message.location.get('url')})")

        def on_request(request: Any) -> None:
            if not request.url.startswith((f"{self.url}/", "data:", "blob:", "about:")):
                self.wrong.append(f"a request to another host: {request.url}")

        self.page.on("console", on_console)
        self.page.on("pageerror", lambda error: self.wrong.append(f"an error in a script: {error}"))
        self.page.on("request", on_request)

    async def open(self, path: str) -> Page:
        """Go to a page."""
        await self.page.goto(f"{self.url}{path}")
        return self.page

    async def check(self, name: str = "") -> None:
        """Assert that the page reported no error, fits the window and is accessible; `name` is for its screenshot."""
        if name and PICTURES is not None:
            PICTURES.mkdir(parents=True, exist_ok=True)
            await self.page.screenshot(path=PICTURES / f"{name}-{self.view}.png", full_page=True)
        assert self.wrong == []
        wide = await self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"the page is {wide} pixels wider than the window"
        # Beside the page's own policy, as an extension of the browser would come in.
        await self.page.evaluate(AXE)
        found = await self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        told = [
            f"{each['id']}: {each['help']} {[node['html'][:200] for node in each['nodes'][:3]]}"
            for each in found["violations"]
        ]
        assert told == []

    def button(self, name: str) -> Locator:
        """A button or a link by its text."""
        return self.page.get_by_role("button", name=name).or_(self.page.get_by_role("link", name=name)).first


async def window(browser: Browser, url: str, view: View, **options: Any) -> tuple[BrowserContext, Desk]:
    """A new window of its own, without cookies."""
    size = {"width": 1280, "height": 900} if view.wide else {"width": 390, "height": 844}
    context = await browser.new_context(
        viewport=size, color_scheme="dark" if view.dark else "light", timezone_id="Europe/Rome", **options
    )
    context.set_default_timeout(PATIENCE)
    desk = Desk(await context.new_page(), url, view)
    desk.watch()
    return context, desk


@pytest.fixture
async def desk(browser: Browser, served: Served, view: View) -> AsyncIterator[Desk]:
    """A window before the open dashboard."""
    context, opened = await window(browser, served.url, view)
    yield opened
    await context.close()
    assert opened.wrong == []


@pytest.fixture
async def door(browser: Browser, guarded: Served, view: View) -> AsyncIterator[Desk]:
    """A window before the dashboard that asks for a token."""
    context, opened = await window(browser, guarded.url, view)
    yield opened
    await context.close()
    assert opened.wrong == []


async def log_in(desk: Desk, token: str, path: str = "/") -> None:
    """Come in by the front door."""
    await desk.open(path)
    await desk.page.get_by_label("Token").fill(token)
    await desk.page.get_by_role("button", name="Log in").click()
    await desk.page.wait_for_url(lambda url: "/login" not in url)
