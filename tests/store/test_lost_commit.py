"""The connection breaks at COMMIT, before or after the server hears of it: what was enqueued is there once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit, urlunsplit

import pytest

from tickbird.domain.definition import Target
from tickbird.domain.runs import NewRun
from tickbird.store.postgres import PostgresStore

COMMIT = b"COMMIT\0"


class Wire:
    """Carries bytes between client and server; armed, it breaks at the next COMMIT."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        # "unheard" keeps the COMMIT from the server, "unanswered" keeps the answer from the client.
        self.armed: str | None = None
        self.broken = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_server = await asyncio.open_connection(self._host, self._port)
        answers = asyncio.create_task(self._pass_on(to_server[0], writer))
        try:
            while data := await reader.read(65_536):
                if self.armed is not None and COMMIT in data:
                    how, self.armed = self.armed, None
                    self.broken += 1
                    answers.cancel()
                    if how == "unanswered":
                        to_server[1].write(data)
                        await to_server[0].read(65_536)
                    break
                to_server[1].write(data)
        finally:
            answers.cancel()
            for end in (writer, to_server[1]):
                end.close()
                with suppress(OSError):
                    await end.wait_closed()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
        writer.close()


@pytest.fixture
async def wire(postgres_url: str) -> AsyncIterator[tuple[Wire, str]]:
    """A wire to a fresh database, and the address at its near end."""
    parts = urlsplit(postgres_url)
    async with Wire(parts.hostname or "127.0.0.1", parts.port or 5432) as wire:
        user = parts.netloc.rpartition("@")[0]
        yield (
            wire,
            urlunsplit(parts._replace(netloc=f"{user}@127.0.0.1:{wire.port}" if user else f"127.0.0.1:{wire.port}")),
        )


@pytest.mark.parametrize("how", ["unheard", "unanswered"])
@pytest.mark.parametrize("key", [None, "order-17"])
async def test_what_is_enqueued_is_there_once(wire: tuple[Wire, str], how: str, key: str | None) -> None:
    line, url = wire
    store = PostgresStore(url)
    await store.migrate()
    await store.open()
    try:
        new = [NewRun(Target("work"), {"n": 1}), NewRun(Target("work"), {"n": 2}, idempotency_key=key)]
        line.armed = how
        ids = await store.enqueue("default", new, "ada")
        assert line.broken == 1
        found = await store.list_runs("default")
        assert [run.id for run in found] == sorted(ids, reverse=True)
        assert {run.payload["n"] for run in found} == {1, 2}
    finally:
        await store.close()
