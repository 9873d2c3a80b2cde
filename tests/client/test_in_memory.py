"""Schedules in memory as users see them: declared in code, with their ticks, `why` and `verify`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tickbird import DefinitionError, Tickbird, at, command, cron, every
from tickbird.testing.harness import Harness

START = datetime(2026, 1, 1, tzinfo=UTC)


def an_app(**options: Any) -> Tickbird:
    bird = Tickbird(**options)

    @bird.task(schedule=every(minutes=1), durable=False)
    def light() -> None: ...

    @bird.task(schedule=every(minutes=1))
    def ledger() -> None: ...

    return bird


async def test_both_kinds_run_in_one_app() -> None:
    async with Harness(an_app(), START) as harness:
        await harness.advance(minutes=5)
        for name, actor in (("light", "in memory"), ("ledger", None)):
            runs = await harness.runs(name)
            assert [run.scheduled_for.minute for run in runs if run.scheduled_for] == [1, 2, 3, 4, 5]
            assert {(run.status, run.actor) for run in runs} == {("succeeded", actor)}
        light = await harness.client.schedules.get("light")
        assert (light.in_memory, light.next_run_at, light.definition_json["v"]) == (True, None, 6)


async def test_the_default_of_an_app_can_be_in_memory() -> None:
    bird = Tickbird(durable_by_default=False)

    @bird.task(schedule=cron("* * * * *"))
    def light() -> None: ...

    bird.schedule("kept", light, cron("0 9 * * *"), durable=True)
    bird.schedule("program", command(["/bin/true"]), cron("0 9 * * *"))
    declared = bird.declarations.schedules
    assert {name: definition.durable for name, definition in declared.items()} == {
        "light": False,
        "kept": True,
        "program": False,
    }


@pytest.mark.parametrize(
    "policies",
    [
        {"overlap": "queue"},
        {"overlap": "replace"},
        {"catch_up": "all"},
        {"max_runs": 3},
        {"depends_on": [("load", "24h")]},
        {"concurrency_key": "db"},
        {"shadow": True},
    ],
    ids=str,
)
def test_policies_that_need_a_cursor_are_refused(policies: dict[str, Any]) -> None:
    bird = Tickbird()

    @bird.task
    def light() -> None: ...

    with pytest.raises(DefinitionError, match=r"durable: a schedule in memory cannot have .* Set durable=true"):
        bird.schedule("light", light, cron("* * * * *"), durable=False, **policies)


def test_a_single_tick_is_refused() -> None:
    bird = Tickbird()

    @bird.task
    def light() -> None: ...

    with pytest.raises(DefinitionError, match="a trigger with a single tick"):
        bird.schedule("light", light, at(START), durable=False)


async def test_verify_and_why_know_that_ticks_are_not_recorded() -> None:
    async with Harness(an_app(), START) as harness:
        await harness.advance(minutes=2)
        # No worker is alive for an hour.
        harness.clock.move_to(datetime(2026, 1, 1, 1, 0, 30, tzinfo=UTC))
        await harness.settle()
        await harness.advance(minutes=2)
        report = await harness.client.ticks.verify("light")
        assert (report.findings, report.runs, report.skipped) == ((), 4, 0)
        assert (await harness.client.ticks.verify("ledger")).skipped == 57
        ran = await harness.client.ticks.why("light", datetime(2026, 1, 1, 0, 1, tzinfo=UTC))
        assert ran.verdict == "ran"
        assert "A worker computed this tick in memory" in " ".join(step.text for step in ran.steps)
        missed = await harness.client.ticks.why("light", datetime(2026, 1, 1, 0, 30, tzinfo=UTC))
        assert (missed.verdict, "records no skips" in missed.sentence) == ("no record", True)
        to_come = await harness.client.ticks.why("light", datetime(2026, 1, 1, 2, 30, tzinfo=UTC))
        assert to_come.verdict == "will run"
        assert "in memory" in [step.name for step in to_come.steps]


async def test_pause_edit_and_preview_of_a_schedule_in_memory() -> None:
    async with Harness(an_app(), START) as harness:
        await harness.advance(minutes=1)
        await harness.client.schedules.pause("light", actor="ada")
        await harness.advance(minutes=2)
        await harness.client.schedules.resume("light", actor="ada")
        await harness.client.schedules.update("light", trigger=every(minutes=2), actor="ada")
        await harness.advance(minutes=3)
        runs = await harness.runs("light")
        assert [run.scheduled_for.minute for run in runs if run.scheduled_for] == [1, 4, 6]
        assert [(skip.reason, skip.count) for skip in await harness.skips("light")] == [("paused", 2)]
        assert (await harness.client.ticks.verify("light")).findings == ()
