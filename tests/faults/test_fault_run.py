"""Short fault runs, judged by the checker: `./dev faults` in small."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lab.faults.__main__ import to_json
from lab.faults.fault_plan import make_plan
from lab.faults.fault_run import FaultRun
from lab.servers import PostgresServer

SECONDS = 10.0 * int(os.environ.get("TICKBIRD_FUZZ", "1"))


async def _play(fault_run: FaultRun) -> None:
    report = await fault_run.run()
    data = to_json(report)
    assert report.verdict.clean, f"seed {report.seed}: {data['violations']}, after {data['log']}"
    assert report.verdict.run > 50
    assert report.verdict.expected == report.verdict.run + sum(report.verdict.skipped.values())


@pytest.mark.timeout(600)
async def test_faults_on_one_file(tmp_path: Path) -> None:
    await _play(FaultRun(f"sqlite:///{tmp_path}/tickbird.db", tmp_path, 11, SECONDS))


@pytest.mark.timeout(600)
async def test_faults_on_an_older_server(tmp_path: Path, debian_postgres: int) -> None:
    with PostgresServer(debian_postgres, fsync=True) as server:
        await _play(FaultRun(server.create_database(), tmp_path, 7, SECONDS, server=server))


@pytest.mark.timeout(600)
async def test_faults_on_one_file_in_leader_mode(tmp_path: Path) -> None:
    await _play(FaultRun(f"sqlite:///{tmp_path}/tickbird.db", tmp_path, 12, SECONDS, coordination="leader"))


@pytest.mark.timeout(600)
async def test_faults_on_an_older_server_in_leader_mode(tmp_path: Path, debian_postgres: int) -> None:
    with PostgresServer(debian_postgres, fsync=True) as server:
        url = server.create_database()
        await _play(FaultRun(url, tmp_path, 8, SECONDS, server=server, coordination="leader"))


def test_a_seed_is_a_plan() -> None:
    plan = make_plan(5, 600.0, slots=4, on_file=False)
    assert plan == make_plan(5, 600.0, slots=4, on_file=False)
    assert plan != make_plan(6, 600.0, slots=4, on_file=False)
    assert len({fault.kind for fault in plan}) >= 14
    assert "server restart" not in {fault.kind for fault in make_plan(5, 600.0, slots=4, on_file=True)}
