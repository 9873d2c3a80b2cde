"""Samples: processes through /proc, the store through its own statistics."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

import psycopg

from bench.soak.series import Series
from tickbird.store.shared.sql import load_statements

STATEMENTS: Final = load_statements("bench.soak", "samples")
Values = Mapping[tuple[str, str], float]
MB: Final = 1e6


class Samples:
    """Every series of a soak, by kind and name."""

    def __init__(self) -> None:
        self._series: dict[tuple[str, str], Series] = {}

    def add(self, at: float, values: Values) -> None:
        """Add one sample of each series."""
        for key, value in values.items():
            self._series.setdefault(key, Series(*key)).add(at, value)

    @property
    def series(self) -> list[Series]:
        """In the order in which they first appeared."""
        return list(self._series.values())


def of_process(pid: int, name: str) -> Values:
    """Memory, descriptors and threads of a process, and the memory of its descendants; empty if it has ended."""
    values: dict[tuple[str, str], float] = {}
    with suppress(OSError):
        values["memory", name] = _resident(pid)
        values["descriptors", name] = _entries(pid, "fd")
        values["threads", name] = _entries(pid, "task")
        children = 0.0
        for child in _descendants(pid):
            with suppress(OSError):
                children += _resident(child)
        values["memory", f"{name}'s children"] = children
    return values


def _entries(pid: int, folder: str) -> float:
    return float(sum(1 for _ in Path(f"/proc/{pid}/{folder}").iterdir()))


def _resident(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / MB


def _descendants(pid: int) -> list[int]:
    values: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):
            values += map(int, (task / "children").read_text().split())
    return values + [descendant for child in values for descendant in _descendants_or_none(child)]


def _descendants_or_none(pid: int) -> list[int]:
    try:
        return _descendants(pid)
    except OSError:
        return []


class StoreProbe(Protocol):
    """Samples a store from outside."""

    def sample(self) -> Values:
        """Its values; empty while the store cannot be reached."""
        ...


class PostgresProbe:
    """Sizes of tables and indexes, dead rows, connections."""

    def __init__(self, url: str) -> None:
        self._url = url

    def sample(self) -> Values:
        """With a new connection each time, because the server may have been restarted."""
        values: dict[tuple[str, str], float] = {}
        with suppress(psycopg.Error), psycopg.connect(self._url, connect_timeout=2, autocommit=True) as connection:
            for table, size, indexes, dead in connection.execute(STATEMENTS["tables"].encode()):
                values["table size", table] = float(size) / MB
                values["index size", table] = float(indexes) / MB
                values["dead rows", table] = float(dead)
            [(workers,)] = connection.execute(STATEMENTS["connections"].encode()).fetchall()
            values["connections", "all workers"] = float(workers)
            [(rows,)] = connection.execute(STATEMENTS["rows"].encode()).fetchall()
            values["rows", "runs"] = float(rows)
        return values


class SqliteProbe:
    """Sizes of the file and of its log."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def sample(self) -> Values:
        """Without opening the database, which would take part in its locks."""
        values: dict[tuple[str, str], float] = {}
        for name, path in (("database", self._path), ("log", self._path.with_name(f"{self._path.name}-wal"))):
            with suppress(OSError):
                values["file size", name] = path.stat().st_size / MB
        return values
