"""The bare SQL claimers: a program without policies, ledger or triggers on the same connections."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import datetime
from typing import Any, Final

import psycopg

from tickbird.store.postgres.database.connection import Connections
from tickbird.store.shared.sql import load_statements

Connection = psycopg.AsyncConnection[tuple[Any, ...]]
Claim = Callable[[Connection, int, datetime], Awaitable[int]]

STATEMENTS: Final = {name: text.encode() for name, text in load_statements("bench", "bare").items()}


async def connect(url: str) -> Connection:
    """A connection with Tickbird's settings."""
    return await psycopg.AsyncConnection.connect(Connections(url, 1).conninfo, autocommit=True)


async def claim_narrow(connection: Connection, limit: int, now: datetime) -> int:
    """One statement, in its own narrow tables."""
    done = await connection.execute(STATEMENTS["claim_narrow"], {"limit": limit, "now": now}, prepare=True)
    return done.rowcount


async def claim_same(connection: Connection, limit: int, now: datetime) -> int:
    """One statement, in Tickbird's tables."""
    done = await connection.execute(STATEMENTS["claim_same"], {"limit": limit, "now": now}, prepare=True)
    return done.rowcount


async def claim_split(connection: Connection, limit: int, now: datetime) -> int:
    """Lock, compute in Python, write: the same rows that Tickbird writes, in its tables."""
    async with connection.transaction():
        cursor = await connection.execute(
            STATEMENTS["split_lock"], {"limit": limit, "now": now}, prepare=True, binary=True
        )
        rows = await cursor.fetchall()
        if not rows:
            return 0
        values = {
            "ids": _array([row[0] for row in rows]),
            "ticks": _array([row[1] for row in rows]),
            "next": _array([row[1] + 60 for row in rows]),
            "planned": _array([row[2] + 1 for row in rows]),
            "now": now,
        }
        await connection.execute(STATEMENTS["split_write"], values, prepare=True)
    return len(rows)


def _array(values: list[int]) -> str:
    return "{" + ",".join(map(str, values)) + "}"


CLAIMS: Final[dict[str, Claim]] = {
    "bare, one statement": claim_narrow,
    "bare, one statement, same tables": claim_same,
    "bare, split, same tables": claim_split,
}


class Claimers:
    """Connections that stay open between rounds."""

    def __init__(self, url: str, maximum: int) -> None:
        self._url = url
        self._maximum = maximum
        self._stack = AsyncExitStack()
        self.connections: list[Connection] = []

    async def __aenter__(self) -> Claimers:
        for _ in range(self._maximum):
            connection = await connect(self._url)
            self._stack.push_async_callback(connection.close)
            self.connections.append(connection)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def claim_all(self, claim: Claim, count: int, limit: int, now: datetime) -> tuple[int, float]:
        """Claim on this number of connections until nothing is left; returns the number of claims, and the seconds."""

        async def until_empty(connection: Connection) -> int:
            total = 0
            while claimed := await claim(connection, limit, now):
                total += claimed
            return total

        began = time.perf_counter()
        totals = await asyncio.gather(*map(until_empty, self.connections[:count]))
        return sum(totals), time.perf_counter() - began
