"""A Django project for real: manage.py in processes of its own, a worker, and both databases."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.cli.commands.system.test_worker import Log
from tickbird import StoreError
from tickbird.client import StoreClient
from tickbird.django.stores import store_url
from tickbird.domain.runs.run import RunRecord
from tickbird.store.postgres import PostgresStore
from tickbird.stores import open_store

PROJECT = Path(__file__).parent


class Project:
    """The shop on a database."""

    def __init__(self, database: dict[str, Any]) -> None:
        self.database = database
        self.url = store_url(database)
        self.env = {**os.environ, "SHOP_DATABASE": json.dumps(database), "PYTHONUNBUFFERED": "1"}
        self.env.pop("TICKBIRD_URL", None)

    def start(self, *words: str, **env: str) -> subprocess.Popen[str]:
        """manage.py in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "manage.py", *words],
            cwd=PROJECT,
            env={**self.env, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def manage(self, *words: str, code: int = 0, **env: str) -> str:
        """The output of a command; its errors if it must fail."""
        process = self.start(*words, **env)
        out, err = process.communicate(timeout=60)
        assert process.returncode == code, (out, err)
        return out if code == 0 else err

    @contextmanager
    def worker(self) -> Iterator[None]:
        """A worker that has started."""
        process = self.start("tickbird", "worker")
        log = Log(process)
        try:
            log.wait_for(": worker ")
            yield
        finally:
            process.terminate()
            assert process.wait(60) == 0, log.end()
            log.end()
            for pipe in (process.stdout, process.stderr):
                assert pipe is not None
                pipe.close()

    async def ended(self, run: int | str) -> RunRecord:
        """Wait for the end of a run by its id, or of a new run of a task without arguments."""
        store = open_store(self.url)
        await store.open()
        try:
            client = StoreClient(store)
            run_id = run if isinstance(run, int) else await client.runs.enqueue(run, actor="test")
            return await client.runs.wait(run_id, timeout=60)
        finally:
            await store.close()

    def runs(self) -> list[dict[str, Any]]:
        """As manage.py shows them."""
        found: list[dict[str, Any]] = json.loads(self.manage("tickbird", "runs", "--json"))["runs"]
        return found


@pytest.fixture(params=["sqlite", "postgres"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    """The shop on a database in which both Django and Tickbird have their tables."""
    if request.param == "sqlite":
        database: dict[str, Any] = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(tmp_path / "shop.sqlite3")}
    else:
        parts = urlsplit(request.getfixturevalue("postgres_url"))
        database = {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": parts.path[1:],
            "USER": parts.username or "",
            "PASSWORD": parts.password or "",
            "HOST": parts.hostname,
            "PORT": parts.port,
        }
    found = Project(database)
    assert "is up to date" in found.manage("prepare")
    return found


@pytest.fixture
def small(tmp_path: Path) -> Project:
    """The shop on a file in which only Django has its tables."""
    project = Project({"ENGINE": "django.db.backends.sqlite3", "NAME": str(tmp_path / "shop.sqlite3")})
    project.manage("migrate", "--run-syncdb", "--verbosity", "0")
    return project


async def test_a_rollback_leaves_nothing_and_a_commit_is_shipped(project: Project) -> None:
    assert "the card was refused" in project.manage("order", "1", "--fail", code=1)
    assert project.runs() == []
    with project.worker():
        run_id = int(project.manage("order", "2"))
        run = await project.ended(run_id)
        assert (run.status, run.result, run.actor) == ("succeeded", 1, "shop")
        # Outside of atomic() it commits at once.
        assert "the card was refused" in project.manage("order", "3", "--plainly", "--fail", code=1)
        late = max(each["id"] for each in project.runs())
        assert (await project.ended(late)).result == 1
        # In a process of its own, which has to find the project by itself.
        counted = await project.ended("count_shipped")
        assert (counted.status, counted.result) == ("succeeded", 2), counted.error
        assert "tidy_up" in project.manage("tickbird", "ls")
    assert [each["payload"] for each in project.runs()] == [{}, {"order": 3}, {"order": 2}]


async def test_a_run_is_finished_in_a_transaction_of_its_task(project: Project) -> None:
    store = open_store(project.url)
    await store.open()
    client = StoreClient(store)
    with project.worker():
        ways = ("block", "atomic", "plainly", "nested", "raised")
        runs = {
            way: await project.ended(await client.runs.enqueue("close", {"order": number, "way": way}, actor="test"))
            for number, way in enumerate(ways)
        }
        shown = {way: (run.status, run.result) for way, run in runs.items()}
        failed = ("failed", None)
        assert shown["block"] == ("succeeded", "block"), runs["block"].error
        assert shown["atomic"] == ("succeeded", "atomic"), runs["atomic"].error
        assert [shown[way] for way in ways[2:]] == [failed] * 3
        assert "commits each statement" in str(runs["plainly"].error)
        assert "in a transaction already" in str(runs["nested"].error)
        assert "ValueError: raised" in str(runs["raised"].error)
        # The rows of the first two.
        assert (await project.ended(await client.runs.enqueue("ship", {"order": 0}, actor="test"))).result == 1
        assert (await project.ended(await client.runs.enqueue("ship", {"order": 1}, actor="test"))).result == 1
        assert (await project.ended(await client.runs.enqueue("ship", {"order": 4}, actor="test"))).result == 0
    await store.close()


def test_manage_py_hands_everything_on(small: Project) -> None:
    assert "has no Tickbird schema" in small.manage("order", "1", code=1)
    assert "is up to date" in small.manage("tickbird", "migrate")
    # In debug mode, Django inspects every statement.
    small.manage("order", "5", SHOP_DEBUG="1")
    assert [each["payload"] for each in small.runs()] == [{"order": 5}]
    small.manage("tickbird", "sync")
    assert "tidy_up" in small.manage("tickbird", "ls", "--settings", "project.settings")
    elsewhere = small.manage("tickbird", "show", "tidy_up", code=3, SHOP_TICKBIRD='{"NAMESPACE": "north"}')
    assert "there is no schedule 'tidy_up'" in elsewhere


def test_invalid_settings_are_refused(small: Project) -> None:
    said = small.manage("tickbird", "ls", code=1, SHOP_TICKBIRD='{"URI": "x"}')
    assert (
        "TICKBIRD has unknown keys: URI. Allowed keys: DATABASE, URL, APP, NAMESPACE, COORDINATION, LEADER_TIMEOUT."
        in said
    )


@pytest.mark.parametrize(
    "database,url",
    [
        ({"ENGINE": "django.db.backends.sqlite3", "NAME": "/var/db.sqlite3"}, "sqlite:////var/db.sqlite3?shared=1"),
        ({"ENGINE": "django.db.backends.postgresql", "NAME": "shop"}, "postgresql:///shop"),
        (
            {
                "ENGINE": "django.contrib.gis.db.backends.postgis",
                "NAME": "shop",
                "USER": "ada@x",
                "PASSWORD": "p/w:d",
                "HOST": "db.internal",
                "PORT": "5433",
                "OPTIONS": {"sslmode": "require", "pool": True, "isolation_level": 3},
            },
            "postgresql://ada%40x:p%2Fw%3Ad@db.internal:5433/shop?sslmode=require",
        ),
        (
            {"ENGINE": "django.db.backends.postgresql", "NAME": "a b", "HOST": "/run/pg", "PORT": 5433, "USER": "u"},
            "postgresql://u@/a%20b?host=%2Frun%2Fpg&port=5433",
        ),
    ],
)
def test_the_stores_address_is_the_databases(database: dict[str, Any], url: str) -> None:
    assert store_url(database) == url
    if url.startswith("postgresql"):
        assert psycopg.conninfo.conninfo_to_dict(url)["dbname"] == database["NAME"]
        assert database["NAME"].replace(" ", "%20") in PostgresStore(url).url


@pytest.mark.parametrize(
    "database,says",
    [
        (
            {"ENGINE": "django.db.backends.mysql", "NAME": "x"},
            "has no store in django.db.backends.mysql. Choose another",
        ),
        ({"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}, "in memory, so no worker can reach it"),
    ],
)
def test_a_database_that_cannot_be_a_store(database: dict[str, Any], says: str) -> None:
    with pytest.raises(StoreError, match=says):
        store_url(database)
