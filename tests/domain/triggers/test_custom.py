"""Custom triggers: registration, values, bounds and errors."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.metadata import EntryPoint, EntryPoints
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.triggers.cron.strategies import thorough
from tickbird.domain import plug_ins
from tickbird.domain.errors import InvalidError, TriggerError
from tickbird.domain.triggers import custom
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.custom import (
    MAX_STEPS,
    Custom,
    custom_trigger,
    find_custom,
    limited_calls,
    registered_customs,
)
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import any_of, read_trigger_line, trigger_from_json, trigger_text


@custom_trigger("test_workdays", describe=lambda days=1, hour=9: f"Every {days} workdays at {hour}:00")
def workdays(t: datetime, days: int = 1, hour: int = 9) -> datetime | None:
    """Days whose number is a multiple of `days`, but not on weekends."""
    at = t.replace(hour=hour, minute=0, second=0, microsecond=0)
    while at <= t or at.isoweekday() > 5 or at.day % days:
        at += timedelta(days=1)
        if at.year > 9000:
            return None
    return at


@custom_trigger("test_answer")
def answering(t: datetime, answer: Any = None) -> Any:
    """Return the configured result."""
    answers = {"same": t, "naive": datetime(2030, 1, 1), "micros": t + timedelta(microseconds=5), "text": "soon"}
    return answers[answer]


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    before = dict(custom._registered)
    yield
    custom._registered.clear()
    custom._registered.update(before)


def test_it_is_a_value() -> None:
    trigger = workdays(days=3, tz="Europe/Rome")
    assert trigger.to_json() == {"custom": "test_workdays", "params": {"days": 3}, "tz": "Europe/Rome"}
    assert trigger_from_json(trigger.to_json()) == trigger
    assert pickle.loads(pickle.dumps(trigger)) == trigger
    assert hash(workdays(days=3, tz="Europe/Rome")) == hash(trigger)
    assert trigger != workdays(days=3)
    assert workdays(hour=8, days=3) == workdays(days=3, hour=8)
    assert trigger.describe() == "Every 3 workdays at 9:00 (Europe/Rome)"
    assert answering(answer="same").describe() == "test_answer(answer='same')"
    assert trigger.next_after(datetime(2026, 1, 1, tzinfo=UTC)) == datetime(2026, 1, 6, 8, tzinfo=UTC)
    with pytest.raises(AttributeError):
        trigger.tz = "UTC"


@pytest.mark.parametrize("trigger", [workdays(), workdays(days=5), workdays(days=2, tz="Asia/Tokyo")])
def test_the_text_is_read_back(trigger: Custom) -> None:
    text = trigger_text(trigger.to_json())
    assert text is not None
    assert read_trigger_line(text, trigger.tz, datetime.fromisoformat) == trigger


@thorough
@given(st.integers(1, 9), st.integers(0, 3 * 10**9), st.integers(1, 10**8))
def test_previous_ticks_and_counts_agree_with_the_next_ones(days: int, start: int, span: int) -> None:
    trigger = workdays(days=days)
    ticks, tick = [], trigger.next_tick(start)
    while tick is not None and tick <= start + span:
        ticks.append(tick)
        tick = trigger.next_tick(tick)
    assert trigger.count(start, start + span) == len(ticks)
    for before, after in pairwise(ticks[:20]):
        assert trigger.previous_tick(after) == before
        assert trigger.previous_tick(after + 1) == after
    union = any_of(trigger, cron("0 9 * * 1"))
    assert union.count(start, start + span) == sum(1 for _ in walk(union, start, start + span))


def walk(trigger: Any, after: int, until: int) -> Iterator[int]:
    tick = trigger.next_tick(after)
    while tick is not None and tick <= until:
        yield tick
        tick = trigger.next_tick(tick)


def test_a_grid_that_ends_has_a_last_tick_and_one_that_is_empty_none() -> None:
    last = datetime(2026, 5, 1, tzinfo=UTC)
    ending = custom_trigger("test_ending")(lambda t: last if t < last else None)()
    assert ending.next_after(last) is None
    assert ending.previous_before(datetime(9000, 1, 1, tzinfo=UTC)) == last
    assert ending.previous_before(last) is None
    assert custom_trigger("test_empty")(lambda t: None)().previous_before(last) is None


@pytest.mark.parametrize(
    "answer, text",
    [
        ("same", "does not advance"),
        ("naive", "Return a datetime with a time zone"),
        ("text", "Return a datetime with a time zone"),
        ("micros", "whole seconds"),
        ("other", "raised KeyError"),
    ],
)
def test_result_of_a_function_is_checked(answer: str, text: str) -> None:
    with pytest.raises(TriggerError, match=text) as caught:
        answering(answer=answer).next_tick(0)
    assert "test_answer" in str(caught.value)


@pytest.mark.parametrize(
    "document, text",
    [
        ({"custom": "test_nobody"}, "'test_nobody' is not available here. Install the package"),
        ({"custom": 5}, "the name must be a text, not int"),
        ({"custom": "test_workdays", "params": {"weeks": 1}}, "unexpected keyword argument 'weeks'"),
        ({"custom": "test_workdays", "params": {"t": 1}}, "multiple values for argument 't'"),
        ({"custom": "test_workdays", "params": [1]}, "needs an object of params"),
        ({"custom": "test_workdays", "params": {"days": "x" * 20_000}}, "longer than 10,000 characters"),
        ({"custom": "test_workdays", "tz": "Mars/Phobos"}, "there is no time zone"),
        ({"custom": "test_workdays", "anchor": "2026-01-01"}, "'anchor' is not an option of custom"),
        ({"any_of": [{"any_of": [{"custom": "test_workdays"}]}]}, "custom trigger within an inner any_of"),
    ],
)
def test_refused_documents(document: dict[str, Any], text: str) -> None:
    with pytest.raises(TriggerError) as caught:
        trigger_from_json(document)
    assert text in str(caught.value)


def test_walks_are_bounded() -> None:
    often = custom_trigger("test_often")(lambda t: t + timedelta(seconds=1))()
    assert often.count(0, MAX_STEPS) == MAX_STEPS
    with pytest.raises(TriggerError, match="Give @custom_trigger a count function"):
        often.count(0, 10**9)
    counted = custom_trigger("test_counted", count=lambda after, until: int((until - after).total_seconds()))(
        lambda t: t + timedelta(seconds=1)
    )()
    assert counted.count(0, 10**9) == 10**9
    with pytest.raises(TriggerError, match="ticks too often to combine it"):
        any_of(counted, every(days=1)).count(0, 10**9)
    wrong = custom_trigger("test_wrong_count", count=lambda after, until: "many")(lambda t: t)()  # type: ignore[arg-type,return-value]
    with pytest.raises(TriggerError, match="returned the count 'many'"):
        wrong.count(0, 100)
    with limited_calls(5), pytest.raises(TriggerError, match="too many calls"):
        often.count(0, 100)


def test_a_name_belongs_to_one_function() -> None:
    def again(t: datetime) -> datetime | None:
        return None

    custom_trigger("test_mine")(again)
    custom_trigger("test_mine")(again)
    with pytest.raises(TriggerError, match="is already registered by"):
        custom_trigger("test_mine")(lambda t: None)
    with pytest.raises(InvalidError):
        custom_trigger("not a name")(again)


def test_entry_points_register_triggers(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    home = "tests.domain.triggers.test_custom"
    entries = [
        EntryPoint("test_workdays", f"{home}:workdays", custom.GROUP),
        EntryPoint("test_broken", f"{home}:nothing_there", custom.GROUP),
        EntryPoint("test_misnamed", f"{home}:workdays", custom.GROUP),
    ]
    monkeypatch.setattr(plug_ins, "entry_points", lambda group: EntryPoints(entries).select(group=group))
    monkeypatch.setattr(custom, "_registered", {})
    custom._plug_ins.cache_clear()
    try:
        assert find_custom("test_workdays") is workdays
        assert registered_customs() == ["test_workdays"]
        assert find_custom("test_broken") is None
        assert "custom trigger test_broken is not available" in caplog.text
        assert "it is not a function with @custom_trigger('test_misnamed')" in caplog.text
    finally:
        custom._plug_ins.cache_clear()


def test_a_function_without_a_fixed_grid_is_refused() -> None:
    """The next tick depends on the position of the instant between two ticks, so the grid is not fixed."""

    @custom_trigger("five_seconds_later")
    def later(t: datetime) -> datetime:
        return t + timedelta(seconds=5)

    with pytest.raises(TriggerError, match=r"has no fixed grid: after .* must not depend on the position of t"):
        later().next_tick(1_800_000_000)
