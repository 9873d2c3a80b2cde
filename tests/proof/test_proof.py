"""`doctor --prove`: it proves, it detects faulty code, and it removes everything, however it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing.util import get_temp_dir
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.cli.conftest import Cli
from tests.proof import wrong_worker
from tickbird.client import StoreClient
from tickbird.domain.errors import StoreError
from tickbird.domain.triggers.every import every
from tickbird.domain.workers import Worker
from tickbird.proof import Proof, drop_leftovers
from tickbird.proof.fleet import Fleet, Member
from tickbird.proof.report import Lateness
from tickbird.proof.worker import Setup
from tickbird.store.shared.temp_stores import new_name
from tickbird.stores import find_temp_stores, open_store

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """The folder for journals of proofs; outside of `tmp_path`."""
    # That of this process, which starts workers for other tests too, stays elsewhere.
    get_temp_dir()
    # Not within the test's own folder: it has sockets, whose paths must be short.
    with tempfile.TemporaryDirectory(prefix="tickbird-") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)


def make_store(kind: str, request: pytest.FixtureRequest, folder: Path) -> str:
    """The user's store, which is there and has a schedule."""
    address = f"sqlite:///{folder}/birds.db" if kind == "sqlite" else str(request.getfixturevalue("postgres_url"))
    asyncio.run(_make(address))
    return address


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A proof on each store."""
    return make_store(request.param, request, tmp_path)


async def _make(url: str) -> None:
    store = open_store(url)
    await store.migrate()
    await store.open()
    await StoreClient(store).schedules.create("mine", every(hours=1), "work", actor="ada", unknown_task_ok=True)
    await store.close()


def left(url: str) -> list[str]:
    """The scratch stores that are there."""
    return list(asyncio.run(find_temp_stores(url).left()))


def until(condition: Callable[[], Any], seconds: float = 60.0) -> Any:
    """Wait until the condition is true, and return its value."""
    ends = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < ends, f"not so after {seconds:.0f} s"
        time.sleep(0.1)
    return value


@pytest.mark.timeout(300)
def test_it_proves_and_leaves_nothing(url: str, temporary: Path) -> None:
    proof = Proof(url, seconds=3.0, processes=3, seed=4, copies=1, lease=1.5)
    events: list[str] = []
    proof.on_progress = lambda _done, text: events.append(text) if text else None
    report = asyncio.run(proof.run())
    data = report.to_json()
    assert report.proven, data
    assert data["violations"] == []
    assert data["ticks"]["expected"] == data["ticks"]["run"] + sum(data["ticks"]["skipped"].values()) > 50
    assert 0 <= data["lateness"]["median"] <= data["lateness"]["worst"]
    assert data["leftovers"] == ""
    assert data["wrong_clocks"] == ([] if url.startswith("sqlite") else [6.0, -6.0])
    assert events[0] == "starting workers"
    assert (left(url), list(temporary.iterdir())) == ([], [])


@pytest.mark.timeout(300)
def test_it_proves_leader_mode(url: str, temporary: Path) -> None:
    report = asyncio.run(Proof(url, seconds=4.0, processes=3, seed=4, copies=1, lease=1.5, coordination="leader").run())
    data = report.to_json()
    assert report.proven, data
    assert data["terms"] >= 1


class Wrong(Proof):
    """A proof of workers with bugs."""

    def start_worker(self, fleet: Fleet, slot: int) -> Member:
        """Start a proof."""
        return fleet.fork(wrong_worker.run_worker, Setup(url=self.url, folder=str(fleet.folder), lease=1.5))


@pytest.mark.timeout(300)
def test_it_finds_ticks_that_are_fired_twice_and_ticks_that_are_dropped(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/birds.db"
    proof = Wrong(url, seconds=1.0, processes=1, seed=1, copies=1, lease=1.5)
    report = asyncio.run(proof.run())
    texts = [violation.text for violation in report.verdict.violations]
    assert not report.proven
    assert any("was executed twice" in text for text in texts)
    assert report.verdict.lost
    assert any("has no decision" in text for text in texts)


def _start(url: str, *args: str) -> subprocess.Popen[str]:
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    return subprocess.Popen(
        [sys.executable, "-m", "tickbird", "doctor", "--prove", "--processes", "2", *args],
        env={**os.environ, "TICKBIRD_URL": url, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


async def _pids(url: str) -> list[int]:
    store = open_store(url)
    try:
        await store.open()
        return [worker.pid for worker in await store.workers.list("default")]
    except StoreError:
        return []
    finally:
        await store.close()


def _is_there(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    # A process that has ended and was not reaped yet.
    return state != "Z"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind,how", [("sqlite", signal.SIGINT), ("postgres", signal.SIGKILL)])
def test_an_interrupted_proof_leaves_nothing(
    request: pytest.FixtureRequest, tmp_path: Path, temporary: Path, kind: str, how: signal.Signals
) -> None:
    url = make_store(kind, request, tmp_path)
    process = _start(url, "--minutes", "5")
    [scratch] = until(lambda: left(url))
    # Killed workers count as live for a while, and others replace them.
    pids = until(lambda: len(found := [*filter(_is_there, asyncio.run(_pids(scratch)))]) >= 2 and found)
    # A frozen process can do nothing.
    os.kill(pids[0], signal.SIGSTOP)
    process.send_signal(how)
    process.communicate(timeout=60)
    assert process.returncode == (130 if how == signal.SIGINT else -signal.SIGKILL)
    until(lambda: not left(url) and not list(temporary.iterdir()))
    until(lambda: not any(map(_is_there, pids)))
    names = asyncio.run(_schedules(url))
    assert names == ["mine"]


async def _schedules(url: str) -> list[str]:
    store = open_store(url)
    await store.open()
    rows = await store.schedules.list("default")
    await store.close()
    return [row.schedule.name for row in rows]


def test_leftovers_are_removed_unless_workers_are_alive(url: str, tmp_path: Path) -> None:
    async def prepare() -> list[str]:
        scratches = find_temp_stores(url)
        names = []
        for live in (False, True):
            address = scratches.address()
            await scratches.make(address)
            names.append(scratches.name(address))
            if live:
                store = open_store(address)
                await store.open()
                worker = Worker(id="w", namespace="default", app="app", host="h", pid=1, version="0")
                await store.workers.heartbeat(worker, 600)
                await store.close()
        return names

    dead, alive = asyncio.run(prepare())
    cli = Cli(url, tmp_path)
    assert (
        cli.ok("doctor", "--prove", "--clean").out == f"dropped {dead}\nkept {alive}, because its workers are alive\n"
    )
    assert cli.ok("doctor", "--prove", "--clean", "--json").json == {"dropped": [], "kept": [alive]}
    [address] = left(url)
    asyncio.run(find_temp_stores(url).drop(address))
    asyncio.run(find_temp_stores(url).drop(address))
    assert cli.ok("doctor", "--prove", "--clean").out == "There is nothing to remove.\n"
    assert asyncio.run(_schedules(url)) == ["mine"]
    assert asyncio.run(drop_leftovers(url)) == ([], [])


def test_users_of_a_temporary_store_can_be_disturbed(url: str) -> None:
    async def work() -> str:
        scratches = find_temp_stores(url)
        address = scratches.address()
        await scratches.make(address)
        store, mine = open_store(address), open_store(url)
        await store.open()
        await mine.open()
        try:
            done = await scratches.disturb(address)
            # They reconnect by themselves.
            assert await store.schedules.list("default") == []
            assert len(await mine.schedules.list("default")) == 1
        finally:
            await store.close()
            await mine.close()
            await scratches.drop(address)
        return done

    assert asyncio.run(work()) == ("file locked" if url.startswith("sqlite") else "connections closed")


def test_only_scratch_stores_are_ever_dropped(url: str) -> None:
    scratches = find_temp_stores(url)
    for other in (url, url.replace("birds.db", "tickbird_proof_x.db"), f"{url}?schema=tickbird_proof_12"):
        with pytest.raises(StoreError, match=r"is not a temporary store, so it was not dropped"):
            asyncio.run(scratches.drop(other))
        with pytest.raises(StoreError, match="is not a temporary store"):
            asyncio.run(scratches.make(other))
    assert asyncio.run(_schedules(url)) == ["mine"]
    assert new_name() != new_name()


def test_a_role_without_create_permission_gets_a_clear_error(postgres_url: str, tmp_path: Path) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS modest")
        admin.execute("CREATE ROLE modest LOGIN")
        try:
            cli = Cli(postgres_url.replace("postgres@", "modest@"), tmp_path)
            said = cli("doctor", "--prove", "--minutes", "0.05", "--json")
            assert said.code == 5
            assert said.json["error"]["exit_code"] == 5
            assert "the role 'modest' may not create a schema in the database" in said.err
            assert 'GRANT CREATE ON DATABASE "' in said.err
        finally:
            admin.execute("DROP ROLE modest")


def test_wrong_usage(tmp_path: Path) -> None:
    cli = Cli(f"sqlite:///{tmp_path}/none.db", tmp_path)
    for option in (["--clean"], ["--minutes", "5"], ["--processes", "2"], ["--seed", "1"]):
        assert cli.refused(2, "doctor", *option).startswith(f"{option[0]} requires --prove.")
    assert cli.refused(5, "doctor", "--prove").startswith("there is no database file")
    for minutes in ("0", "nan", "inf"):
        assert "--minutes" in cli.refused(2, "doctor", "--prove", "--minutes", minutes)
    memory = Cli("sqlite://:memory:", tmp_path)
    assert memory.refused(5, "doctor", "--prove").startswith("this store is in memory")


def test_lateness_is_of_runs_on_time_that_started_once() -> None:
    assert Lateness.of([]) == Lateness()
