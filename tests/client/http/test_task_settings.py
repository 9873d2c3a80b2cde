"""Settings of a task through a client over HTTP: the same as through a client on the store."""

from __future__ import annotations

from typing import Any

import pytest

from tests.client.http.conftest import Both
from tickbird import Tickbird, every
from tickbird.client.http import HttpClient
from tickbird.domain.schedules.definition import TASK_SETTINGS, Backoff, Target
from tickbird.worker import describe_worker

HOURLY = every(hours=1)
STATED: dict[str, Any] = {
    "queue": "default",
    "priority": 0,
    "retries": 0,
    "backoff": Backoff(),
    "timeout": None,
    "on_crash": "retry",
    "concurrency_key": None,
}


def an_app(queue: str) -> Tickbird:
    bird = Tickbird("sqlite://:memory:")

    @bird.task(queue=queue, priority=7, retries=5, backoff=3, timeout=600, on_crash="fail", concurrency_key="k")
    async def report() -> None: ...

    return bird


@pytest.fixture(params=["published", "own"])
async def remote(request: pytest.FixtureRequest, both: Both) -> HttpClient:
    """A client without the task's code while a worker has it; and one of an app that no worker serves yet."""
    if request.param == "published":
        await both.store.workers.heartbeat(describe_worker(an_app("reports")), 600)
        return both.remote
    bird = an_app("reports")
    return HttpClient(both.remote._transport, "default", bird._validators, bird._settings)


async def test_both_clients_give_the_settings_of_the_task(both: Both, remote: HttpClient) -> None:
    declared = dict(an_app("reports").tasks["report"].settings)
    each = {name: {name: STATED[name]} for name in TASK_SETTINGS}
    for name, options in {"none": {}, **each, "all": STATED}.items():
        made = (await remote.schedules.create(name, HOURLY, "report", actor="ana", **options)).definition
        assert made is not None
        assert {setting: getattr(made, setting) for setting in TASK_SETTINGS} == {**declared, **options}, name
    found = (await remote.forecasts.preview(HOURLY, target=Target("report"), payload={}, retries=1)).definition
    assert {setting: getattr(found, setting) for setting in TASK_SETTINGS} == {**declared, "retries": 1}


async def test_both_clients_enqueue_with_the_settings_of_the_task(both: Both, remote: HttpClient) -> None:
    run = await remote.runs.get(await remote.runs.enqueue("report", actor="ana"))
    assert (run.queue, run.priority, run.concurrency_key) == ("reports", 7, "k")
    options: dict[str, Any] = {"queue": "default", "priority": 0, "concurrency_key": None}
    stated = await remote.runs.get(await remote.runs.enqueue("report", actor="ana", **options))
    assert (stated.queue, stated.priority, stated.concurrency_key) == ("default", 0, None)
