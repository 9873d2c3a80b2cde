"""Server-sent events: their format, the limits of open streams, and when streams end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, Final

from fastapi import Request
from fastapi.responses import StreamingResponse

from tickbird.api.auth.auth import Authority, Caller
from tickbird.api.middleware.guard import Receive, RequestLimits, Scope, Send
from tickbird.api.problems import Problem
from tickbird.domain.errors import TickbirdError

MEDIA_TYPE: Final = "text/event-stream"
# Milliseconds until a browser reconnects.
_GREETING: Final = b"retry: 2000\n\n"
_HEARTBEAT: Final = b": still here\n\n"
# Proxies must not buffer events.
_HEADERS: Final = {"X-Accel-Buffering": "no"}
_LATER: Final = {"Retry-After": "10"}

Events = AsyncGenerator[bytes, None]
Listening = Callable[[], AbstractContextManager[None]]


def event(data: object, *, name: str = "", place: str = "") -> bytes:
    """Format an event; `place` is its id, after which a client can resume."""
    head = (f"event: {name}\n" if name else "") + (f"id: {place}\n" if place else "")
    return f"{head}data: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()


def wants_events(request: Request) -> bool:
    return MEDIA_TYPE in request.headers.get("accept", "").lower()


class SseConnections:
    """The open streams of a server. Each ends with its source, its client, its token or the server."""

    def __init__(self, authority: Authority, limits: RequestLimits) -> None:
        self._authority = authority
        self._limits = limits
        # The future that ends each stream, and its caller.
        self._open: dict[asyncio.Future[None], Caller] = {}
        self._watching: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def count(self) -> int:
        return len(self._open)

    def open(self, request: Request, events: Callable[[], Events]) -> StreamingResponse:
        """The response that streams events; a Problem if too many streams are open."""
        caller: Caller = request.scope["state"]["caller"]
        if request.method == "HEAD":
            return StreamingResponse(iter(()), headers=_HEADERS, media_type=MEDIA_TYPE)
        if sum(other.token_id == caller.token_id for other in self._open.values()) >= self._limits.streams_each:
            raise Problem(
                429,
                "too-many",
                "There are too many open streams with this token.",
                hint="Close some, or try again later.",
                headers=_LATER,
            )
        if self._closed or self.count >= self._limits.streams:
            why = "The server is shutting down." if self._closed else "There are too many open streams."
            raise Problem(503, "too-many-streams", why, hint="Try again later.", headers=_LATER)
        ending = asyncio.get_running_loop().create_future()
        return _Stream(
            self._flow(ending, events()),
            lambda: self._listening(ending, caller),
            self._limits.answer_within,
        )

    def close(self) -> None:
        """End all streams, because the server shuts down."""
        self._closed = True
        for ending in self._open:
            _end(ending)

    @contextmanager
    def _listening(self, ending: asyncio.Future[None], caller: Caller) -> Iterator[None]:
        self._open[ending] = caller
        if self._closed:
            _end(ending)
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch(), name="tickbird tokens of streams")
        try:
            yield
        finally:
            del self._open[ending]
            if not self._open:
                self._watching.cancel()
                self._watching = None

    async def _watch(self) -> None:
        """End the streams of revoked and expired tokens and sessions; one query checks all of them."""
        while True:
            await asyncio.sleep(self._limits.tokens_every)
            # While the store is unavailable, streams send no data.
            with suppress(TickbirdError):
                credentials = {caller.held for caller in self._open.values()}
                gone = credentials - await self._authority.live(credentials)
                for ending, caller in self._open.items():
                    if caller.held in gone:
                        _end(ending)

    async def _flow(self, ending: asyncio.Future[None], events: Events) -> Events:
        """Events, and a heartbeat if there are none for a while."""
        coming: asyncio.Task[bytes | None] | None = None
        try:
            yield _GREETING
            while not ending.done():
                coming = coming or asyncio.create_task(_next(events))
                either: set[asyncio.Future[Any]] = {coming, ending}
                await asyncio.wait(either, timeout=self._limits.heartbeat, return_when=asyncio.FIRST_COMPLETED)
                if ending.done():
                    return
                if coming.done():
                    block, coming = coming.result(), None
                    if block is None:
                        return
                    yield block
                else:
                    yield _HEARTBEAT
        finally:
            if coming is not None:
                coming.cancel()
                with suppress(asyncio.CancelledError, Exception):
                    await coming
            await events.aclose()


def _end(ending: asyncio.Future[None]) -> None:
    if not ending.done():
        ending.set_result(None)


async def _next(events: Events) -> bytes | None:
    return await anext(events, None)


class _Stream(StreamingResponse):
    """Closes its source also if the client disconnects."""

    def __init__(self, events: Events, listening: Listening, send_timeout: float) -> None:
        super().__init__(events, headers=_HEADERS, media_type=MEDIA_TYPE)
        self._events = events
        self._listening = listening
        self._send_timeout = send_timeout

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the source ends, or the client does not read for too long."""

        async def within(message: Any) -> None:
            async with asyncio.timeout(self._send_timeout):
                await send(message)

        with self._listening():
            try:
                with suppress(TimeoutError):
                    await super().__call__(scope, receive, within)
            finally:
                await self._events.aclose()
