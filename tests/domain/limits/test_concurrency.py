"""Concurrency keys: the key of a run, and which waiting runs are released."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tickbird.domain.errors import DefinitionError
from tickbird.domain.limits.concurrency import Key, WaitingRun, check_concurrency_key, key_for, pick_releasable
from tickbird.domain.schedules.codec import decode_definition, encode_definition
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.triggers.every import every


def define(**policies: Any) -> Definition:
    return Definition(trigger=every(seconds=60), target=Target("work"), **policies)


@pytest.mark.parametrize(
    "template, payload, key",
    [
        ("warehouse", {}, "warehouse"),
        ("tenant:{tenant}", {"tenant": "acme"}, "tenant:acme"),
        ("{a}/{b}", {"a": 1, "b": "x{y}"}, "1/x{y}"),
        ("Lager Süd", {}, "Lager Süd"),
    ],
)
def test_key_is_rendered_from_the_payload(template: str, payload: dict[str, Any], key: str) -> None:
    assert key_for(check_concurrency_key(template), payload) == key


@pytest.mark.parametrize("template", ["", "a\nb", "{", "}", "{}", "a{b", "{a.b}", "{0}", "{a!r}", "x" * 201, 7, None])
def test_invalid_key_is_refused(template: Any) -> None:
    with pytest.raises(DefinitionError, match="Use a key such as"):
        check_concurrency_key(template)


@pytest.mark.parametrize("value", [None, 1.5, True, [], {}, ""])
def test_unusable_field_value_is_refused(value: Any) -> None:
    with pytest.raises(DefinitionError, match="neither a text nor a whole number"):
        key_for("{tenant}", {"tenant": value})


def test_rendered_key_that_is_too_long_is_refused() -> None:
    with pytest.raises(DefinitionError, match="longer than 200 characters"):
        key_for("{tenant}", {"tenant": "x" * 201})


def test_a_definition_is_refused_whose_payload_lacks_a_field_of_its_key() -> None:
    with pytest.raises(DefinitionError, match="needs the field 'tenant', which is not in the payload"):
        define(concurrency_key="tenant:{tenant}")


def test_key_is_stored_without_a_newer_format() -> None:
    definition = define(concurrency_key="tenant:{tenant}", payload={"tenant": "a"})
    encoded = encode_definition(definition)
    assert (encoded["v"], encoded["concurrency_key"]) == (1, "tenant:{tenant}")
    assert decode_definition(encoded) == definition
    assert "concurrency_key" not in encode_definition(define())
    assert (definition.key(), definition.key({"tenant": "b"}), define().key()) == ("tenant:a", "tenant:b", None)
    assert (define().has_fast_path, definition.has_fast_path) == (True, False)


KEYS: list[Key] = [("n", "a"), ("n", "b"), ("m", "a")]


@st.composite
def lines(draw: st.DrawFn) -> tuple[list[WaitingRun], dict[int, int], dict[Key, int]]:
    maximum = draw(st.dictionaries(st.integers(1, 5), st.none() | st.integers(1, 3), max_size=5))
    busy = {schedule: draw(st.integers(0, 3)) for schedule in maximum}
    room = draw(st.dictionaries(st.sampled_from(KEYS), st.integers(-2, 4)))
    waiters = []
    for number in range(draw(st.integers(0, 25))):
        schedule = draw(st.sampled_from([None, *maximum]))
        key = draw(st.none() | st.sampled_from(KEYS)) if schedule is not None else draw(st.sampled_from(KEYS))
        waiters.append(
            WaitingRun(number, schedule, draw(st.integers(-1, 1)), None if schedule is None else maximum[schedule], key)
        )
    return draw(st.permutations(waiters)), busy, room


# The second of schedule 1 waits for the first, which has a low priority; meanwhile the third one gets the only slot.
@example(
    (
        [WaitingRun(0, 1, -1, 2, None), WaitingRun(1, 1, 0, 2, KEYS[0]), WaitingRun(2, None, 0, None, KEYS[0])],
        {1: 0},
        {KEYS[0]: 1},
    )
)
@given(lines())
def test_releasable_runs_are_picked_by_priority_and_age(
    case: tuple[list[WaitingRun], dict[int, int], dict[Key, int]],
) -> None:
    waiters, busy, room = case
    chosen = pick_releasable(waiters, busy, room)
    by_id = {waiter.id: waiter for waiter in waiters}
    gone = [by_id[number] for number in chosen]
    assert len(set(chosen)) == len(chosen)
    taken = Counter(waiter.key for waiter in gone if waiter.key is not None)
    started = Counter(waiter.schedule_id for waiter in gone)
    # No limit is exceeded.
    for key, number in taken.items():
        assert number <= room.get(key, 0)
    for waiter in gone:
        if waiter.max_running is not None and waiter.schedule_id is not None:
            assert busy[waiter.schedule_id] + started[waiter.schedule_id] <= waiter.max_running
    for waiter in waiters:
        ahead = [
            one
            for one in waiters
            if one.schedule_id == waiter.schedule_id is not None and one.max_running is not None
            if one.id < waiter.id and one.id not in chosen
        ]
        if waiter.id in chosen:
            # No run passed the oldest one of a limited schedule.
            assert not ahead
            continue
        full = waiter.key is not None and taken[waiter.key] >= room.get(waiter.key, 0)
        stuck = (
            waiter.max_running is not None
            and waiter.schedule_id is not None
            and busy[waiter.schedule_id] + started[waiter.schedule_id] >= waiter.max_running
        )
        # No slot stays free that a waiting run could have taken.
        assert full or stuck or ahead
        # No run passed a waiting run without a slot of its key, except while it waited for its own schedule.
        if waiter.key is not None and not ahead and not stuck:
            rank = (-waiter.priority, waiter.id)
            older = [one.id for one in gone if one.schedule_id == waiter.schedule_id is not None and one.max_running]
            last = max((chosen.index(number) for number in older if number < waiter.id), default=-1)
            passed = [one for one in gone if one.key == waiter.key and (-one.priority, one.id) > rank]
            assert all(chosen.index(one.id) <= last for one in passed)


@given(lines(), st.integers(1, 3), st.dictionaries(st.integers(1, 2), st.integers(0, 3)))
def test_backfill_runs_come_after_other_runs(
    case: tuple[list[WaitingRun], dict[int, int], dict[Key, int]], concurrency: int, own: dict[int, int]
) -> None:
    waiters, busy, room = case
    aside = [
        replace(waiter, id=100 + waiter.id, backfill_id=1 + waiter.id % 2, concurrency=concurrency)
        for waiter in waiters
        if waiter.schedule_id is not None
    ]
    chosen = pick_releasable([*aside, *waiters], busy, room, own)
    usual = [number for number in chosen if number < 100]
    # They do not affect the others, and none is released while another run of its schedule waits.
    assert usual == pick_releasable(waiters, busy, room)
    left = {waiter.schedule_id for waiter in waiters if waiter.id not in chosen}
    gone = [waiter for waiter in aside if waiter.id in chosen]
    assert not left & {waiter.schedule_id for waiter in gone}
    for backfill_id, count in Counter(waiter.backfill_id for waiter in gone).items():
        assert count + own.get(backfill_id or 0, 0) <= concurrency
    both = [*gone, *(waiter for waiter in waiters if waiter.id in usual)]
    for key, count in Counter(waiter.key for waiter in both if waiter.key is not None).items():
        assert count <= room.get(key, 0)
    started = Counter(waiter.schedule_id for waiter in both)
    for waiter in both:
        if waiter.max_running is not None and waiter.schedule_id is not None:
            assert busy[waiter.schedule_id] + started[waiter.schedule_id] <= waiter.max_running


def test_release_order_does_not_depend_on_input_order() -> None:
    waiters = [WaitingRun(number, number % 3, 0, 2, ("n", "a")) for number in range(9)]
    forward, backward = (pick_releasable(given, {}, {("n", "a"): 4}) for given in (waiters, waiters[::-1]))
    assert forward == backward == [0, 1, 2, 3]
