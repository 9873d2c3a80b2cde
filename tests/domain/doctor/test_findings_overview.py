"""The findings of the Now page."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from conformance.steps import a_worker
from tickbird.domain.doctor.findings_overview import FindingsInput, overview_findings

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_worker_in_fallback_names_the_repair() -> None:
    held = replace(a_worker("w1"), standby_reason="plans nothing: its clock is wrong")
    fallen = replace(a_worker("w2"), standby_reason="fallback: it runs the ticks of 2 schedules")
    first, second = overview_findings(FindingsInput(now=NOW, workers=(held, fallen), planners=1), 10).findings
    assert first.text == "Worker w1 is held back: it plans nothing: its clock is wrong."
    assert second.text == "Worker w2 is in fallback: it runs the ticks of 2 schedules."
    assert second.fix.startswith("tickbird migrate --repair")
