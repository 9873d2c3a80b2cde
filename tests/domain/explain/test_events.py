"""The pure part of `events why`: the publisher, the position, and each group."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tickbird.domain.events.dead_letters import DeadLetter, LetterState
from tickbird.domain.events.event import Event
from tickbird.domain.events.groups import GroupOffset
from tickbird.domain.explain.events import EventContext, GroupExplanation, explain_event, first_blocker

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
EVENT = Event(
    id=uuid.UUID(int=7),
    namespace="default",
    topic="orders.paid",
    type="Paid",
    source="/tickbird/default",
    time=NOW,
    data={},
    key="42",
    headers={},
    tenant=None,
    published_at=NOW - timedelta(minutes=5),
    partition=3,
    position=50,
    stamped_at=NOW - timedelta(minutes=5),
    version=2,
)


def offset(position: int = 40, **fields: Any) -> GroupOffset:
    values: dict[str, Any] = {"topics": ("orders.*",), "state": "active", "reason": None, "is_leased": False}
    return GroupOffset(
        **{"group": "billing", "position": position, "paused_until": None, "error": None, **values, **fields}
    )


def letter(state: LetterState = "failed", letter_id: int = 9, position: int = 50, **fields: Any) -> DeadLetter:
    event = replace(EVENT, position=position)
    values: dict[str, Any] = {"failures": 3, "error": "Traceback …\nValueError: no total", "created_at": NOW}
    return DeadLetter(id=letter_id, group="billing", state=state, event=event, **{**values, **fields})


def explain_group(at: GroupOffset, event: Event = EVENT, **rows: Any) -> GroupExplanation:
    [group] = explain_event(EventContext(event=event, now=NOW, offsets=[at], **rows)).groups
    return group


def test_the_path_is_described() -> None:
    explanation = explain_event(EventContext(event=replace(EVENT, run_id=12), now=NOW))
    published, stamped = explanation.steps
    assert "run 12, which retention has removed" in published.text
    assert published.run_id == 12
    assert stamped.text == "It has position 50 of its namespace, version 2 of key '42', in partition 3."
    assert stamped.at == EVENT.stamped_at
    assert explanation.sentence == "This namespace has no consumer group."
    own = explain_event(EventContext(event=EVENT, now=NOW)).steps[0]
    assert own.text == "Published by /tickbird/default."
    part = replace(EVENT, transaction_id=uuid.UUID(int=1), ordinal=2, count=3)
    assert "Event 2 of 3" in explain_event(EventContext(event=part, now=NOW)).steps[1].text


def test_an_event_without_a_position_names_the_stamper_after_a_minute() -> None:
    event = replace(EVENT, position=None, version=None, stamped_at=None)
    late = explain_event(EventContext(event=event, now=NOW, offsets=[offset()]))
    assert late.steps[-1].ok is False
    assert "has not done so for 5 min: start `tickbird worker" in late.steps[-1].text
    assert late.groups[0].verdict == "waits"
    assert "not stamped yet" in late.sentence
    early = explain_event(EventContext(event=replace(event, published_at=NOW), now=NOW))
    assert early.steps[-1].ok is None
    assert "start" not in early.steps[-1].text


GROUPS: dict[str, tuple[GroupOffset, dict[str, Any], str, str, str]] = {
    "other topic": (offset(topics=("stock.#",)), {}, "not subscribed", "The group reads stock.#, not orders.paid.", ""),
    "read": (offset(50), {}, "handled", "up to position 50: it handled the event", ""),
    "behind": (
        offset(40),
        {},
        "waits",
        "The group has read partition 3 up to position 40, and this is position 50.",
        "tickbird consumers show billing",
    ),
    "leased": (offset(is_leased=True), {}, "in delivery", "A worker is delivering the partition now.", ""),
    "paused": (
        offset(paused_until=NOW + timedelta(seconds=30), error="OperationalError: refused"),
        {},
        "paused",
        "is paused until 2026-03-01 12:00:30 UTC (OperationalError: refused).",
        "Repair",
    ),
    "pause is over": (offset(paused_until=NOW - timedelta(seconds=1)), {}, "waits", "up to position 40", ""),
    "stopped": (
        offset(state="stopped", reason="events up to 45 were removed"),
        {},
        "stopped",
        "The group is stopped (events up to 45 were removed).",
        "tickbird consumers resume billing",
    ),
    "failed": (
        offset(50),
        {"letters": {"billing": letter()}},
        "failed",
        "Dead letter 9: It failed 3 times (ValueError: no total), and waits for a person.",
        "tickbird dead-letters replay 9",
    ),
    "proposed": (
        offset(50),
        {"letters": {"billing": letter(repair={"total": 1}, repaired_by="ana")}},
        "failed",
        "ana has proposed a repair",
        "tickbird dead-letters approve 9",
    ),
    "retrying": (
        offset(50),
        {"letters": {"billing": letter("retrying", retry_at=NOW + timedelta(minutes=1), failures=1)}},
        "retrying",
        "It failed once (ValueError: no total), and is delivered again on 2026-03-01 12:01:00 UTC.",
        "",
    ),
    "deferred": (
        offset(50),
        {"letters": {"billing": letter("deferred")}, "blockers": {"billing": letter("failed", 4, 45)}},
        "deferred",
        "It waits for dead letter 4, an earlier event of its key, which is failed.",
        "tickbird dead-letters show 4",
    ),
    "will be held": (
        offset(40),
        {"blockers": {"billing": letter("failed", 4, 35)}},
        "waits",
        "Then it waits for dead letter 4 of its key (failed).",
        "",
    ),
    "skipped": (
        offset(50),
        {"letters": {"billing": letter("skipped", resolved_by="ana", resolved_at=NOW, note="cancelled")}},
        "skipped",
        "It was skipped by ana on 2026-03-01 12:00:00 UTC after 3 failures (cancelled).",
        "",
    ),
    "stopped with a letter": (
        offset(50, state="stopped"),
        {"letters": {"billing": letter()}},
        "failed",
        "The group is stopped. It failed 3 times",
        "tickbird consumers resume billing",
    ),
}


@pytest.mark.parametrize("case", GROUPS.values(), ids=GROUPS.keys())
def test_each_group_has_a_verdict_and_the_next_step(
    case: tuple[GroupOffset, dict[str, Any], str, str, str],
) -> None:
    at, rows, verdict, text, fix = case
    group = explain_group(at, **rows)
    assert group.verdict == verdict
    assert text in group.text
    assert fix in group.fix
    assert bool(group.fix) or not fix


def test_the_sentence_sums_up_the_groups_that_read_the_topic() -> None:
    def sentence(*offsets: GroupOffset, **rows: Any) -> str:
        return explain_event(EventContext(event=EVENT, now=NOW, offsets=offsets, **rows)).sentence

    other = offset(0, group="stock", topics=("stock",))
    assert sentence(other) == "No consumer group reads orders.paid."
    done = offset(90, group="audit")
    assert sentence(done, other) == "orders.paid is done in every group that reads it: audit."
    assert sentence(done, offset(), other) == "orders.paid is done in 1 of 2 groups. billing: waits."
    assert "billing: failed" in sentence(done, offset(50), letters={"billing": letter()})


def test_a_failed_letter_blocks_before_an_earlier_retry() -> None:
    letters = [letter("retrying", 1, 10), letter("failed", 2, 20), letter("failed", 3, 60), letter("skipped", 4, 5)]
    found = first_blocker(EVENT, letters)
    assert found is not None
    assert found.id == 2
    assert first_blocker(EVENT, letters[2:]) is None
    retrying = first_blocker(EVENT, letters[:1])
    assert retrying is not None
    assert retrying.id == 1
