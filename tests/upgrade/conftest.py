"""Stores as the previous version left them, and workers of several versions."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from tests.upgrade.codes import PREVIOUS, Code, current, following, previous
from tests.upgrade.ledgers import notes


@pytest.fixture(scope="session")
def codes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Code]:
    """The versions: the previous one, this one, and two possible next ones."""
    make = tmp_path_factory.mktemp
    return {
        "previous": previous(make("previous")),
        "current": current(),
        "added": following(make("added"), raised=False),
        "raised": following(make("raised"), raised=True),
    }


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store that the previous version has filled."""
    if request.param == "sqlite":
        file = tmp_path / "tickbird.db"
        with closing(sqlite3.connect(file)) as db:
            db.executescript((PREVIOUS / "sqlite.sql").read_text())
        return f"sqlite:///{file}"
    address: str = request.getfixturevalue("postgres_url")
    with psycopg.connect(address) as connection:
        connection.execute((PREVIOUS / "postgres.sql").read_bytes())
    return address


class Workers:
    """Worker processes of several versions; none outlives its test."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, code: Code) -> subprocess.Popen[bytes]:
        """Start another worker of a version."""
        environment = code.environment(
            TICKBIRD_URL=self.url, UPGRADE_FOLDER=str(self.folder), UPGRADE_CODE=code.name, PYTHONUNBUFFERED="1"
        )
        with self.log_of(len(self.processes)).open("wb") as log:
            command = [sys.executable, "-m", "tickbird", "worker", "upgrade_app:bird"]
            process = subprocess.Popen(command, cwd=code.path, env=environment, stderr=log, stdin=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def log_of(self, number: int) -> Path:
        """The output of the worker with this index."""
        return self.folder / f"{number}.log"

    def said(self, process: subprocess.Popen[bytes]) -> str:
        """The output of a worker."""
        return self.log_of(self.processes.index(process)).read_text()

    def ran(self, code: Code) -> int:
        """How many runs workers of a version have executed."""
        return sum(note["code"] == code.name for note in notes(self.folder))

    def end(self, *processes: subprocess.Popen[bytes]) -> None:
        """Drain them."""
        for process in processes:
            process.send_signal(signal.SIGTERM)
        for process in processes:
            assert process.wait(60) == 0, self.said(process)

    def kill_all(self) -> None:
        """End all remaining processes."""
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def workers(url: str, tmp_path: Path) -> Iterator[Workers]:
    """Killed in the end."""
    folder = tmp_path / "workers"
    folder.mkdir()
    found = Workers(url, folder)
    yield found
    found.kill_all()
