"""docs/monitoring.md names every metric of /metrics, and no other; so do the alert rules on it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tickbird.domain.doctor.metrics import RECENTLY, NamespaceMetrics
from tickbird.domain.doctor.prometheus import write_gauges
from tickbird.domain.events.groups import ConsumerGroup

yaml: Any = pytest.importorskip("yaml")
PAGE = (Path(__file__).parents[2] / "docs" / "monitoring.md").read_text()
_SAMPLE = re.compile(r"^(tickbird_\w+)\{([^}]*)\}", re.MULTILINE)
_METRIC = re.compile(r"\b(tickbird_[a-z_]+)\b(?:\{(\w+)=\"(\w+)\"\})?")


def samples() -> list[tuple[str, dict[str, str]]]:
    """Each sample of a namespace with one consumer group: the metric and its labels."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    group = ConsumerGroup(
        name="billing",
        app="shop",
        topics=("#",),
        state="active",
        reason=None,
        scratch_of=None,
        created_at=now,
        declared_at=now,
    )
    text = write_gauges("default", NamespaceMetrics(now=now).with_events(0, [group]))
    return [(name, dict(re.findall(r'(\w+)="([^"]*)"', labels))) for name, labels in _SAMPLE.findall(text)]


def rules() -> list[dict[str, Any]]:
    [text] = [block for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if "groups:" in block]
    return [rule for group in yaml.safe_load(text)["groups"] for rule in group["rules"]]


def test_the_table_has_every_metric_with_its_labels() -> None:
    table = dict(re.findall(r"^\| `(tickbird_\w+)` \| (.*?) \|", PAGE, re.MULTILINE))
    assert set(table) == {name for name, _ in samples()}
    for name, labels in samples():
        assert re.findall(r"`(\w+)`", table[name]) == [label for label in labels if label != "namespace"]


def test_every_metric_that_the_page_names_exists() -> None:
    for name, label, value in _METRIC.findall(PAGE):
        matching = [labels for known, labels in samples() if known == name]
        assert matching, name
        assert not label or any(labels.get(label) == value for labels in matching), (name, label, value)
    assert f"the last {RECENTLY} seconds" in PAGE


def test_alert_rules_are_complete() -> None:
    assert len(rules()) == 6
    for rule in rules():
        assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
        assert _METRIC.search(rule["expr"])
