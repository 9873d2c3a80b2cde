"""Event logs keep their promises in any order of steps, and the simulation finds mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from lab.simulation.event_logs import play_logs
from tests.simulation.mutations import Patch, change_sql
from tickbird.domain.events.deliveries import DeliveryItem
from tickbird.domain.events.event import Event
from tickbird.store.sqlite import consumers, deliveries

SEEDS = 20
STEPS = 300
# Each bug shows within this many seeds.
MAX_SEEDS = 40


def test_no_seed_breaks_a_promise() -> None:
    played = play_logs(range(SEEDS), STEPS)
    assert not played.broken, "\n".join(played.broken)
    assert played.calls > SEEDS * STEPS / 4


def later_events_do_not_wait(patch: Patch) -> None:
    """An event of a quarantined key is delivered at once."""

    def without_holding(items: Iterable[tuple[Event, bool]]) -> tuple[DeliveryItem, ...]:
        return tuple(DeliveryItem(event) for event, _ in items)

    patch.setattr(deliveries, "hold_units", without_holding)


def every_token_is_accepted(patch: Patch) -> None:
    """A worker that has lost its lease finishes."""
    change_sql(patch, "release_partition", "token = :token", "token >= :token")


def deferred_events_are_forgotten(patch: Patch) -> None:
    """The offset moves, but an event that waits for an earlier one gets no letter."""
    finishing = deliveries.finishing_delivery

    def without_deferred(outcome: Any, *values: Any) -> Any:
        return finishing(replace(outcome, deferred=()), *values)

    for module in (consumers, deliveries):
        patch.setattr(module, "finishing_delivery", without_deferred)


def failed_letters_block_nothing(patch: Patch) -> None:
    """Later letters of a key are delivered before the earlier ones."""
    change_sql(patch, "read_due_letters", "b.position <= l.position", "b.position < 0")


@pytest.mark.parametrize(
    "put_in",
    [later_events_do_not_wait, every_token_is_accepted, deferred_events_are_forgotten, failed_letters_block_nothing],
)
def test_a_mistake_is_found(put_in: Callable[[Patch], None], monkeypatch: Patch) -> None:
    put_in(monkeypatch)
    assert any(play_logs(range(seed, seed + 1), STEPS).broken for seed in range(MAX_SEEDS))
