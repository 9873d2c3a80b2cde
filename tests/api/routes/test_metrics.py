"""Metrics: their names, their text, and whose they are."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest

from conformance.steps import T0
from tests.api.conftest import Api, refused
from tickbird.api.routes.metrics import MEDIA_TYPE, READ_INTERVAL, MetricsCache
from tickbird.domain.doctor.metrics import NamespaceMetrics
from tickbird.domain.doctor.prometheus import write_gauges
from tickbird.domain.runs.run import NewRun
from tickbird.domain.schedules.definition import Target

# They stay.
NAMES = [
    "tickbird_schedules",
    "tickbird_runs",
    "tickbird_runs_held",
    "tickbird_runs_ended_recently",
    "tickbird_queued_age_seconds",
    "tickbird_planning_lag_seconds",
    "tickbird_workers",
    "tickbird_workers_draining",
    "tickbird_worker_slots",
    "tickbird_counts_capped",
]
LINE = re.compile(r'(tickbird_\w+)\{((?:\w+="(?:[^"\\\n]|\\.)*",?)+)\} (\d+(?:\.\d+)?(?:e[+-]\d+)?)')


def values(text: str) -> dict[str, float]:
    """Each line of a text, which must be as Prometheus reads it, by name and labels."""
    assert text.endswith("\n")
    found: dict[str, float] = {}
    for line in text.splitlines():
        if not line.startswith(("# HELP tickbird_", "# TYPE tickbird_")):
            match = LINE.fullmatch(line)
            assert match, line
            found[f"{match[1]}{{{match[2]}}}"] = float(match[3])
    return found


async def test_what_there_is(api: Api) -> None:
    await api.create("digest")
    await api.create("other", "elsewhere")
    await api.store.runs.enqueue("default", [NewRun(Target("work"), {}) for _ in range(3)], "ada")
    answer = await api.ask("GET", "/metrics", "viewer")
    assert (answer.status_code, answer.headers["content-type"]) == (200, MEDIA_TYPE)
    found = values(answer.text)
    assert re.findall(r"# TYPE (\S+) gauge", answer.text) == NAMES
    assert found['tickbird_schedules{namespace="default",state="active"}'] == 1
    assert found['tickbird_runs{namespace="default",status="queued"}'] == 3
    assert "elsewhere" not in answer.text
    assert "digest" not in answer.text


async def test_who_may_see_what(memory: Api) -> None:
    refused(await memory.plain("GET", "/metrics"), 401, "unauthorized")
    refused(await memory.ask("GET", "/metrics", "viewer", "a", params={"namespace": "b"}), 403, "closed-namespace")
    refused(await memory.ask("GET", "/metrics", "admin", "a", "b"), 400, "no-namespace")
    # The token that `tickbird server` recommends.
    assert 'namespace="default"' in (await memory.ask("GET", "/metrics", "admin", "*")).text
    answer = await memory.ask("GET", "/metrics", "admin", "*", params={"namespace": "b"})
    assert 'namespace="b"' in answer.text


def test_ages_and_odd_names() -> None:
    measures = NamespaceMetrics(
        T0, {"active": 1_234_567}, queued_since=T0 - timedelta(seconds=90.5), due_since=T0 + timedelta(1)
    )
    found = values(write_gauges('a"b\\c\nd', measures))
    label = 'namespace="a\\"b\\\\c\\nd"'
    assert found[f"tickbird_queued_age_seconds{{{label}}}"] == 90.5
    assert found[f"tickbird_planning_lag_seconds{{{label}}}"] == 0
    assert found[f'tickbird_schedules{{{label},state="active"}}'] == 1_234_567


async def test_the_store_is_looked_at_every_few_seconds_only(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    real = type(api.store.statistics).read_metrics

    async def counted(self: Any, namespace: str, **bounds: Any) -> Any:
        looks.append(namespace)
        return await real(self, namespace, **bounds)

    monkeypatch.setattr(type(api.store.statistics), "read_metrics", counted)
    now = [0.0]
    gauges = MetricsCache(api.client(), lambda: now[0])
    for namespace in ("a", "a", "b", "a"):
        await gauges.of(namespace)
    assert looks == ["a", "b"]
    now[0] += READ_INTERVAL
    await gauges.of("a")
    assert looks == ["a", "b", "a"]
