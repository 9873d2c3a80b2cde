"""Server-sent events: how they are written, how many may listen, and when listening ends."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, Final

from fastapi import Request
from fastapi.responses import StreamingResponse

from tickbird.api.auth import Authority, Caller
from tickbird.api.guard import Limits, Receive, Scope, Send
from tickbird.api.problems import Problem
from tickbird.domain.errors import TickbirdError

MEDIA_TYPE: Final = "text/event-stream"
# What a browser waits before it comes again, in milliseconds.
_GREETING: Final = b"retry: 2000\n\n"
_HEARTBEAT: Final = b": still here\n\n"
# Proxies must pass on each event as it comes.
_HEADERS: Final = {"X-Accel-Buffering": "no"}

Events = AsyncGenerator[bytes, None]
Listening = Callable[[], AbstractContextManager[None]]


def event(data: object, *, name: str = "", place: str = "") -> bytes:
    """One event: JSON, the place to go on behind it, and a name where it is not of the usual kind."""
    head = (f"event: {name}\n" if name else "") + (f"id: {place}\n" if place else "")
    return f"{head}data: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()


def wants_events(request: Request) -> bool:
    """Does the client ask for events rather than for a document?"""
    return MEDIA_TYPE in request.headers.get("accept", "").lower()


class Streams:
    """All streams of one server: each ends with what it tells of, its listener, its token, or the server."""

    def __init__(self, authority: Authority, limits: Limits) -> None:
        self._authority = authority
        self._limits = limits
        self._callers: Counter[str] = Counter()
        self._closing: asyncio.Future[None] | None = None

    @property
    def count(self) -> int:
        """How many are open."""
        return self._callers.total()

    def open(self, request: Request, events: Callable[[], Events]) -> StreamingResponse:
        """The answer that tells of events as they come; a Problem where too many listen already."""
        caller: Caller = request.scope["state"]["caller"]
        if self.count >= self._limits.streams or self._callers[caller.token_id] >= self._limits.streams_each:
            raise Problem(
                429,
                "too-many",
                "There are too many open streams;",
                hint="close some, or come back later.",
                headers={"Retry-After": "10"},
            )
        flow = self._flow(request.headers.get("authorization"), events())
        return _Stream(flow, lambda: self._listening(caller.token_id), self._limits.answer_within)

    def close(self) -> None:
        """End them all: the server does."""
        closing = self._until_closed()
        if not closing.done():
            closing.set_result(None)

    def _until_closed(self) -> asyncio.Future[None]:
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_future()
        return self._closing

    @contextmanager
    def _listening(self, token_id: str) -> Iterator[None]:
        self._callers[token_id] += 1
        try:
            yield
        finally:
            self._callers[token_id] -= 1
            if not self._callers[token_id]:
                del self._callers[token_id]

    async def _flow(self, authorization: str | None, events: Events) -> Events:
        """Events as they come, and a sign of life where none do for a while."""
        loop, beat = asyncio.get_running_loop(), self._limits.heartbeat
        closing, checked_at = self._until_closed(), loop.time()
        coming: asyncio.Task[bytes | None] | None = None
        try:
            yield _GREETING
            while not closing.done():
                coming = coming or loop.create_task(_next(events))
                either: set[asyncio.Future[Any]] = {coming, closing}
                await asyncio.wait(either, timeout=beat, return_when=asyncio.FIRST_COMPLETED)
                if loop.time() - checked_at >= beat:
                    if not await self._may_listen(authorization):
                        return
                    checked_at = loop.time()
                if coming.done():
                    told, coming = coming.result(), None
                    if told is None:
                        return
                    yield told
                elif not closing.done():
                    yield _HEARTBEAT
        finally:
            if coming is not None:
                coming.cancel()
                with suppress(asyncio.CancelledError, Exception):
                    await coming
            await events.aclose()

    async def _may_listen(self, authorization: str | None) -> bool:
        """Is the token still good? It may be revoked, or expire, while somebody listens."""
        try:
            await self._authority.caller(authorization)
        except Problem:
            return False
        except TickbirdError:
            # The store is away for a while, and nothing is told meanwhile anyway.
            return True
        return True


async def _next(events: Events) -> bytes | None:
    return await anext(events, None)


class _Stream(StreamingResponse):
    """Also where the client leaves in the middle, whatever feeds it is ended with it."""

    def __init__(self, events: Events, listening: Listening, patience: float) -> None:
        super().__init__(events, headers=_HEADERS, media_type=MEDIA_TYPE)
        self._events = events
        self._listening = listening
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until it ends, or until the client takes nothing any more."""

        async def within(message: Any) -> None:
            async with asyncio.timeout(self._patience):
                await send(message)

        with self._listening():
            try:
                with suppress(TimeoutError):
                    await super().__call__(scope, receive, within)
            finally:
                await self._events.aclose()
