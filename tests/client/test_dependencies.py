"""Dependencies through the client: what is refused, what is told, and why a tick ran, waited or was skipped."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.planning.dependencies import create_load, end_run
from conformance.steps import change, create, finish, later, plan, plan_all, runs_of, start
from tests.client.why.questions import alive, ask
from tickbird import After, Tickbird, after, every
from tickbird.client import StoreClient
from tickbird.domain.errors import ConflictError, DefinitionError
from tickbird.domain.explain.explanation import Explanation
from tickbird.domain.planning.commands.define import Update
from tickbird.domain.planning.commands.run import Trigger
from tickbird.store.protocol.store import Store

NEEDS = (after("load", within="1h"),)
WAITS = (after("load", within="1h", wait="30m"),)


def told(explanation: Explanation) -> list[tuple[bool | None, str]]:
    """What the chain says of dependencies."""
    return [(step.ok, step.text) for step in explanation.steps if step.name == "dependency"]


async def test_a_schedule_is_created_and_changed(store: Store) -> None:
    client = StoreClient(store)
    options: dict[str, Any] = {"actor": "ada", "unknown_task_ok": True}
    with pytest.raises(DefinitionError, match=r"there is no schedule 'load'\. Create it first, or correct the name"):
        await client.schedules.create("report", every(hours=1), "work", depends_on=("load", "1h"), **options)
    for name in ("load", "clean"):
        await client.schedules.create(name, every(hours=1), "work", **options)
    made = await client.schedules.create("report", every(hours=1), "work", depends_on=("load", "1h"), **options)
    assert made.definition is not None
    assert made.definition.depends_on == (After("load", 3_600),)
    edited = await client.schedules.update("report", depends_on=[after("clean", "1h", wait="5m")], actor="bo")
    assert edited.definition_json["depends_on"] == [{"after": "clean", "within": 3_600, "wait": 300}]
    assert (
        await client.schedules.update("report", depends_on=("clean", 3_600, 300), actor="bo")
    ).revision == edited.revision
    [revision] = await client.revisions.list("report", limit=1)
    assert revision.detail["before"] == {"depends_on": [{"after": "load", "within": 3_600}]}
    with pytest.raises(DefinitionError, match="'clean' would depend on itself: clean → report → clean"):
        await client.schedules.update("clean", depends_on=("report", "1h"), actor="bo")
    with pytest.raises(ConflictError, match="'clean' cannot be deleted: report depends on it"):
        await client.schedules.delete("clean", actor="bo")
    await client.schedules.delete("load", actor="bo")
    assert (await client.schedules.update("report", unset=["depends_on"], actor="bo")).definition_json.get(
        "depends_on"
    ) is None


def test_an_app_declares_them() -> None:
    bird = Tickbird("sqlite://:memory:")

    @bird.task(schedule=every(hours=1), depends_on=after("load", within="1h", wait="5m"))
    def report() -> None: ...

    bird.schedule("weekly", report, every(weeks=1), depends_on=[("report", "1d")])
    declared = bird.declarations.schedules
    assert declared["report"].depends_on == (After("load", 3_600, 300),)
    assert declared["weekly"].depends_on == (After("report", 86_400),)
    with pytest.raises(DefinitionError, match="depends_on is an option of a schedule"):
        bird.task(depends_on=("load", "1h"))(lambda: None)


async def test_why_a_tick_was_skipped(store: Store) -> None:
    await create_load(store)
    await create(store, trigger=every(hours=1), depends_on=NEEDS)
    await plan(store, 3_600)
    never = await ask(store, 3_600, now=3_700)
    assert (never.verdict, never.sentence) == (
        "skipped",
        (
            "Skipped (dependency): load had not succeeded since 2026-01-01 00:00:00 UTC (depends_on: within 1 h): "
            "it had never succeeded; a success since then would have let this tick run."
        ),
    )
    await end_run(store, 3_650)
    await plan_all(store, 3 * 3_600)
    later_ = await ask(store, 3 * 3_600, now=11_000)
    assert "load had not succeeded since 2026-01-01 02:00:00 UTC" in later_.sentence
    assert "it had last succeeded at 2026-01-01 01:00:50 UTC as run 1;" in later_.sentence
    # What came after it was decided did not help it.
    assert "its recorded successes are later;" in (await ask(store, 3_600, now=11_000)).sentence
    assert told(later_)[0][0] is False


async def test_why_a_tick_ran(store: Store) -> None:
    await create_load(store)
    await create(store, trigger=every(hours=1), depends_on=NEEDS)
    await end_run(store, 3_000)
    await plan(store, 3_600)
    await finish(store, await start(store, 3_601), 3_602)
    ran = await ask(store, 3_600, now=3_700)
    assert ran.verdict == "ran"
    text = "load succeeded at 2026-01-01 00:50:00 UTC as run 1 (depends_on: within 1 h)."
    assert told(ran) == [(True, text)]


async def test_why_a_run_waits_and_waited(store: Store) -> None:
    await create_load(store)
    await create(store, trigger=every(hours=1), depends_on=WAITS)
    await plan(store, 3_600)
    [run] = await runs_of(store)
    waits = await ask(store, 3_600, now=3_700)
    assert (waits.verdict, waits.sentence) == (
        "waiting",
        (
            f"Run {run.id} waits for load to succeed, by 2026-01-01 01:30:00 UTC "
            "(depends_on: within 1 h, wait 30 min); "
            "it has never succeeded."
        ),
    )
    await end_run(store, 4_200)
    await finish(store, await start(store, 4_201), 4_202)
    ran = await ask(store, 3_600, now=5_000)
    assert ran.sentence == (
        f"Ran as run {run.id} at 2026-01-01 01:10:01 UTC, 10 min 1 s late because it waited for manual run 2 of load."
    )
    waited = "Waited 10 min for manual run 2 of load, until 2026-01-01 01:10:00 UTC."
    assert (False, waited) in told(ran)


async def test_one_that_is_needed_and_is_a_shadow_is_called_one(store: Store) -> None:
    await create_load(store, shadow=True)
    await create(store, trigger=every(hours=1), depends_on=NEEDS)
    await alive(store, 60)
    shadow = "a shadow (shadow=true), which never runs"
    coming = await ask(store, 3_600, now=60)
    assert coming.sentence.endswith(f"load succeeds after 2026-01-01 00:00:00 UTC (but it is {shadow}).")
    assert f"otherwise it is skipped: it is {shadow}." in told(coming)[0][1]
    await plan(store, 3_600)
    skipped = await ask(store, 3_600, now=3_700)
    assert f"(depends_on: within 1 h): it is {shadow}; a success" in skipped.sentence
    assert "never succeeded" not in skipped.sentence
    waits = [{"after": "load", "within": 3_600, "wait": 1_800}]
    await change(store, Update(actor="x", fields={"depends_on": waits}), 3_800)
    await plan(store, 7_200)
    [run] = [each for each in await runs_of(store) if each.status == "waiting"]
    [step] = await StoreClient(store).runs.waiting_for(run.id)
    assert f"; it is {shadow}." in step.text


async def test_why_a_run_that_waited_was_cancelled(store: Store) -> None:
    await create_load(store)
    await create(store, trigger=every(hours=1), depends_on=WAITS)
    await plan(store, 3_600)
    await store.leases.rescue(now=later(5_500))
    [run] = await runs_of(store)
    assert (await ask(store, 3_600, now=5_600)).sentence == (
        f"Run {run.id} was cancelled: load had not succeeded by 2026-01-01 01:30:00 UTC, "
        "and the wait ended (dependency)."
    )


async def test_what_a_tick_to_come_needs(store: Store) -> None:
    await create_load(store)
    await create(store, trigger=every(hours=1), depends_on=WAITS)
    await alive(store, 60)
    coming = await ask(store, 3_600, now=60)
    assert coming.sentence == (
        "Will run at 2026-01-01 01:00:00 UTC, provided that load succeeds after 2026-01-01 00:00:00 UTC."
    )
    assert told(coming) == [
        (
            None,
            (
                "Needs load to succeed after 2026-01-01 00:00:00 UTC, "
                "otherwise it waits until 2026-01-01 01:30:00 UTC: "
                "it has never succeeded."
            ),
        )
    ]
    await end_run(store, 100)
    await alive(store, 110)
    met = await ask(store, 3_600, now=110)
    assert met.sentence == "Will run at 2026-01-01 01:00:00 UTC."
    text = "Needs load since 2026-01-01 00:00:00 UTC: it last succeeded at 2026-01-01 00:01:40 UTC as run 1."
    assert told(met) == [(True, text)]


async def test_what_nobody_has_planned_yet(store: Store) -> None:
    await create_load(store)
    await create(store, trigger=every(hours=1), depends_on=NEEDS)
    assert "planned now, it would be skipped (dependency): load" in (await ask(store, 3_600, now=3_700)).sentence


async def test_a_manual_run_does_not_wait_behind_one_that_depends(store: Store) -> None:
    await create_load(store)
    await create(store, trigger=every(hours=1), depends_on=WAITS)
    await plan(store, 3_600)
    await change(store, Trigger(actor="ada"), 3_601)
    assert [run.status for run in await runs_of(store)] == ["waiting", "queued"]
    await change(store, Update(actor="ada", fields={"depends_on": []}), 3_602)
    waits = await ask(store, 3_600, now=3_700)
    assert waits.sentence.startswith("Run 1 waits for load to succeed")
