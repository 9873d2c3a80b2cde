"""Deliveries on PostgreSQL: the next events of a leased partition, and the statements of an outcome."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from tickbird.domain.events.dead_letters import MAX_ERROR, Candidate, deliverable, hold_units
from tickbird.domain.events.deliveries import (
    ClaimedDeliveries,
    Delivery,
    DeliveryItem,
    DeliveryOutcome,
    GroupRequest,
    PartitionLease,
    split_units,
)
from tickbird.domain.events.topics import pattern_regex
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.events import to_event
from tickbird.store.postgres.rows import numbers, texts
from tickbird.store.shared.json_columns import clean
from tickbird.store.shared.statement_scripts import StatementScript

# A claim reads at least this many candidates among the letters of a partition: 1,000 events can be published together.
_MIN_CANDIDATES: Final = 2_000


@dataclass(frozen=True, slots=True)
class _Partition:
    """A partition that was leased just now."""

    lease: PartitionLease
    consumer: str
    position: int
    crashes: int
    pauses: int
    has_letters: bool
    # The batch of its consumer.
    max_events: int
    topics: str | None

    @property
    def batch(self) -> int:
        # After a crash, one unit: it may be the cause.
        return 1 if self.crashes else self.max_events

    def delivery(self, items: tuple[DeliveryItem, ...], through: int, *, is_redelivery: bool) -> Delivery:
        return Delivery(
            lease=self.lease,
            consumer=self.consumer,
            after=self.position,
            through=through,
            items=items,
            is_redelivery=is_redelivery,
            crashes=self.crashes,
            pauses=self.pauses,
        )


async def claim_deliveries(
    db: Session,
    namespace: str,
    groups: Sequence[GroupRequest],
    worker: str,
    *,
    limit: int,
    lease: float,
    now: datetime | None,
) -> ClaimedDeliveries:
    rows = await db.fetch_named(
        "lease_partitions",
        namespace=namespace,
        groups=texts([group.name for group in groups]),
        batches=numbers([group.batch for group in groups]),
        worker=worker,
        limit=limit,
        lease=lease,
        now=now,
    )
    at, more, next_at = rows[0]["now"], rows[0]["more"], rows[0]["next_at"]
    rows = [row for row in rows if row["consumer_group"] is not None]
    leased = [_to_partition(namespace, row) for row in rows]
    await _deliver_one_by_one(db, namespace, [one for one, row in zip(leased, rows, strict=True) if row["is_lost"]])
    deliveries = await _read_letters(db, namespace, [partition for partition in leased if partition.has_letters], at)
    redelivered = {delivery.lease for delivery in deliveries}
    if unread := [partition for partition in leased if partition.lease not in redelivered]:
        found, is_bounded = await _read_events(db, namespace, unread)
        deliveries += found
        more = more or is_bounded
    deliveries.sort(key=lambda delivery: (delivery.lease.group, delivery.lease.partition))
    return ClaimedDeliveries(tuple(deliveries), at, next_at, more)


def _to_partition(namespace: str, row: Mapping[str, Any]) -> _Partition:
    return _Partition(
        PartitionLease(namespace, row["consumer_group"], row["partition"], row["token"]),
        row["consumer"],
        row["position"],
        row["crashes"],
        row["pauses"],
        row["has_letters"],
        row["batch"],
        topics_regex(row["topics"]),
    )


def topics_regex(topics: Sequence[str]) -> str | None:
    """One regular expression for all patterns; None if all topics match."""
    return None if "#" in topics else "|".join(map(pattern_regex, topics))


async def _deliver_one_by_one(db: Session, namespace: str, partitions: Sequence[_Partition]) -> None:
    if partitions:
        await db.execute(
            "deliver_one_by_one",
            namespace=namespace,
            batches=numbers([partition.max_events for partition in partitions]),
            topics=texts([partition.topics for partition in partitions]),
            **_partition_values(partitions),
        )


async def _read_letters(db: Session, namespace: str, partitions: Sequence[_Partition], now: datetime) -> list[Delivery]:
    """The dead letters that can be delivered now."""
    if not partitions:
        return []
    rows = await db.fetch_named(
        "read_due_letters",
        namespace=namespace,
        limits=numbers([max(2 * partition.batch, _MIN_CANDIDATES) for partition in partitions]),
        now=now,
        **_partition_values(partitions),
    )
    candidates = _rows_by_partition(rows, partitions)
    deliveries = []
    idle: list[tuple[_Partition, bool]] = []
    for partition, own in zip(partitions, candidates, strict=True):
        units = deliverable(map(_to_candidate, own), partition.batch)
        if items := tuple(item for unit in units for item in unit.items):
            deliveries.append(partition.delivery(items, items[-1].position, is_redelivery=True))
        else:
            idle.append((partition, bool(own)))
    if idle:
        flags = ",".join(str(has_candidates) for _, has_candidates in idle)
        values = _partition_values([partition for partition, _ in idle])
        await db.execute("postpone_letters", namespace=namespace, candidates=f"{{{flags}}}", now=now, **values)
    return deliveries


def _to_candidate(row: Mapping[str, Any]) -> Candidate:
    event = to_event(dict(row))
    # A repair without an approval is only a proposal.
    if row["approved_by"] is not None:
        event = replace(event, data=row["repair"])
    return Candidate(DeliveryItem(event, row["failures"]), row["unit_size"], row["is_blocked"])


async def _read_events(db: Session, namespace: str, partitions: Sequence[_Partition]) -> tuple[list[Delivery], bool]:
    """The next events, and true if a partition has skipped the maximum number of events of other topics."""
    rows = await db.fetch_named(
        "read_deliveries",
        namespace=namespace,
        offsets=numbers([partition.position for partition in partitions]),
        batches=numbers([partition.batch for partition in partitions]),
        topics=texts([partition.topics for partition in partitions]),
        **_partition_values(partitions),
    )
    deliveries = []
    released: list[tuple[_Partition, int]] = []
    for partition, own in zip(partitions, _rows_by_partition(rows, partitions), strict=True):
        through = own[0]["through"]
        items = hold_units((to_event(row), row["is_held"]) for row in own if row["position"] is not None)
        if not items:
            released.append((partition, partition.position if through is None else through))
            continue
        if partition.crashes and len(units := split_units(items)) > 1:
            items, through = units[0].items, units[0].positions[-1]
        deliveries.append(partition.delivery(items, through, is_redelivery=False))
    if released:
        await db.execute(
            "release_partitions",
            namespace=namespace,
            offsets=numbers([position for _, position in released]),
            **_partition_values([partition for partition, _ in released]),
        )
    return deliveries, any(position > partition.position for partition, position in released)


def _partition_values(partitions: Sequence[_Partition]) -> dict[str, str]:
    return {
        "groups": texts([partition.lease.group for partition in partitions]),
        "partitions": numbers([partition.lease.partition for partition in partitions]),
    }


def _rows_by_partition(rows: Sequence[dict[str, Any]], partitions: Sequence[_Partition]) -> list[list[dict[str, Any]]]:
    """The rows of each partition, in the order of `partitions`."""
    groups: list[list[dict[str, Any]]] = [[] for _ in partitions]
    for row in rows:
        groups[row["place"] - 1].append(row)
    return groups


def committing_delivery(outcome: DeliveryOutcome) -> StatementScript[bool]:
    """Record what a consumer has handled, in its own transaction, and keep the lease.

    Returns False if the lease has been lost, or if the events were handled already.
    """
    delay = None
    if not is_plain(outcome):
        rows = yield "lock_deliveries", lease_values([outcome.lease])
        if not rows or rows[0][4] != outcome.after:
            return False
        count, delay = yield from _writing_letters(outcome, None)
        if outcome.is_redelivery and count != len(outcome.delivered):
            return False
    return bool((yield "finish_deliveries", _finish_values([outcome], [delay], None, releases=False)))


def finishing_deliveries(
    outcomes: Sequence[DeliveryOutcome], now: datetime | None = None
) -> StatementScript[frozenset[PartitionLease]]:
    """Record outcomes and release the partitions; returns the leases whose token was current."""
    outcomes = sorted(outcomes, key=_lock_order)
    at = None if now is None else now.isoformat()
    delays: list[float | None] = [None] * len(outcomes)
    if not all(map(is_plain, outcomes)):
        rows = yield "lock_deliveries", lease_values([outcome.lease for outcome in outcomes])
        current = {PartitionLease(*row[:4]): row[4] for row in rows}
        for index, outcome in enumerate(outcomes):
            if current.get(outcome.lease) == outcome.after and not is_plain(outcome):
                _, delays[index] = yield from _writing_letters(outcome, at)
    rows = yield "finish_deliveries", _finish_values(outcomes, delays, at, releases=True)
    return frozenset(PartitionLease(*row) for row in rows)


def _finish_values(
    outcomes: Sequence[DeliveryOutcome], delays: Sequence[float | None], now: str | None, *, releases: bool
) -> dict[str, Any]:
    return {
        **lease_values([outcome.lease for outcome in outcomes]),
        "after": numbers([outcome.after for outcome in outcomes]),
        "through": numbers([outcome.after if outcome.is_redelivery else outcome.through for outcome in outcomes]),
        "delivers": numbers([bool(outcome.delivered) for outcome in outcomes]),
        "pauses": numbers([outcome.pause for outcome in outcomes]),
        "errors": texts([_error_text(outcome.error) for outcome in outcomes]),
        "letters_in": numbers(delays),
        "releases": releases,
        "now": now,
    }


def is_plain(outcome: DeliveryOutcome) -> bool:
    """True if the outcome writes no dead letter."""
    return not outcome.is_redelivery and not outcome.deferred and outcome.failure is None


def _writing_letters(outcome: DeliveryOutcome, now: str | None) -> StatementScript[tuple[int, float | None]]:
    """The number of letters, and the seconds until letters of this partition may be due; 0: now, None: unchanged."""
    letters = list(_letters(outcome))
    if not letters:
        return 0, None
    positions, states, failures, retries, errors = zip(*letters, strict=True)
    group = {"namespace": outcome.lease.namespace, "consumer_group": outcome.lease.group}
    values = {
        "now": now,
        "positions": numbers(positions),
        "states": texts(states),
        "failures": numbers(failures),
        "retries": numbers(retries),
        "errors": texts(errors),
    }
    rows = yield "change_letters" if outcome.is_redelivery else "add_letters", {**group, **values}
    transactions: dict[str, set[str]] = defaultdict(set)
    for state, transaction_id in rows:
        if transaction_id is not None:
            transactions[state].add(str(transaction_id))
    if delivered := transactions["delivered"]:
        other = {**group, "partition": outcome.lease.partition}
        yield "wake_transactions", {**other, "transactions": texts(sorted(delivered))}
    # Deferred events may wait for one in another partition that was published together with them, and is done by now.
    if outcome.is_redelivery or transactions["deferred"]:
        return len(rows), 0.0
    return len(rows), None if outcome.failure is None else outcome.failure.retry_in


def _letters(outcome: DeliveryOutcome) -> Iterator[tuple[int, str, int | None, float | None, str | None]]:
    """Position, state, failures, seconds until the next attempt, and error of the letters of an outcome."""
    if outcome.is_redelivery:
        yield from ((position, "delivered", None, None, None) for position in outcome.delivered)
    else:
        yield from ((position, "deferred", 0, None, None) for position in outcome.deferred)
    if (failure := outcome.failure) is not None:
        state, error = "failed" if failure.retry_in is None else "retrying", _error_text(failure.error)
        yield from ((position, state, failure.failures, failure.retry_in, error) for position in failure.positions)


def _lock_order(outcome: DeliveryOutcome) -> tuple[str, str, int]:
    return outcome.lease.namespace, outcome.lease.group, outcome.lease.partition


def lease_values(leases: Sequence[PartitionLease]) -> dict[str, Any]:
    return {
        "namespaces": texts([lease.namespace for lease in leases]),
        "groups": texts([lease.group for lease in leases]),
        "partitions": numbers([lease.partition for lease in leases]),
        "tokens": numbers([lease.token for lease in leases]),
    }


def _error_text(error: str | None) -> str | None:
    return None if error is None else clean(error)[:MAX_ERROR]
