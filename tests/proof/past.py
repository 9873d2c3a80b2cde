"""The store and the journals of a small fleet after its work, to be damaged in one position at a time."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tickbird import every
from tickbird.client import StoreClient
from tickbird.domain.runs.run import FINAL
from tickbird.proof.fleet import Fleet, until
from tickbird.stores import open_store

NAMES = ("clock", "stopped", "slow")
ALL_TIME = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


class Past:
    """A folder with a store and journals, in which nothing changes any more."""

    def __init__(self, folder: Path, since: float, until: float) -> None:
        self.folder, self.since, self.until = folder, since, until
        self.url = f"sqlite:///{folder}/tickbird.db"

    def copy(self, folder: Path) -> Past:
        """A copy to be spoiled."""
        shutil.copytree(self.folder, folder)
        return Past(folder, self.since, self.until)

    def execute(self, *statements: str) -> None:
        """Change the store."""
        connection = sqlite3.connect(self.folder / "tickbird.db")
        with connection:
            for statement in statements:
                connection.execute(statement)
        connection.close()

    def first_run(self) -> int:
        """The first run of `clock`."""
        connection = sqlite3.connect(self.folder / "tickbird.db")
        [(run,)] = connection.execute(f"SELECT {FIRST_RUN}").fetchall()
        connection.close()
        return int(run)

    def rewrite(self, event: str, **values: Any) -> None:
        """Change the first entry of an event of `clock`; `drop=True` removes it, `twice=True` repeats it."""
        for path in sorted(self.folder.glob("[0-9]*.journal")):
            lines = [json.loads(line) for line in path.read_text().splitlines()]
            for index, line in enumerate(lines):
                if (line["event"], line.get("schedule")) == (event, "clock"):
                    if values.pop("drop", False):
                        lines.pop(index)
                    elif values.pop("twice", False):
                        lines.append(line)
                    line.update(values)
                    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
                    return

    def write(self, event: str, **values: Any) -> None:
        """Add an entry."""
        line = {"event": event, "pid": 1, "at": time.monotonic() - 3_600, "wall": 0.0, **values}
        with (self.folder / "fleet.journal").open("a") as file:
            file.write(json.dumps(line) + "\n")


CLOCK = "schedule_id = (SELECT id FROM schedules WHERE name = 'clock')"
FIRST_RUN = f"(SELECT min(id) FROM runs WHERE {CLOCK})"


async def _work(folder: Path) -> Past:
    url = f"sqlite:///{folder}/tickbird.db"
    store = open_store(url)
    await store.migrate()
    await store.open()
    client = StoreClient(store)
    since = (await store.now()).timestamp()
    options: dict[str, Any] = {"actor": "ada", "unknown_task_ok": True}
    for name in ("clock", "stopped"):
        # No tick is late, however slowly the worker starts.
        policies: dict[str, Any] = {"overlap": "allow", "grace": "1h"}
        await client.schedules.create(name, every(seconds=1), "succeed", payload={"edition": 7}, **policies, **options)
    slow = await client.schedules.create("slow", every(seconds=1), "sleep", payload={"seconds": 1.2}, **options)
    await client.schedules.pause("stopped", actor="ada")
    fleet = Fleet(url, folder)
    try:
        fleet.start()
        await until(lambda: len(fleet.entries("done")) >= 6)
        await client.schedules.resume("stopped", actor="ada")
        await until(lambda: set(NAMES) <= {entry.schedule for entry in fleet.entries("done")})

        async def has_overlapped() -> bool:
            skips = (await store.ledger.tick_decisions(slow.id, *ALL_TIME, limit=1_000)).skips
            return any(skip.reason == "overlap" for skip in skips)

        await until(has_overlapped)
        for name in NAMES:
            await client.schedules.pause(name, actor="ada")

        async def is_settled() -> bool:
            return all(run.status in FINAL for run in await client.runs.list(limit=1_000))

        await until(is_settled)
    finally:
        fleet.close()
    await store.close()
    return Past(folder, since, time.time())


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Past]:
    """One fixture for all tests of a file; import it there."""
    folder = tmp_path_factory.mktemp("past")
    loop = asyncio.new_event_loop()
    yield loop.run_until_complete(_work(folder))
    loop.close()
