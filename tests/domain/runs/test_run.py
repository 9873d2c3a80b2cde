"""Properties of a run."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, get_args

import pytest

from tickbird.domain.runs.run import TICK_ORIGINS, Origin, RunMetadata, RunRecord

TICK = datetime(2026, 1, 1, 9, tzinfo=UTC)


def a_run(**values: Any) -> RunRecord:
    """A run with these fields and no others."""
    return RunRecord(**{**dict.fromkeys(field.name for field in fields(RunRecord)), **values})


@pytest.mark.parametrize("origin", sorted(TICK_ORIGINS))
def test_a_tick_names_the_cron_expression(origin: Origin) -> None:
    run = a_run(origin=origin, schedule="digest", scheduled_for=TICK, cron_spec="0 9 * * *")
    assert run.trigger == "schedule:0 9 * * *"
    assert run.metadata == RunMetadata("cron", "digest", TICK)


@pytest.mark.parametrize("origin", sorted(TICK_ORIGINS))
def test_tick_of_another_trigger_has_no_cron_expression(origin: Origin) -> None:
    run = a_run(origin=origin, schedule="digest", scheduled_for=TICK)
    assert run.trigger == "schedule"
    assert run.metadata == RunMetadata("schedule", "digest", TICK)


@pytest.mark.parametrize("origin", sorted(set(get_args(Origin)) - TICK_ORIGINS))
def test_any_other_run_names_its_origin(origin: Origin) -> None:
    run = a_run(origin=origin, schedule="digest", cron_spec="0 9 * * *")
    assert run.trigger == origin
    assert run.metadata == RunMetadata(origin, "digest", None)
