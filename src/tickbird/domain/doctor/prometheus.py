"""Metrics in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

from tickbird.domain.doctor.metrics import RECENTLY, NamespaceMetrics
from tickbird.domain.events.dead_letters import UNRESOLVED

_STATES: Final = ("active", "paused", "parked", "ended")
_ACTIVE: Final = ("waiting", "queued", "running")
_FINAL: Final = ("succeeded", "failed", "cancelled")
# The name, which never changes, the help, and values by labels.
Metric = tuple[str, str, Mapping[tuple[tuple[str, str], ...], float]]


def write_gauges(namespace: str, measures: NamespaceMetrics) -> str:
    lines: list[str] = []
    for name, meaning, values in _metrics(measures):
        lines += [f"# HELP tickbird_{name} {meaning}", f"# TYPE tickbird_{name} gauge"]
        for labels, value in values.items():
            pairs = ",".join(f'{key}="{_escaped(text)}"' for key, text in (("namespace", namespace), *labels))
            lines.append(f"tickbird_{name}{{{pairs}}} {value}")
    return "\n".join(lines) + "\n"


def _metrics(measures: NamespaceMetrics) -> Iterator[Metric]:
    unlabelled = ()
    yield "schedules", "Schedules by state.", _by("state", _STATES, measures.schedules)
    yield "runs", "Runs that are not final, by status.", _by("status", _ACTIVE, measures.runs)
    yield "runs_held", "Waiting runs that are held until a person releases them.", {unlabelled: measures.held}
    yield (
        "runs_undecided",
        "Runs of lost workers that wait for the answer whether they had their effect.",
        {unlabelled: measures.undecided},
    )
    yield (
        "runs_ended_recently",
        f"Runs that became final in the last {RECENTLY} seconds, by status.",
        _by("status", _FINAL, measures.ended),
    )
    yield (
        "queued_age_seconds",
        "Age of the oldest queued run that could have started.",
        {unlabelled: _age(measures.now, measures.queued_since)},
    )
    yield (
        "planning_lag_seconds",
        "Age of the oldest tick that is due and not planned.",
        {unlabelled: _age(measures.now, measures.due_since)},
    )
    yield "workers", "Live workers.", {unlabelled: measures.workers}
    yield "workers_draining", "Live workers that claim no new runs.", {unlabelled: measures.draining}
    yield "worker_slots", "Runs that live workers can execute at a time.", {unlabelled: measures.slots}
    yield (
        "leader_term",
        "Term of the leader; 0 without one, or without leader mode.",
        {unlabelled: measures.leader_term},
    )
    yield (
        "leader_heartbeat_age_seconds",
        "Seconds since the last heartbeat of the leader.",
        {unlabelled: _age(measures.now, measures.leader_heartbeat_at)},
    )
    yield "event_position", "Position of the newest event.", {unlabelled: measures.event_position}
    yield (
        "unstamped_age_seconds",
        "Age of the oldest committed event that has no position, if no worker stamps.",
        {unlabelled: _age(measures.now, measures.unstamped_since)},
    )
    groups = {(("group", group.name),): group for group in measures.groups}
    if groups:
        yield "consumer_lag", "Events that a group has not read.", {label: one.lag for label, one in groups.items()}
        yield (
            "consumer_lag_seconds",
            "Age of the oldest event that a group has not read.",
            {label: _age(measures.now, group.oldest_at) for label, group in groups.items()},
        )
        yield (
            "consumer_stopped",
            "1 if a group is stopped.",
            {label: int(group.state == "stopped") for label, group in groups.items()},
        )
        yield (
            "dead_letters",
            "Dead letters that are not resolved, by group and state.",
            {
                (*label, ("state", state)): group.dead_letters.get(state, 0)
                for label, group in groups.items()
                for state in UNRESOLVED
            },
        )
    yield "counts_capped", "1 if a count has reached its maximum.", {unlabelled: int(measures.capped)}


def _by(label: str, known: tuple[str, ...], counts: Mapping[str, int]) -> dict[tuple[tuple[str, str], ...], float]:
    return {((label, value),): counts.get(value, 0) for value in known}


def _age(now: datetime, since: datetime | None) -> float:
    return 0.0 if since is None else round(max(0.0, (now - since).total_seconds()), 3)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
