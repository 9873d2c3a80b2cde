"""A schedule that fails is as serious for `doctor` as on the Now page, however often it failed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tickbird.client import StoreClient
from tickbird.domain.doctor.snapshot import FAILING
from tickbird.domain.runs.run import Outcome
from tickbird.domain.triggers.every import every
from tickbird.domain.workers import Worker
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store
from tickbird.web.dashboard_reads import DashboardReads


@pytest.fixture(params=["sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """An empty store."""
    sqlite = request.param == "sqlite"
    opened = open_store(f"sqlite:///{tmp_path}/t.db" if sqlite else request.getfixturevalue("postgres_url"))
    await opened.migrate()
    await opened.open()
    yield opened
    await opened.close()


async def severities(client: StoreClient) -> tuple[set[str], set[str]]:
    """Of failing schedules: by the doctor, and on the Now page."""
    findings = {str(each.severity) for each in await client.system.doctor() if each.check == "failing"} - {"ok"}
    overview = await DashboardReads(client).findings()
    troubles = {str(finding.severity) for finding in overview.findings if finding.kind == "failing"}
    return findings, troubles


async def test_doctor_and_now_page_agree(store: Store) -> None:
    client = StoreClient(store)
    await client.schedules.create("report", every(hours=1), "report", actor="ana", unknown_task_ok=True)
    worker = Worker(id="w1", namespace="default", app="app", host="host", pid=1, version="0")

    async def run(status: str) -> None:
        await client.schedules.trigger("report", actor="ana")
        [claimed] = (await store.leases.claim(worker, 1, 60.0, queues=["default"], targets=[("task", "report")])).runs
        await store.leases.finish([Outcome(claimed.id, claimed.attempt, status, error="no")])  # type: ignore[arg-type]

    for _ in range(1, FAILING):
        await run("failed")
        # What happened once or twice is shown, and no reason for a bad exit code.
        assert await severities(client) == (set(), {"warning"})
    for _ in range(3):
        await run("failed")
        assert await severities(client) == ({"problem"}, {"problem"})
    assert "failed 5 times in a row" in str([each.text for each in await client.system.doctor()])
    await run("succeeded")
    assert await severities(client) == (set(), set())
