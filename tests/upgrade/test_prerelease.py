"""Stores of pre-releases have another schema: they are detected before any version is compared, and not changed."""

from __future__ import annotations

import gzip
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from lab.servers import postgres_programs
from tests.upgrade.codes import current

PRERELEASE = Path(__file__).parent / "prerelease"
SENTENCE = (
    "the store was created by a pre-release of Tickbird. It was not changed. Run `tickbird export --all` with that"
    " version, then `tickbird apply` the file with this one, to a new store."
)


REFUSED = (
    ["ls"],
    ["migrate"],
    ["worker", "upgrade_app:bird"],
    ["dev", "upgrade_app:bird", "--no-server"],
    ["export", "--all"],
    ["doctor", "--prove", "--minutes", "0.02"],
)


def read(name: str) -> str:
    return gzip.decompress((PRERELEASE / f"{name}.sql.gz").read_bytes()).decode()


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store that a pre-release has filled."""
    if request.param == "sqlite":
        file = tmp_path / "tickbird.db"
        with closing(sqlite3.connect(file)) as db:
            db.executescript(read("sqlite"))
        return f"sqlite:///{file}"
    address: str = request.getfixturevalue("postgres_url")
    with psycopg.connect(address) as connection:
        connection.execute(read("postgres").encode())
    return address


def content(url: str) -> str:
    """All that a store holds."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as db:
            return "\n".join(db.iterdump())
    dump = subprocess.run([postgres_programs() / "pg_dump", "-d", url], capture_output=True, text=True, check=True)
    # A current dump has a line with a random token.
    return "\n".join(line for line in dump.stdout.splitlines() if "restrict" not in line)


def files(url: str) -> dict[str, bytes]:
    """The bytes of a SQLite store, and of its side files."""
    if not url.startswith("sqlite"):
        return {}
    return {file.name: file.read_bytes() for file in Path(url.removeprefix("sqlite:///")).parent.glob("tickbird.db*")}


@pytest.mark.parametrize("version", [None, "1", "999"])
def test_a_prerelease_store_is_refused_and_not_changed(url: str, version: str | None) -> None:
    if version is not None:
        # Whatever version it states.
        statement = f"UPDATE {{}}meta SET value = '{version}' WHERE key IN ('version', 'min_compatible')"
        if url.startswith("sqlite"):
            with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as db, db:
                db.execute(statement.format(""))
        else:
            with psycopg.connect(url) as connection:
                connection.execute(statement.format("tickbird.").encode())
    before, stored = content(url), files(url)
    for words in REFUSED:
        done = current().tickbird(url, *words)
        assert (done.returncode, done.stdout) == (5, ""), done.stderr
        assert done.stderr.strip().endswith(SENTENCE)
    checks = json.loads(current().tickbird(url, "doctor", "--json").stdout)["checks"]
    [found] = [check for check in checks if check["check"] == "schema"]
    assert found["text"] == "The store was created by a pre-release of Tickbird. It was not changed."
    assert found["fix"].startswith("Run `tickbird export --all` with that version")
    assert files(url) == stored
    assert content(url) == before


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_its_file_stays_the_same_byte_by_byte(tmp_path: Path, mode: str) -> None:
    file = tmp_path / "tickbird.db"
    with closing(sqlite3.connect(file)) as db:
        db.execute(f"PRAGMA journal_mode = {mode}")
        db.executescript(read("sqlite"))
    url = f"sqlite:///{file}"
    stored = files(url)
    assert list(stored) == ["tickbird.db"]
    for words in (["ls"], ["migrate"], ["doctor"], ["server"], ["ls", "--url", f"{url}?shared=1"]):
        done = current().tickbird(url, *words)
        assert "created by a pre-release" in done.stdout.lower() + done.stderr, done.stdout + done.stderr
        assert files(url) == stored, words


def test_an_export_is_applied_to_a_new_store(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/new.db"
    current().ok(url, "migrate")
    current().ok(url, "apply", "--file", str(PRERELEASE / "export.toml"))
    schedules = json.loads(current().ok(url, "ls", "--json"))["schedules"]
    assert "berlin" in {schedule["name"] for schedule in schedules}
    assert len(schedules) > 10


def test_an_app_adopts_the_schedules_of_its_code(tmp_path: Path) -> None:
    """The file of a pre-release names no owners."""
    url = f"sqlite:///{tmp_path}/new.db"
    current().ok(url, "migrate")
    current().ok(url, "apply", "--file", str(PRERELEASE / "export.toml"))
    (tmp_path / "prerelease_app.py").write_text(
        "from tickbird import Tickbird, every\n"
        "bird = Tickbird(app='shop')\n"
        "@bird.task(name='coded')\n"
        "def coded() -> None: ...\n"
        "bird.schedule('declared', coded, every(hours=2), retries=2)\n"
    )

    def tickbird(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tickbird", *words, "--url", url]
        environment = current().environment()
        environment["PYTHONPATH"] += f":{tmp_path}"
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    refused = tickbird("worker", "prerelease_app:bird")
    assert refused.returncode == 4
    assert "take it over with `tickbird sync --adopt`" in refused.stderr
    assert tickbird("sync", "--adopt", "prerelease_app:bird").stdout == "declared: changed\n"
    assert tickbird("sync", "prerelease_app:bird").stdout.startswith("Nothing to change")
