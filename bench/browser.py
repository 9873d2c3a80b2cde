"""A headless client: a persistent connection that loads pages, or receives events of a live page."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlencode


@dataclass(frozen=True, slots=True)
class Loaded:
    """A page, and its load time."""

    seconds: float
    body: bytes


class Browser:
    """One connection, with the same headers on every request."""

    def __init__(self, port: int, headers: Mapping[str, str]) -> None:
        self.headers = headers
        self._port = port
        self._pair: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    @classmethod
    @contextmanager
    def closing(cls, port: int, headers: Mapping[str, str]) -> Iterator[Browser]:
        """A browser that is closed at the end."""
        browser = cls(port, headers)
        try:
            yield browser
        finally:
            browser.close()

    @classmethod
    async def log_in(cls, port: int, token: str) -> str:
        """Log in; returns the session cookie."""
        form = urlencode({"token": token, "next": "/"})
        with cls.closing(port, {"Content-Type": "application/x-www-form-urlencoded"}) as browser:
            head, _ = await browser._send("POST", "/login", form)
        return head.partition("set-cookie: ")[2].partition(";")[0]

    async def get(self, path: str) -> Loaded:
        """Load a page; FileNotFoundError if it does not exist."""
        began = time.perf_counter()
        head, body = await self._send("GET", path)
        seconds = time.perf_counter() - began
        status = int(head.split(" ", 2)[1])
        if status == 404:
            raise FileNotFoundError(path)
        if status != 200:
            raise RuntimeError(f"{path} got the response {status}: {body[:500]!r}")
        return Loaded(seconds, body)

    async def events(self, path: str) -> AsyncIterator[None]:
        """Yields at each change event of a live page."""
        reader, writer = await self._connected()
        writer.write(self._request("GET", path))
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        if not head.startswith("HTTP/1.1 200"):
            raise RuntimeError(f"{path} got the response {head.splitlines()[0]}")
        while line := await reader.readline():
            if line.startswith(b"event: changed"):
                yield

    def close(self) -> None:
        if self._pair is not None:
            self._pair[1].close()

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        # The server closes idle connections.
        if self._pair is None or self._pair[0].at_eof():
            self._pair = await asyncio.open_connection("127.0.0.1", self._port, limit=2**22)
        return self._pair

    def _request(self, method: str, path: str, body: str = "") -> bytes:
        lines = [
            f"{method} {path} HTTP/1.1",
            "Host: localhost",
            *(f"{key}: {value}" for key, value in self.headers.items()),
        ]
        return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", body]).encode()

    async def _send(self, method: str, path: str, body: str = "") -> tuple[str, bytes]:
        reader, writer = await self._connected()
        writer.write(self._request(method, path, body))
        head = (await reader.readuntil(b"\r\n\r\n")).decode().replace("Set-Cookie", "set-cookie")
        length = int(head.lower().partition("content-length: ")[2].partition("\r\n")[0])
        return head, await reader.readexactly(length)
