"""Settings of a task over HTTP: a setting that a request does not state is the task's."""

from __future__ import annotations

from typing import Any

from tests.api.conftest import Api
from tickbird import Tickbird
from tickbird.worker import describe_worker

PREFIX = "/api/v1"
DECLARED = {
    "queue": "reports",
    "priority": 7,
    "retries": 5,
    "backoff": {"base": 3, "max": 300},
    "timeout": 600,
    "on_crash": "fail",
    "concurrency_key": "report",
}
HOURLY = {"every": {"hours": 1}, "tz": "UTC"}


async def a_worker(api: Api) -> None:
    bird = Tickbird("sqlite://:memory:")

    @bird.task(
        queue="reports",
        priority=7,
        retries=5,
        backoff=3,
        timeout="10m",
        on_crash="fail",
        concurrency_key="report",
    )
    async def report() -> None: ...

    await api.store.workers.heartbeat(describe_worker(bird), 600)


def definition(**fields: Any) -> dict[str, Any]:
    return {"trigger": HOURLY, "target": {"task": "report"}, **fields}


async def send(api: Api, method: str, path: str, **json: Any) -> Any:
    answer = await api.ask(method, f"{PREFIX}{path}", "editor", json=json)
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


def settings(found: dict[str, Any]) -> dict[str, Any]:
    return {name: found.get(name) for name in DECLARED}


async def test_a_run_has_the_settings_of_its_task(api: Api) -> None:
    await a_worker(api)
    run = (await send(api, "POST", "/runs", task="report"))["run"]
    assert (run["queue"], run["priority"], run["concurrency_key"]) == ("reports", 7, "report")
    stated = await send(api, "POST", "/runs", task="report", queue="bulk", priority=0, none=["concurrency_key"])
    run = stated["run"]
    assert (run["queue"], run["priority"], run["concurrency_key"]) == ("bulk", 0, None)


async def test_a_schedule_has_the_settings_of_its_task(api: Api) -> None:
    await a_worker(api)
    previewed = await send(api, "POST", "/preview", definition=definition(payload={}))
    made = (await send(api, "POST", "/schedules", name="x", definition=definition(priority=0)))["schedule"]
    assert settings(previewed["definition"]) == DECLARED
    assert settings(made["definition"]) == {**DECLARED, "priority": 0}
    # As it was read, it changes nothing when it is sent back.
    document = await api.get("/schedules/x", "editor")
    assert (await send(api, "PUT", "/schedules/x", definition=document["definition"]))["schedule"]["revision"] == 1
    put = await send(api, "PUT", "/schedules/x", definition=definition(retries=0), none=["timeout"])
    assert settings(put["schedule"]["definition"]) == {**DECLARED, "retries": 0, "timeout": None}
    patched = await send(api, "PATCH", "/schedules/x", definition={"retries": None, "timeout": None})
    assert settings(patched["schedule"]["definition"]) == DECLARED


async def test_stated_twice_is_refused(api: Api) -> None:
    answer = await api.ask(
        "POST",
        f"{PREFIX}/schedules",
        "editor",
        json={"name": "x", "definition": definition(timeout=5), "none": ["timeout"]},
    )
    assert answer.status_code == 422
    assert "timeout is set and also listed in `none`" in answer.text
