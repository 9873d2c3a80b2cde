"""Responses of the server that arrive when the test lets them."""

import asyncio
import re
from collections.abc import Callable
from contextlib import suppress

from playwright.async_api import Error, Locator, Page, Request, Route, expect

from lab.faults import until


class Hold:
    """Lets the server answer the requests that match, and keeps the responses back until `release`."""

    def __init__(self, page: Page, matches: Callable[[Request], bool], status: int | None = None) -> None:
        self.page = page
        self.answered = asyncio.Event()
        # Has the page sent the same request again since? Then it drops the response that is held.
        self.overtaken = False
        self._released = asyncio.Event()
        self._passed = asyncio.Event()
        self._matches = matches
        self._status = status

    async def __aenter__(self) -> "Hold":
        await self.page.route("**", self._handle)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._released.set()
        await self.page.unroute("**", self._handle)

    async def _handle(self, route: Route) -> None:
        if self.answered.is_set() or not self._matches(route.request):
            self.overtaken = self.overtaken or self._matches(route.request)
            await route.fallback()
            return
        if self._status is None:
            # The browser follows a redirect itself.
            response = await route.fetch(max_redirects=0)
            self.answered.set()
            await self._released.wait()
            # The page may have aborted the request.
            with suppress(Error):
                await route.fulfill(response=response)
        else:
            self.answered.set()
            await self._released.wait()
            await route.fulfill(status=self._status, body="")
        self._passed.set()

    async def release(self) -> None:
        """Let the response through; returns after the page has had its turn with it."""
        self._released.set()
        await self._passed.wait()
        await self.page.evaluate("fetch(location.href).then((answer) => answer.text())")

    async def load(self) -> None:
        """Let the response through that loads a page; returns after the page has loaded."""
        async with self.page.expect_event("load"):
            self._released.set()


def sends(page: Page, path: str) -> Hold:
    """Hold the response to a form."""
    return Hold(page, lambda request: request.method == "POST" and re.search(f"{path}$", request.url) is not None)


def reads(page: Page, part: str, target: str = "") -> Hold:
    """Hold the response to a request for a part of the page."""

    def matches(request: Request) -> bool:
        return part in request.url and request.headers.get("hx-target", "") == target

    return Hold(page, matches)


async def type_across(field: Locator, text: str, hold: Hold, shown: Locator) -> None:
    """Replace the text of a field by the keyboard, half before the response arrives and half after it."""
    await field.select_text()
    half = len(text) // 2
    if half:
        await field.page.keyboard.type(text[:half])
    await hold.release()
    # What follows the typing may have sent a newer request, if this test had to wait for the machine.
    await until(lambda: _shown_or_overtaken(shown, hold))
    await field.page.keyboard.type(text[half:])
    await expect(field).to_have_value(text)


async def _shown_or_overtaken(shown: Locator, hold: Hold) -> bool:
    return hold.overtaken or await shown.is_visible()
