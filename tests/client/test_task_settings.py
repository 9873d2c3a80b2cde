"""Settings that a task declares: they hold wherever a schedule or run does not state its own, and only there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tickbird import Tickbird, every
from tickbird.client import Client, StoreClient
from tickbird.domain.errors import InvalidError
from tickbird.domain.schedules.definition import TASK_SETTINGS, Backoff, Definition, Target
from tickbird.domain.workers import Worker
from tickbird.files.document import read_bytes
from tickbird.files.writer import write
from tickbird.store.sqlite import SqliteStore
from tickbird.worker import describe_worker

HOURLY = every(hours=1)
DECLARED: Mapping[str, Any] = {
    "queue": "reports",
    "priority": 7,
    "retries": 5,
    "backoff": Backoff(base=3, max=50),
    "timeout": 600,
    "on_crash": "fail",
    "concurrency_key": "tenant:{tenant}",
}
# The opposite of each, as somebody states it: mostly the default.
STATED: Mapping[str, Any] = {
    "queue": "default",
    "priority": 0,
    "retries": 0,
    "backoff": Backoff(),
    "timeout": None,
    "on_crash": "retry",
    "concurrency_key": None,
}
PAYLOAD = {"tenant": "acme"}


def an_app(**settings: Any) -> Tickbird:
    bird = Tickbird("sqlite://:memory:", app="shop")

    @bird.task(**{**DECLARED, **settings})
    async def report(tenant: str = "") -> None: ...

    return bird


@pytest.fixture
async def worker(store: SqliteStore) -> Worker:
    worker = describe_worker(an_app())
    await store.workers.heartbeat(worker, 600)
    return worker


@pytest.fixture(params=["published", "own"])
def client(request: pytest.FixtureRequest, store: SqliteStore, worker: Worker) -> Client:
    """A client without the task's code, and one of the app itself."""
    return StoreClient(store) if request.param == "published" else an_app().client_on(store)


def settings_of(definition: Definition | None) -> dict[str, Any]:
    assert definition is not None
    return {name: getattr(definition, name) for name in TASK_SETTINGS}


async def test_a_schedule_has_the_settings_of_its_task(client: Client) -> None:
    made = await client.schedules.create("dynamic", HOURLY, "report", payload=PAYLOAD, actor="ada")
    assert settings_of(made.definition) == DECLARED
    bird = an_app()
    bird.schedule("in-code", "report", HOURLY, payload=PAYLOAD)
    assert settings_of(bird.declarations.schedules["in-code"]) == DECLARED


@pytest.mark.parametrize("name", TASK_SETTINGS)
async def test_a_schedule_keeps_each_setting_that_is_stated(client: Client, name: str) -> None:
    options = {name: STATED[name]}
    made = await client.schedules.create("dynamic", HOURLY, "report", payload=PAYLOAD, actor="ada", **options)
    assert settings_of(made.definition) == {**DECLARED, **options}


async def test_an_enqueued_run_has_the_settings_of_its_task(client: Client, store: SqliteStore) -> None:
    run = await client.runs.get(await client.runs.enqueue("report", PAYLOAD, actor="ada"))
    assert (run.queue, run.priority, run.concurrency_key) == ("reports", 7, "tenant:acme")
    other = await client.runs.enqueue(
        "report", PAYLOAD, actor="ada", queue="bulk", priority=0, crash_limit=2, concurrency_key=None
    )
    stated = await client.runs.get(other)
    assert (stated.queue, stated.priority, stated.concurrency_key) == ("bulk", 0, None)
    # Its worker is lost: with on_crash="fail" it is never started twice.
    now = await store.now()
    lost = describe_worker(an_app())
    asked = {"queues": ("reports", "bulk"), "targets": [("task", "report")]}
    assert len((await store.leases.claim(lost, 5, 10, now=now, **asked)).runs) == 2  # type: ignore[arg-type]
    rescued = await store.leases.rescue(now=now + timedelta(seconds=11))
    assert (list(rescued.failed), list(rescued.requeued)) == ([run.id], [other])


async def test_a_run_for_later_states_that_it_has_no_key(client: Client) -> None:
    with pytest.raises(InvalidError, match="concurrency_key=None"):
        await client.runs.enqueue("report", PAYLOAD, actor="ada", delay=60)
    run_id = await client.runs.enqueue("report", PAYLOAD, actor="ada", delay=60, concurrency_key=None)
    assert (await client.runs.get(run_id)).queue == "reports"


async def test_a_setting_that_is_unset_is_the_tasks_again(client: Client) -> None:
    await client.schedules.create("dynamic", HOURLY, "report", payload=PAYLOAD, actor="ada", **STATED)
    made = await client.schedules.update("dynamic", actor="ada", unset=["retries", "timeout", "concurrency_key"])
    back = {name: DECLARED[name] for name in ("retries", "timeout", "concurrency_key")}
    assert settings_of(made.definition) == {**STATED, **back}


async def test_an_edit_changes_nothing_that_it_does_not_state(client: Client) -> None:
    await client.schedules.create("dynamic", HOURLY, "report", payload=PAYLOAD, actor="ada", **STATED)
    made = await client.schedules.update("dynamic", actor="ada", priority=3, task="report")
    assert settings_of(made.definition) == {**STATED, "priority": 3}


async def test_a_preview_has_the_settings_of_the_task(client: Client) -> None:
    found = await client.forecasts.preview(HOURLY, target=Target("report"), payload=PAYLOAD, priority=1)
    assert settings_of(found.definition) == {**DECLARED, "priority": 1}
    without = await client.forecasts.preview(HOURLY, target=Target("report"))
    assert settings_of(without.definition) == {**DECLARED, "concurrency_key": None}


def a_file(**fields: Any) -> dict[str, Any]:
    return {"app": "files", "schedules": {"x": {"every": "1h", "task": "report", "payload": PAYLOAD, **fields}}}


async def test_a_file_leaves_settings_to_the_task(client: Client) -> None:
    planned = await client.files.apply(a_file(priority=1), actor="ada", dry_run=True)
    [change] = planned.schedules
    assert settings_of(change.schedule.definition) == {**DECLARED, "priority": 1}
    [note] = change.notes
    assert note == (
        "from its task: queue reports, concurrency_key tenant:{tenant}, retries 5, backoff 3s,50s, timeout 10m, "
        "on_crash fail"
    )
    await client.files.apply(a_file(priority=1), actor="ada")
    assert settings_of((await client.schedules.get("x")).definition) == {**DECLARED, "priority": 1}
    assert (await client.files.apply(a_file(priority=1), actor="ada")).is_empty
    stated = a_file(queue="default", priority=0, retries=0, backoff="1s", timeout=False, on_crash="retry")
    stated["schedules"]["x"]["concurrency_key"] = False
    await client.files.apply(stated, actor="ada")
    assert settings_of((await client.schedules.get("x")).definition) == STATED


@pytest.mark.parametrize("spelling", ["toml", "yaml", "json"])
async def test_what_was_exported_changes_nothing_when_it_is_applied(client: Client, spelling: Any) -> None:
    for name in TASK_SETTINGS:
        await client.schedules.create(name, HOURLY, "report", payload=PAYLOAD, actor="ada", **{name: STATED[name]})
    text = write(await client.files.export(everything=True), spelling)
    again = read_bytes(text.encode(), f"x.{spelling}", spelling)
    await client.files.apply(again, actor="ada", adopt=True)
    for name in TASK_SETTINGS:
        assert settings_of((await client.schedules.get(name)).definition) == {**DECLARED, name: STATED[name]}
    assert write(await client.files.export(), spelling) == text
    assert (await client.files.apply(again, actor="ada")).is_empty


async def test_a_file_keeps_settings_while_no_worker_has_the_task(store: SqliteStore, worker: Worker) -> None:
    client = StoreClient(store)
    await client.files.apply(a_file(), actor="ada")
    await store.workers.remove(worker.id)
    assert (await client.files.apply(a_file(), actor="ada")).is_empty
    changed = await client.files.apply(a_file(retries=1), actor="ada")
    assert [each.name for each in changed.schedules[0].fields] == ["retries"]
    assert settings_of((await client.schedules.get("x")).definition) == {**DECLARED, "retries": 1}


async def test_a_key_of_the_task_that_the_payload_cannot_fill_is_told_where_it_is(client: Client) -> None:
    plan = await client.files.apply(a_file(payload={}), actor="ada", dry_run=True)
    assert [diagnostic.text for diagnostic in plan.diagnostics if "concurrency_key" in diagnostic.text]
    with pytest.raises(InvalidError, match="concurrency_key"):
        await client.schedules.create("dynamic", HOURLY, "report", actor="ada")


async def test_the_newest_worker_says_how_a_task_is_set(store: SqliteStore) -> None:
    began = datetime(2026, 1, 1, tzinfo=UTC)
    for age, retries in enumerate((1, 2, 3)):
        worker = describe_worker(an_app(retries=retries))
        await store.workers.heartbeat(replace(worker, started_at=began - timedelta(hours=age)), 600)
    made = await StoreClient(store).schedules.create("x", HOURLY, "report", payload=PAYLOAD, actor="ada")
    assert settings_of(made.definition)["retries"] == 1


@pytest.mark.parametrize("retries", ["many", -1, None, True, [], 10**9])
async def test_settings_that_make_no_sense_are_left_out(store: SqliteStore, retries: Any) -> None:
    worker = describe_worker(an_app())
    tasks = {"report": {**worker.tasks["report"], "retries": retries, "backoff": 7, "queue": "no name"}}
    await store.workers.heartbeat(replace(worker, tasks=tasks), 600)
    made = await StoreClient(store).schedules.create("x", HOURLY, "report", payload=PAYLOAD, actor="ada")
    defaults = {"retries": 0, "backoff": Backoff(), "queue": "default"}
    assert settings_of(made.definition) == {**DECLARED, **defaults}


async def test_an_older_worker_publishes_its_queue_alone(store: SqliteStore) -> None:
    worker = replace(describe_worker(an_app()), tasks={"report": {"queue": "mail", "schema": {}}})
    await store.workers.heartbeat(worker, 600)
    made = await StoreClient(store).schedules.create("x", HOURLY, "report", actor="ada")
    assert settings_of(made.definition) == {**STATED, "queue": "mail"}


async def test_priorities_have_names_for_tasks_schedules_and_runs(store: SqliteStore) -> None:
    await store.workers.heartbeat(describe_worker(an_app(priority="high", concurrency_key=None)), 600)
    client = StoreClient(store)
    runs = [
        await client.runs.enqueue("report", actor="ada"),
        await client.runs.enqueue("report", actor="ada", priority="low"),
    ]
    assert [(await client.runs.get(run)).priority for run in runs] == [500, -500]
    made = await client.schedules.create("x", HOURLY, "report", actor="ada")
    assert made.definition_json["priority"] == 500
    changed = await client.schedules.update("x", actor="ada", priority="critical")
    assert changed.definition_json["priority"] == 1_000
    with pytest.raises(InvalidError, match="priority: 'urgent' is not one of low, normal, high, critical") as refusal:
        await client.runs.enqueue("report", actor="ada", priority="urgent")  # type: ignore[arg-type]
    assert refusal.value.field == "priority"
    text = write(await client.files.export(everything=True), "toml")
    assert 'priority = "critical"' in text
    assert read_bytes(text.encode(), "x.toml", "toml").schedules["x"].priority == 1_000
