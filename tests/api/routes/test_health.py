"""healthz and readyz."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from conformance.steps import a_worker
from tests.api.conftest import Api, refused
from tickbird.api.routes.health import CHECK_INTERVAL, ReadinessProbe
from tickbird.client import StoreClient
from tickbird.client.system import System
from tickbird.domain.errors import SchemaError, StoreUnavailableError
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.targets.registry import first_kind_format
from tickbird.domain.triggers.every import every
from tickbird.stores import open_store

RENAME = "ALTER TABLE cursors RENAME COLUMN next_run_at TO looks_at"
SCHEMAS = {
    "missing": ["ALTER TABLE meta RENAME TO something_else"],
    "too old": ["UPDATE meta SET value = '0' WHERE key = 'version'", RENAME],
    "too new": ["UPDATE meta SET value = '99' WHERE key IN ('version', 'min_compatible')", RENAME],
    "pre-release": ["DELETE FROM meta WHERE key = 'schema_generation'", RENAME],
}


class OwnApi(Api):
    """The API of a database that no other test uses, with a way past Tickbird."""

    def __init__(self, url: str) -> None:
        super().__init__(open_store(url))
        self.url = url

    def execute(self, *statements: str) -> None:
        """Plain SQL that no constraint between tables holds back."""
        if self.url.startswith("sqlite"):
            with closing(sqlite3.connect(self.url.removeprefix("sqlite:///"))) as db, db:
                for statement in statements:
                    db.execute(statement)
            return
        options = "-c search_path=tickbird -c session_replication_role=replica"
        with psycopg.connect(self.url, options=options) as connection:
            for statement in statements:
                connection.execute(statement.encode())


@pytest.fixture(params=["sqlite", "postgres"])
async def own_api(request: pytest.FixtureRequest, tmp_path: Path, migrated_url: str) -> AsyncIterator[OwnApi]:
    """An open store."""
    api = OwnApi(f"sqlite:///{tmp_path}/t.db" if request.param == "sqlite" else migrated_url)
    await api.store.open()
    yield api
    await api.store.close()


async def test_a_process_lives_and_is_ready_without_a_token(api: Api) -> None:
    assert (await api.plain("GET", "/healthz")).json() == {"status": "ok"}
    assert (await api.plain("GET", "/readyz")).json() == {"status": "ready"}


async def test_probes_may_ask_for_the_head_only(api: Api) -> None:
    for path in ("/healthz", "/readyz"):
        assert (await api.plain("HEAD", path)).status_code == 200
        assert (await api.plain("POST", path)).headers["allow"] == "GET, HEAD"


async def test_it_is_not_ready_when_nobody_plans_what_is_due(api: Api) -> None:
    definition = Definition(trigger=every(hours=1), target=Target("report"))
    command = Create(actor="ana", namespace="shop", definition=definition)
    then = await api.store.now() - timedelta(days=1)
    await api.store.schedules.change("shop", "digest", command, now=then)
    answer = await api.plain("GET", "/readyz")
    assert "no worker plans" in refused(answer, 503, "planning")
    assert "digest" not in answer.text
    assert answer.headers["retry-after"] == "5"
    assert (await api.plain("HEAD", "/readyz")).status_code == 503
    # Once somebody has planned it, at the next look.
    await api.store.planning.plan_due()
    await api.store.workers.heartbeat(a_worker(namespace="shop"), 600)
    api.app.state.readiness._reasons.drop(None)
    assert (await api.plain("GET", "/readyz")).status_code == 200
    assert (await api.plain("GET", "/healthz")).status_code == 200


async def test_it_is_not_ready_when_only_workers_without_a_plug_in_are_alive(own_api: OwnApi) -> None:
    then, version = await own_api.store.now() - timedelta(days=1), first_kind_format("nowhere") + 3
    definition = Definition(trigger=every(hours=1), target=Target("report"))
    command = Create(actor="ana", namespace="default", definition=definition)
    await own_api.store.schedules.change("default", "hello", command, now=then)
    foreign = json.dumps({"v": version, "trigger": definition.trigger.to_json(), "target": {"nowhere": {}}})
    past = 1_000_000 if own_api.url.startswith("sqlite") else "'2020-01-01'"
    own_api.execute(
        f"UPDATE schedules SET definition = '{foreign}'", f"UPDATE cursors SET format = {version}, next_run_at = {past}"
    )
    await own_api.store.workers.heartbeat(a_worker(), 600)
    await own_api.store.planning.plan_due()
    assert "no worker plans them" in refused(await own_api.plain("GET", "/readyz"), 503, "planning")
    [finding] = [each for each in await own_api.client().system.doctor() if each.check == "planning"]
    assert finding.figures["needs"] == "target kind 'nowhere'"
    assert finding.figures["schedules"] == ["hello"]


@pytest.mark.parametrize("error, code", [(StoreUnavailableError, "store-unavailable"), (SchemaError, "schema")])
async def test_it_is_not_ready_without_its_store(
    api: Api, monkeypatch: pytest.MonkeyPatch, error: type[Exception], code: str
) -> None:
    async def fail(*_: Any, **__: Any) -> Any:
        raise error("the database at 10.0.0.7 does not answer")

    monkeypatch.setattr(type(api.store), "inspect", fail)
    answer = await api.plain("GET", "/readyz")
    refused(answer, 503, code)
    assert "10.0.0.7" not in answer.text


async def test_the_store_is_looked_at_every_few_seconds_only(api: Api) -> None:
    looks: list[int] = []

    class Counting(System):
        async def doctor(self) -> Any:
            looks.append(1)
            return await super().doctor()

    client = StoreClient(api.store)
    client.system = Counting(api.store)
    now = [100.0]
    readiness = ReadinessProbe(client, lambda: now[0])
    for _ in range(3):
        assert await readiness.reason() is None
    assert len(looks) == 1
    now[0] += CHECK_INTERVAL
    await readiness.reason()
    assert len(looks) == 2


@pytest.mark.parametrize("name", SCHEMAS)
async def test_a_schema_that_does_not_fit_is_the_reason_and_nothing_that_follows_from_it(
    own_api: OwnApi, name: str
) -> None:
    own_api.execute(*SCHEMAS[name])
    if name == "too old" and own_api.url.startswith("sqlite"):
        # Opening it would migrate it.
        assert (await own_api.plain("GET", "/readyz")).status_code == 200
        return
    refused(await own_api.plain("GET", "/readyz"), 503, "schema")
    findings = await own_api.client().system.doctor()
    of_schema = {"schema", "rights", "indexes", "copy", "workers", "planning", "parked", "cursors", "queues"}
    [finding] = [each for each in findings if each.check in of_schema]
    assert (finding.severity, bool(finding.fix)) == ("problem", True)
    assert not [each for each in findings if each.severity == "unseen"]


async def test_cursors_that_nobody_can_plan_are_named_by_doctor_and_keep_nobody_waiting(own_api: OwnApi) -> None:
    past = 1_000_000 if own_api.url.startswith("sqlite") else "'2020-01-01'"
    own_api.execute(
        "INSERT INTO cursors (schedule_id, revision, format, next_run_at) "
        f"VALUES (900, 1, 1, {past}), (901, 1, 1, NULL)"
    )
    await own_api.store.workers.heartbeat(a_worker(), 600)
    assert (await own_api.plain("GET", "/readyz")).status_code == 200
    [finding] = [each for each in await own_api.client().system.doctor() if each.check == "cursors"]
    assert (finding.severity, finding.figures["schedule_ids"]) == ("warning", [900, 901])
    assert "900, 901" in finding.text
    own_api.execute(finding.fix)
    [finding] = [each for each in await own_api.client().system.doctor() if each.check == "cursors"]
    assert finding.severity == "ok"


async def test_it_is_not_ready_without_its_file(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    api = OwnApi(f"sqlite:///{path}")
    await api.store.open()
    try:
        path.rename(tmp_path / "moved.db")
        refused(await api.plain("GET", "/readyz"), 503, "store-unavailable")
    finally:
        await api.store.close()
