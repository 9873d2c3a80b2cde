"""A proxy in front of a PostgreSQL server: it delays, breaks or drops traffic, or injects a fault into a statement."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, Self, TypeVar
from urllib.parse import urlsplit, urlunsplit

from lab.faults.wire import Responses, Statements

T = TypeVar("T")
# The proxy holds a statement; or the server executes it and the response is lost; or the request is lost.
Trick = Literal["hold", "unanswered", "unheard"]


@dataclass
class Rule:
    """A trick on the next `count` statements that contain a text (COMMIT: that are this command)."""

    text: str
    trick: Trick
    count: int = 1

    def fits(self, statement: str) -> bool:
        return statement.strip() == self.text if self.text == "COMMIT" else self.text in statement


@dataclass(eq=False)
class _Line:
    """A client's connection, and the connection to the server for it."""

    near: asyncio.StreamWriter
    far: asyncio.StreamWriter
    # Responses are dropped while this is set; the connection ends after the first complete one.
    mute: bool = False
    responses: Responses = field(default_factory=Responses)

    def break_off(self) -> None:
        for end in (self.near, self.far):
            end.transport.abort()


class Proxy:
    """`with Proxy(url) as proxy:` connect to `proxy.url`. It runs in a thread; its methods are thread-safe."""

    def __init__(self, url: str, *, host: str = "127.0.0.1") -> None:
        parts = urlsplit(url)
        self._parts = parts
        self._host = host
        self._server_at = parts.hostname or "127.0.0.1", parts.port or 5432
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="tickbird proxy", daemon=True)
        self._lines: set[_Line] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._rules: list[Rule] = []
        # Seconds that every message is delayed, in each direction.
        self.delay = 0.0
        # Statements with an injected fault so far, and faulty statements that the proxy holds back now.
        self.tricks = 0
        self.held = 0
        self.port = 0

    @property
    def url(self) -> str:
        """The address of the proxy."""
        user = self._parts.netloc.rpartition("@")[0]
        address = f"{self._host}:{self.port}"
        return urlunsplit(self._parts._replace(netloc=f"{user}@{address}" if user else address))

    def __enter__(self) -> Self:
        self._thread.start()
        self._call(self._open)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Break every connection and end."""
        self._call(self._close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def cut(self) -> int:
        """Break all connections; returns their number."""
        return self._call(self._cut)

    def swallow(self) -> None:
        """Keep connections open and accept new ones, but forward nothing until `heal`."""
        self._call(self._swallow)

    def heal(self) -> None:
        """Forward everything again, without delay and faults; held statements continue."""
        self._call(self._heal)

    def trick(self, text: str, trick: Trick, count: int = 1) -> None:
        """Inject a fault into the next statements that contain a text; "COMMIT" means only the command."""
        rule = Rule(text, trick, count)
        self._loop.call_soon_threadsafe(self._rules.append, rule)

    def _call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        return asyncio.run_coroutine_threadsafe(work(), self._loop).result()

    async def _open(self) -> None:
        self._flowing, self._released = asyncio.Event(), asyncio.Event()
        self._flowing.set()
        self._server = await asyncio.start_server(self._accept, self._host, 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        self._server.close()
        await self._cut()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _cut(self) -> int:
        lines, self._lines = self._lines, set()
        for line in lines:
            line.break_off()
        return len(lines)

    async def _swallow(self) -> None:
        self._flowing.clear()

    async def _heal(self) -> None:
        self.delay = 0.0
        self._rules.clear()
        self._flowing.set()
        self._released.set()
        self._released = asyncio.Event()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        # Cancelled by `close`; asyncio would log it.
        with suppress(OSError, asyncio.CancelledError):
            await self._connect(reader, writer)
        writer.transport.abort()
        self._tasks.discard(task)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._flowing.wait()
        from_server, to_server = await asyncio.open_connection(*self._server_at)
        line = _Line(writer, to_server)
        self._lines.add(line)
        responses = asyncio.create_task(self._forward_responses(line, from_server))
        try:
            await self._forward_requests(line, reader)
        finally:
            responses.cancel()
            self._lines.discard(line)
            line.break_off()

    async def _forward_requests(self, line: _Line, reader: asyncio.StreamReader) -> None:
        """Forward messages of a client one by one."""
        statements = Statements()
        while data := await reader.read(65_536):
            await self._pass()
            for message, statement in statements.feed(data):
                rule = self._rule(statement) if statement else None
                if rule is not None and not await self._play(line, rule, message):
                    return
                line.far.write(message)
            await line.far.drain()

    def _rule(self, statement: str) -> Rule | None:
        rule = next((rule for rule in self._rules if rule.fits(statement)), None)
        if rule is not None:
            rule.count -= 1
            if not rule.count:
                self._rules.remove(rule)
        return rule

    async def _play(self, line: _Line, rule: Rule, message: bytes) -> bool:
        """Inject a fault into a statement; False if the connection must end."""
        self.tricks += 1
        if rule.trick == "hold":
            self.held += 1
            try:
                await self._released.wait()
            finally:
                self.held -= 1
            return True
        if rule.trick == "unanswered":
            line.mute = True
            line.far.write(message)
            # The client may be in the middle of a pipeline: the following messages belong to the same request.
            with suppress(TimeoutError):
                async with asyncio.timeout(5.0):
                    await line.responses.complete.wait()
        return False

    async def _forward_responses(self, line: _Line, reader: asyncio.StreamReader) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                await self._pass()
                if line.mute:
                    line.responses.feed(data)
                else:
                    line.near.write(data)
                    await line.near.drain()
        line.near.transport.abort()

    async def _pass(self) -> None:
        """Wait for the delay, and until traffic is forwarded."""
        if self.delay:
            await asyncio.sleep(self.delay)
        await self._flowing.wait()
