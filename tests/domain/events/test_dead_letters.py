"""Units, and which of them a quarantine holds back, against definitions that look at every pair."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from tickbird.domain.events.dead_letters import Candidate, deliverable, hold_units
from tickbird.domain.events.deliveries import (
    Delivery,
    DeliveryItem,
    PartitionLease,
    Unit,
    split_units,
    success,
)
from tickbird.domain.events.event import Event

AT = datetime(2026, 1, 1, tzinfo=UTC)
KEYS = st.sampled_from([None, "a", "b", "c"])


def an_event(position: int, key: str | None, transaction: int | None) -> Event:
    return Event(
        id=UUID(int=position),
        namespace="default",
        topic="orders.paid",
        type="Paid",
        source="/test",
        time=AT,
        data={},
        key=key,
        headers={},
        tenant=None,
        published_at=AT,
        partition=0,
        position=position,
        transaction_id=None if transaction is None else UUID(int=transaction),
    )


@dataclass(frozen=True)
class Letter:
    """A dead letter as the store has it."""

    event: Event
    # False: failed, or its retry is not due.
    is_due: bool
    # A part of its transaction in another partition has failed.
    is_blocked: bool

    @property
    def position(self) -> int:
        assert self.event.position is not None
        return self.event.position


@st.composite
def partitions(draw: st.DrawFn) -> list[list[Event]]:
    """The units of a partition: single events, and transactions. Positions have gaps, for other partitions."""
    units: list[list[Event]] = []
    position = 0
    for number in range(draw(st.integers(0, 8))):
        size = draw(st.integers(1, 3))
        transaction = None if size == 1 and draw(st.booleans()) else number + 1
        unit = []
        for _ in range(size):
            position += draw(st.integers(1, 3))
            unit.append(an_event(position, draw(KEYS), transaction))
        units.append(unit)
    return units


@st.composite
def quarantines(draw: st.DrawFn) -> list[list[Letter]]:
    """The unresolved letters of a partition, by unit."""
    return [
        [
            Letter(event, draw(st.sampled_from([True, True, False])), is_blocked)
            for is_blocked in [draw(st.sampled_from([False, False, False, True]))]
            for event in unit
        ]
        for unit in draw(partitions())
    ]


def shares_key(unit: list[Event], earlier: list[Event]) -> bool:
    return any(one.key is not None and one.key == two.key for one in unit for two in earlier)


def candidates_of(units: list[list[Letter]]) -> list[Candidate]:
    """What a store passes: due letters without an earlier letter of the key, or the same one, that is not due."""
    letters = [letter for unit in units for letter in unit]
    return [
        Candidate(DeliveryItem(letter.event), len(unit), letter.is_blocked)
        for unit in units
        for letter in unit
        if letter.is_due
        and not any(
            earlier.event.key is not None
            and earlier.event.key == letter.event.key
            and earlier.position <= letter.position
            and not earlier.is_due
            for earlier in letters
        )
    ]


def waits(units: list[list[Letter]], number: int) -> bool:
    """By definition: a part has to wait, or an earlier unit that has to wait has one of its keys."""
    unit = units[number]
    if any(letter.is_blocked or not letter.is_due for letter in unit):
        return True
    events = [letter.event for letter in unit]
    return any(
        waits(units, before) and shares_key(events, [letter.event for letter in units[before]])
        for before in range(number)
    )


def numbers(units: list[Unit]) -> list[list[int]]:
    return [list(unit.positions) for unit in units]


@given(quarantines())
def test_a_unit_is_delivered_unless_a_part_or_an_earlier_unit_of_a_key_waits(units: list[list[Letter]]) -> None:
    expected = [[letter.position for letter in unit] for number, unit in enumerate(units) if not waits(units, number)]
    assert numbers(deliverable(candidates_of(units))) == expected


@given(quarantines(), st.integers(1, 6))
def test_a_limit_ends_after_the_unit_that_reaches_it(units: list[list[Letter]], limit: int) -> None:
    everything = numbers(deliverable(candidates_of(units)))
    expected: list[list[int]] = []
    while sum(map(len, expected)) < limit and len(expected) < len(everything):
        expected.append(everything[len(expected)])
    assert numbers(deliverable(candidates_of(units), limit)) == expected


def is_held(units: list[list[tuple[Event, bool]]], number: int) -> bool:
    """By definition: a part is marked, or an earlier unit that is held has one of its keys."""
    unit = units[number]
    events = [event for event, _ in unit]
    return any(marked for _, marked in unit) or any(
        is_held(units, before) and shares_key(events, [event for event, _ in units[before]]) for before in range(number)
    )


@given(partitions(), st.data())
def test_a_held_unit_holds_later_ones_with_its_keys(partition: list[list[Event]], data: st.DataObject) -> None:
    marks = st.sampled_from([False, False, False, True])
    units = [[(event, data.draw(marks)) for event in unit] for unit in partition]
    items = hold_units(pair for unit in units for pair in unit)
    assert [item.event for item in items] == [event for unit in partition for event in unit]
    expected = [is_held(units, number) for number, unit in enumerate(units) for _ in unit]
    assert [item.is_held for item in items] == expected


@given(partitions())
def test_units_are_single_events_and_transactions(partition: list[list[Event]]) -> None:
    units = split_units(DeliveryItem(event) for unit in partition for event in unit)
    assert [unit.events for unit in units] == [tuple(unit) for unit in partition]
    assert [unit.keys for unit in units] == [{event.key for event in unit} - {None} for unit in partition]


def test_a_unit_has_failed_as_often_as_its_worst_part() -> None:
    unit = Unit((DeliveryItem(an_event(1, "a", 1), failures=2), DeliveryItem(an_event(2, "b", 1), failures=5)))
    assert unit.failures == 5
    assert not unit.is_held


@given(partitions(), st.data())
def test_a_success_is_about_the_units_so_far(partition: list[list[Event]], data: st.DataObject) -> None:
    marks = data.draw(st.lists(st.booleans(), min_size=len(partition), max_size=len(partition)))
    items = hold_units((event, mark) for unit, mark in zip(partition, marks, strict=True) for event in unit)
    delivery = Delivery(
        lease=PartitionLease("default", "billing", 0, 1), consumer="billing", after=0, through=100, items=items
    )
    units = delivery.units()
    number = data.draw(st.integers(0, len(units)))
    outcome = success(delivery, units[:number], is_whole=number == len(units))
    handled = [item for unit in units[:number] for item in unit.items]
    assert outcome.delivered == tuple(item.position for item in handled if not item.is_held)
    assert outcome.deferred == tuple(item.position for item in handled if item.is_held)
    last = handled[-1].position if handled else 0
    assert outcome.through == (100 if number == len(units) else last)
    assert (outcome.after, outcome.failure, outcome.pause) == (0, None, None)
