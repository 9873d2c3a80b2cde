"""A change of a task or a payload is checked as a new schedule is: the payload after it must fit the task after it."""

from __future__ import annotations

from typing import Any

import pytest

from tickbird import Tickbird, every
from tickbird.client import Client, StoreClient
from tickbird.domain.errors import PayloadError
from tickbird.store.sqlite import SqliteStore
from tickbird.worker import describe_worker

HOURLY = every(hours=1)


def an_app() -> Tickbird:
    bird = Tickbird("sqlite://:memory:", app="shop")

    @bird.task
    async def report(tenant: str) -> None: ...

    @bird.task
    async def clean(days: int, tenant: str = "") -> None: ...

    @bird.task
    async def anything(tenant: str = "") -> None: ...

    return bird


@pytest.fixture(params=["published", "own"])
async def client(request: pytest.FixtureRequest, store: SqliteStore) -> Client:
    """A client without the code of the tasks, and one of the app itself."""
    await store.workers.heartbeat(describe_worker(an_app()), 600)
    client = StoreClient(store) if request.param == "published" else an_app().client_on(store)
    await client.schedules.create("nightly", HOURLY, "report", payload={"tenant": "acme"}, actor="ada")
    return client


@pytest.mark.parametrize(
    "change",
    [{"task": "clean"}, {"target": "clean"}, {"target": {"task": "clean"}}, {"unset": ["payload"]}],
    ids=str,
)
async def test_a_payload_that_does_not_fit_the_changed_task_is_refused(client: Client, change: dict[str, Any]) -> None:
    with pytest.raises(PayloadError, match=r"payload of task .* Set its payload in the same change\."):
        await client.schedules.update("nightly", actor="ada", **change)
    assert (await client.schedules.get("nightly")).revision == 1


async def test_a_task_is_changed_with_a_payload_that_fits(client: Client) -> None:
    await client.schedules.update("nightly", actor="ada", task="anything")
    await client.schedules.update("nightly", actor="ada", unset=["payload"])
    changed = await client.schedules.update("nightly", actor="ada", task="clean", payload={"days": 3})
    assert changed.definition_json["target"] == {"task": "clean"}
    assert changed.definition_json["payload"]["days"] == 3
    await client.schedules.update("nightly", actor="ada", task="no_worker_knows_it")


async def test_put_checks_the_payload_that_it_leaves_out(client: Client) -> None:
    definition = {"trigger": HOURLY.to_json(), "target": {"task": "report"}}
    with pytest.raises(PayloadError, match="payload of task 'report'"):
        await client.schedules.put("nightly", definition, actor="ada")


async def test_an_edit_of_other_fields_does_not_check_the_payload(store: SqliteStore) -> None:
    client = StoreClient(store)
    await client.schedules.create("early", HOURLY, "report", actor="ada", unknown_task_ok=True)
    await store.workers.heartbeat(describe_worker(an_app()), 600)
    await client.schedules.update("early", actor="ada", retries=3, task="report")
