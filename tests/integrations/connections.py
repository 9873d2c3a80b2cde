"""Every kind of connection that a caller may pass."""

from __future__ import annotations

import inspect
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from typing import Any

import psycopg
import sqlalchemy
from psycopg.rows import dict_row
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session, scoped_session, sessionmaker

Opened = AsyncIterator[Any]


@asynccontextmanager
async def psycopg_sync(url: str) -> Opened:
    # Rows of another kind than Tickbird's own must not matter.
    with psycopg.connect(url, row_factory=dict_row) as connection:
        yield connection


@asynccontextmanager
async def psycopg_async(url: str) -> Opened:
    async with await psycopg.AsyncConnection.connect(url, row_factory=dict_row) as connection:
        yield connection


@asynccontextmanager
async def plain_sqlite3(url: str) -> Opened:
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        connection.row_factory = sqlite3.Row
        yield connection


def blocking(driver: str, kind: str) -> Callable[[str], Any]:
    @asynccontextmanager
    async def opened(url: str) -> Opened:
        engine = sqlalchemy.create_engine(_driven(url, driver))
        try:
            if kind == "connection":
                with engine.connect() as connection:
                    yield connection
            elif kind == "session":
                with Session(engine) as session:
                    yield session
            else:
                scoped = scoped_session(sessionmaker(engine))
                yield scoped
                scoped.remove()
        finally:
            engine.dispose()

    return opened


def awaited(driver: str, kind: str) -> Callable[[str], Any]:
    @asynccontextmanager
    async def opened(url: str) -> Opened:
        engine = create_async_engine(_driven(url, driver))
        try:
            if kind == "connection":
                async with engine.connect() as connection:
                    yield connection
            else:
                async with AsyncSession(engine) as session:
                    yield session
        finally:
            await engine.dispose()

    return opened


def _driven(url: str, driver: str) -> str:
    return url.replace("postgresql://", f"postgresql+{driver}://").replace("sqlite://", f"sqlite+{driver}://")


POSTGRES = {
    "psycopg": psycopg_sync,
    "psycopg-async": psycopg_async,
    "sqlalchemy": blocking("psycopg", "connection"),
    "sqlalchemy-session": blocking("psycopg", "session"),
    "sqlalchemy-async": awaited("psycopg", "connection"),
    "sqlalchemy-async-session": awaited("psycopg", "session"),
    "sqlalchemy-asyncpg": awaited("asyncpg", "session"),
}
SQLITE = {
    "sqlite3": plain_sqlite3,
    "sqlalchemy": blocking("pysqlite", "connection"),
    "sqlalchemy-session": blocking("pysqlite", "session"),
    "sqlalchemy-scoped": blocking("pysqlite", "scoped"),
    "sqlalchemy-async": awaited("aiosqlite", "connection"),
    "sqlalchemy-async-session": awaited("aiosqlite", "session"),
}
KINDS = [("postgres", name) for name in POSTGRES] + [("sqlite", name) for name in SQLITE]


async def done(answer: Any) -> Any:
    """The result, awaited if the connection is async."""
    return await answer if inspect.isawaitable(answer) else answer
