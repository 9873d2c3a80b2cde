"""Metrics: their names, their text, and whose they are."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest

from conformance.events import steps
from conformance.steps import T0, a_worker
from tests.api.conftest import Api, refused
from tickbird.api.routes.metrics import MEDIA_TYPE, READ_INTERVAL, MetricsCache
from tickbird.domain.doctor.metrics import MAX_GROUPS, NamespaceMetrics
from tickbird.domain.doctor.prometheus import write_gauges
from tickbird.domain.events.groups import MAX_COUNTED, ConsumerGroup, PartitionStatus
from tickbird.domain.runs.run import NewRun
from tickbird.domain.schedules.definition import Target

# They stay.
NAMES = [
    "tickbird_schedules",
    "tickbird_runs",
    "tickbird_runs_held",
    "tickbird_runs_undecided",
    "tickbird_runs_ended_recently",
    "tickbird_queued_age_seconds",
    "tickbird_planning_lag_seconds",
    "tickbird_workers",
    "tickbird_workers_draining",
    "tickbird_worker_slots",
    "tickbird_leader_term",
    "tickbird_leader_heartbeat_age_seconds",
    "tickbird_event_position",
    "tickbird_unstamped_age_seconds",
    "tickbird_counts_capped",
]
OF_GROUPS = [
    "tickbird_consumer_lag",
    "tickbird_consumer_lag_seconds",
    "tickbird_consumer_stopped",
    "tickbird_dead_letters",
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


async def test_what_groups_have_read(api: Api) -> None:
    await steps.declare(api.store)
    await steps.publish(api.store, steps.A, steps.B, steps.C)
    await steps.consume(api.store, fails=lambda event: event.key == steps.A)
    await api.store.consumers.seek("default", steps.GROUP, 2, "ada")
    found = values((await api.ask("GET", "/metrics", "viewer")).text)
    assert found['tickbird_event_position{namespace="default"}'] == 3
    assert found['tickbird_consumer_lag{namespace="default",group="billing"}'] == 1
    assert found['tickbird_consumer_lag_seconds{namespace="default",group="billing"}'] >= 0
    assert found['tickbird_dead_letters{namespace="default",group="billing",state="failed"}'] == 1


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


def group(name: str = "billing", lag: int = 0, **fields: Any) -> ConsumerGroup:
    values: dict[str, Any] = {"app": "shop", "topics": ("#",), "state": "active", "reason": None, "scratch_of": None}
    part = PartitionStatus(
        partition=0,
        position=5,
        lag=lag,
        oldest_at=T0 - timedelta(seconds=90) if lag else None,
        worker=None,
        leased_until=None,
        paused_until=None,
        error=None,
    )
    given = {**values, "created_at": T0, "declared_at": T0, "partitions": (part,), **fields}
    return ConsumerGroup(name=name, **given)


def test_each_group_has_its_lag_and_its_dead_letters() -> None:
    measures = NamespaceMetrics(T0, unstamped_since=T0 - timedelta(seconds=61)).with_events(
        50, [group(lag=3, dead_letters={"failed": 2, "delivered": 9}), group("stopped", state="stopped")]
    )
    text = write_gauges("a", measures)
    found = values(text)
    assert found['tickbird_event_position{namespace="a"}'] == 50
    assert found['tickbird_unstamped_age_seconds{namespace="a"}'] == 61
    assert found['tickbird_consumer_lag{namespace="a",group="billing"}'] == 3
    assert found['tickbird_consumer_lag_seconds{namespace="a",group="billing"}'] == 90
    assert found['tickbird_consumer_lag_seconds{namespace="a",group="stopped"}'] == 0
    assert found['tickbird_consumer_stopped{namespace="a",group="stopped"}'] == 1
    assert found['tickbird_dead_letters{namespace="a",group="billing",state="failed"}'] == 2
    assert "delivered" not in text
    assert found['tickbird_counts_capped{namespace="a"}'] == 0
    assert sorted(re.findall(r"# TYPE (\S+) gauge", text)) == sorted([*NAMES, *OF_GROUPS])


def test_only_the_first_groups_have_values() -> None:
    capped = 'tickbird_counts_capped{namespace="a"}'
    groups = [group(f"g{number:03}") for number in range(MAX_GROUPS + 1)]
    found = values(write_gauges("a", NamespaceMetrics(T0).with_events(0, groups)))
    assert len([name for name in found if name.startswith("tickbird_consumer_lag{")]) == MAX_GROUPS
    assert found[capped] == 1
    assert values(write_gauges("a", NamespaceMetrics(T0).with_events(0, groups[:-1])))[capped] == 0
    many = NamespaceMetrics(T0).with_events(0, [group(lag=MAX_COUNTED + 1)])
    assert values(write_gauges("a", many))[capped] == 1


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


async def test_the_leader_is_measured(api: Api) -> None:
    await api.store.leadership.elect(a_worker("w1"), 600)
    text = (await api.ask("GET", "/metrics", "viewer")).text
    assert re.search(r'^tickbird_leader_term\{namespace="\w+"\} 1$', text, re.MULTILINE)
    assert re.search(r'^tickbird_leader_heartbeat_age_seconds\{namespace="\w+"\} 0\.\d+$', text, re.MULTILINE)
