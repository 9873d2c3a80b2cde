"""healthz and readyz."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from conformance.steps import a_worker
from tests.api.conftest import Api, refused
from tickbird.api.routes.health import CHECK_INTERVAL, ReadinessProbe
from tickbird.client import Client
from tickbird.domain.errors import SchemaError, StoreUnavailableError
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.triggers.every import every


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
    assert "nobody plans" in refused(answer, 503, "planning")
    assert "digest" not in answer.text
    assert answer.headers["retry-after"] == "5"
    assert (await api.plain("HEAD", "/readyz")).status_code == 503
    # Once somebody has planned it, at the next look.
    await api.store.planning.plan_due()
    await api.store.workers.heartbeat(a_worker(namespace="shop"), 600)
    api.app.state.readiness._reasons.drop(None)
    assert (await api.plain("GET", "/readyz")).status_code == 200
    assert (await api.plain("GET", "/healthz")).status_code == 200


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

    class Counting(Client):
        async def doctor(self) -> Any:
            looks.append(1)
            return await super().doctor()

    now = [100.0]
    readiness = ReadinessProbe(Counting(api.store), lambda: now[0])
    for _ in range(3):
        assert await readiness.reason() is None
    assert len(looks) == 1
    now[0] += CHECK_INTERVAL
    await readiness.reason()
    assert len(looks) == 2
