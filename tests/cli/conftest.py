"""The command line in this process and in processes of its own, on both stores."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner

from tickbird.cli import root
from tickbird.client import Client, StoreClient
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.domain.workers import Worker
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store

APP = """
    import time

    from tickbird import Run, Tickbird, cron, every

    bird = Tickbird(app="shop")


    @bird.task(schedule=cron("0 9 * * 1-5", tz="America/New_York"), retries=3, tags=["mail"], timeout="10m")
    async def digest(run: Run, limit: int = 100) -> int:
        return limit


    @bird.task(schedule=cron("30 2 * * *", tz="Europe/Rome"), queue="gpu", grace="1h")
    def etl() -> None:
        raise ValueError("no data")
"""


@dataclass(frozen=True)
class Said:
    """What a command line answered."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


class Cli:
    """Calls the command line in this process, on one store."""

    def __init__(self, url: str | None, folder: Path) -> None:
        self.url = url
        self.folder = folder

    def __call__(self, *args: str, stdin: str | None = None, **env: str) -> Said:
        """The answer, whatever it was."""
        given = {"TICKBIRD_URL": self.url, "TICKBIRD_ACTOR": "ana", "TICKBIRD_APP": None, **env}
        result = CliRunner().invoke(root, args, input=stdin, env=given)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
        assert "Traceback" not in result.stderr
        return Said(result.exit_code, result.stdout, result.stderr)

    def ok(self, *args: str, **options: Any) -> Said:
        """The answer of a call that must work without a word on stderr."""
        said = self(*args, **options)
        assert (said.code, said.err) == (0, ""), said
        return said

    def refused(self, code: int, *args: str, **options: Any) -> str:
        """The one sentence of a call that must be refused: one line on stderr, and nothing else but for programs."""
        said = self(*args, **options)
        assert said.code == code, said
        assert said.err.count("\n") == 1
        assert said.err.startswith("tickbird: ")
        sentence = said.err.removeprefix("tickbird: ").rstrip("\n")
        if "--json" in args:
            assert (said.json["error"]["text"], said.json["error"]["exit_code"]) == (sentence, code)
        else:
            assert said.out == ""
        return sentence

    def write(self, name: str, text: str) -> None:
        """A module in the current folder."""
        (self.folder / f"{name}.py").write_text(textwrap.dedent(text))

    def store(self, work: Callable[[Client, Store], Awaitable[Any]]) -> Any:
        """What a program does beside the command line."""

        async def whole() -> Any:
            assert self.url is not None
            store = open_store(self.url)
            await store.open()
            try:
                return await work(StoreClient(store), store)
            finally:
                await store.close()

        return asyncio.run(whole())

    def create(self, name: str, **options: Any) -> None:
        """A schedule that a person made: hourly, of a task that nobody serves."""
        trigger = options.pop("trigger", None) or every(hours=1)
        given = {"actor": "ana", "unknown_task_ok": True, **options}
        self.store(lambda client, _: client.schedules.create(name, trigger, "report", **given))

    def create_yesterday(self, name: str) -> None:
        """An hourly schedule that was made a day ago and that nobody has planned since; it has 24 ticks to be decided.

        They are half an hour away from now, so that none passes while a test looks at them.
        """
        minute = (datetime.now(UTC).minute + 30) % 60
        definition = Definition(trigger=cron(f"{minute} * * * *"), target=Target("report"))
        command = Create(actor="ana", namespace="default", definition=definition)

        async def make(client: Client, store: Store) -> None:
            then = await client.system.now() - timedelta(days=1)
            await store.schedules.change("default", name, command, now=then)

        self.store(make)

    def insert(self, name: str, definition: Any) -> None:
        """A schedule by plain SQL, then planned, so that what cannot be read is parked."""
        values = ("default", name, json.dumps(definition))
        assert self.url is not None
        if self.url.startswith("sqlite"):
            db = sqlite3.connect(self.url.removeprefix("sqlite:///"))
            db.execute("INSERT INTO schedules (namespace, name, definition) VALUES (?, ?, ?)", values)
            db.commit()
            db.close()
        else:
            with psycopg.connect(self.url) as connection:
                insert = "INSERT INTO tickbird.schedules (namespace, name, definition) VALUES (%s, %s, %s)"
                connection.execute(insert, values)
        self.store(lambda _, store: store.planning.plan_due())

    def live_worker(self, tasks: dict[str, Any], queues: tuple[str, ...] = ("default",)) -> None:
        """A worker that says it is alive for an hour, longer than any test takes."""
        worker = Worker(
            id="w1", namespace="default", app="shop", host="h", pid=1, version="0", queues=queues, slots=1, tasks=tasks
        )
        self.store(lambda _, store: store.workers.heartbeat(worker, 3_600))

    def start(self, *args: str, **env: str) -> subprocess.Popen[str]:
        """A process of its own, in the same folder."""
        return subprocess.Popen(
            [sys.executable, "-m", "tickbird", *args],
            cwd=self.folder,
            env={**os.environ, "TICKBIRD_URL": self.url or "", "PYTHONUNBUFFERED": "1", **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty current folder, whose modules are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def bare(folder: Path) -> Cli:
    """The command line with no store set."""
    return Cli(None, folder)


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with Tickbird's schema and nothing in it, to be copied."""
    path = tmp_path_factory.mktemp("migrated") / "birds.db"
    asyncio.run(open_store(f"sqlite:///{path}").migrate())
    return path


@pytest.fixture(params=["sqlite", "postgres"])
def cli(request: pytest.FixtureRequest, folder: Path) -> Cli:
    """The command line on a store that was just migrated."""
    if request.param == "postgres":
        return Cli(request.getfixturevalue("migrated_url"), folder)
    shutil.copy(request.getfixturevalue("migrated_file"), folder / "birds.db")
    return Cli(f"sqlite:///{folder}/birds.db", folder)


@pytest.fixture
def shop(cli: Cli) -> Cli:
    """The same with an app, `shop:bird`, whose schedules were synced."""
    cli.write("shop", APP)
    cli.ok("sync", "shop:bird")
    return cli
