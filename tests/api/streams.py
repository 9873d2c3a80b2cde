"""A client that follows a stream, without a network in between."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from tests.api.conftest import Api


class Listener:
    """One stream: what has come of it so far; with `open` closed, it takes nothing more."""

    def __init__(self, api: Api, token: str, last_id: str | None = None, **query: Any) -> None:
        headers = [(b"authorization", f"Bearer {token}".encode())]
        if last_id is not None:
            headers.append((b"last-event-id", last_id.encode()))
        self.scope = {
            "type": "http",
            "method": "GET",
            "path": "/api/v1/activity/stream",
            "raw_path": b"/api/v1/activity/stream",
            "root_path": "",
            "query_string": urlencode(query, doseq=True).encode(),
            "headers": headers,
            "client": ("127.0.0.1", 1),
            "server": ("tickbird.test", 80),
            "scheme": "http",
            "http_version": "1.1",
        }
        self.api = api
        self.status = 0
        self.headers: dict[str, str] = {}
        self.text = ""
        self.ended = False
        self.last_id: str | None = last_id
        self.open = asyncio.Event()
        self.open.set()
        self._gone = asyncio.Event()
        self._more = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Listener:
        self._task = asyncio.create_task(self.api.app(self.scope, self._receive, self._send))
        await self.until(lambda: self.status and ("id: " in self.text or self.ended))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._gone.set()
        assert self._task is not None
        await self._task

    async def _receive(self) -> Any:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        await self.open.wait()
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self.text += message["body"].decode()
            self.ended = not message.get("more_body", False)
        self._more.set()

    async def until(self, condition: Callable[[], Any]) -> None:
        """Wait until what has come fulfils a condition."""
        async with asyncio.timeout(60):
            while not condition():
                self._more.clear()
                await self._more.wait()

    def blocks(self) -> list[dict[str, str]]:
        """All blocks: fields by name."""
        found = []
        for block in self.text.split("\n\n")[:-1]:
            lines = [line.partition(": ") for line in block.splitlines()]
            found.append({name: value for name, _, value in lines if name})
        return found

    @property
    def id(self) -> str:
        """What a browser would come back with."""
        return [block["id"] for block in self.blocks() if "id" in block][-1]

    @property
    def events(self) -> list[tuple[str, Any]]:
        """Kind and data of each event."""
        return [(block["event"], json.loads(block["data"])) for block in self.blocks() if "event" in block]

    @property
    def kinds(self) -> list[str]:
        """The kinds of all events."""
        return [kind for kind, _ in self.events]

    async def hears(self, *kinds: str) -> list[tuple[str, Any]]:
        """Wait for so many events of these kinds."""
        await self.until(lambda: not Counter(kinds) - Counter(self.kinds))
        return self.events
