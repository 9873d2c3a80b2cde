"""Deliveries on SQLite: the next events of a partition, and the statements of an outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from tickbird.domain.events.dead_letters import MAX_ERROR, Candidate, deliverable, hold_units
from tickbird.domain.events.deliveries import (
    ClaimedDeliveries,
    Delivery,
    DeliveryFailure,
    DeliveryItem,
    DeliveryOutcome,
    GroupRequest,
    PartitionLease,
)
from tickbird.domain.events.topics import matches
from tickbird.domain.time.instants import from_micros, to_micros
from tickbird.store.shared.json_columns import as_list, clean, decode
from tickbird.store.shared.statement_scripts import StatementScript
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL, NamedRow, fetch_named
from tickbird.store.sqlite.events import to_event
from tickbird.store.sqlite.rows import dump

# The maximum number of events of other topics that a claim skips in one partition.
_MAX_SCANNED: Final = 1_000


def read_claimable(db: Session, namespace: str, groups: Sequence[GroupRequest], now: datetime) -> list[NamedRow]:
    """The partitions that may have a delivery, with the oldest event or letter first."""
    values = {"namespace": namespace, "groups": dump([group.name for group in groups]), "now": to_micros(now)}
    rows = [row for row in fetch_named(db, "find_claimable_partitions", values) if _first(row) is not None]
    return sorted(rows, key=lambda row: (_first(row) or 0, row["consumer_group"], row["partition"]))


def _first(row: NamedRow) -> int | None:
    return min((at for at in (row["next_event"], row["next_letter"]) if at is not None), default=None)


def next_at(db: Session, namespace: str, groups: Sequence[GroupRequest], now: datetime) -> datetime | None:
    values = {"namespace": namespace, "groups": dump([group.name for group in groups]), "now": to_micros(now)}
    [(at,)] = db.execute(SQL["find_next_delivery"], values).fetchall()
    return None if at is None else from_micros(int(at))


def claim_deliveries(
    db: Session,
    namespace: str,
    groups: Sequence[GroupRequest],
    worker: str,
    *,
    limit: int,
    lease: float,
    now: datetime,
) -> ClaimedDeliveries:
    batches = {group.name: group.batch for group in groups}
    deliveries: list[Delivery] = []
    more = False
    for row in read_claimable(db, namespace, groups, now):
        if len(deliveries) == limit:
            more = True
            break
        crashes = row["crashes"] + (row["leased_until"] is not None)
        # After a crash, one unit: it may be the cause.
        batch = 1 if crashes else batches[row["consumer"]]
        delivery = _read_letters(db, namespace, row, batch, now) if row["next_letter"] is not None else None
        if delivery is None and row["next_event"] is not None:
            delivery, is_bounded = _read_events(db, namespace, row, batch)
            more |= is_bounded
        if delivery is not None:
            names = _names(delivery.lease)
            values = {
                "worker": worker,
                "until": to_micros(now + timedelta(seconds=lease)),
                "crashes": crashes,
                "single_until": _single_until(db, namespace, row, batches[row["consumer"]]) if crashes else None,
            }
            [(token,)] = db.execute(SQL["lease_partition"], {**names, **values}).fetchall()
            leased = replace(delivery.lease, token=token)
            deliveries.append(replace(delivery, lease=leased, crashes=crashes, pauses=row["pauses"]))
    return ClaimedDeliveries(tuple(deliveries), now, next_at(db, namespace, groups, now), more)


def _single_until(db: Session, namespace: str, row: NamedRow, batch: int) -> int:
    """The end of the batch whose worker was lost: up to it, any unit may be the cause."""
    until, offset = row["single_until"], row["position"]
    if until is not None and until > offset:
        return int(until)
    positions, _, _ = _scan(db, namespace, row, batch)
    # Without new events, the batch was of dead letters: then until the offset moves.
    return positions[-1] if positions else int(offset) + 1


def _read_letters(db: Session, namespace: str, row: NamedRow, batch: int, now: datetime) -> Delivery | None:
    """The dead letters of a partition that can be delivered now."""
    lease = PartitionLease(namespace, row["consumer_group"], row["partition"], 0)
    letters = db.cursor()
    letters.row_factory = NamedRow
    letters.execute(SQL["read_due_letters"], {**_names(lease), "now": to_micros(now)})
    units = deliverable(map(_to_candidate, letters), batch)
    items = tuple(item for unit in units for item in unit.items)
    if not items:
        return None
    after = row["position"]
    return Delivery(
        lease=lease,
        consumer=row["consumer"],
        after=after,
        through=items[-1].position,
        items=items,
        is_redelivery=True,
    )


def _to_candidate(row: NamedRow) -> Candidate:
    event = to_event(row)
    # A repair without an approval is only a proposal.
    if row["repair"] is not None and row["approved_by"] is not None:
        event = replace(event, data=decode(row["repair"]))
    return Candidate(DeliveryItem(event, row["failures"]), row["unit_size"], bool(row["is_blocked"]))


def _read_events(db: Session, namespace: str, row: NamedRow, batch: int) -> tuple[Delivery | None, bool]:
    """The next events of a partition; if none of them matches, move the offset. True if there may be more of these."""
    lease = PartitionLease(namespace, row["consumer_group"], row["partition"], 0)
    positions, through, is_bounded = _scan(db, namespace, row, batch)
    if not positions:
        db.execute(SQL["skip_other_topics"], {**_names(lease), "through": through})
        return None, is_bounded
    rows = fetch_named(db, "read_deliveries", {**_names(lease), "positions": dump(positions)})
    items = hold_units((to_event(event), bool(event["is_held"])) for event in rows)
    delivery = Delivery(lease=lease, consumer=row["consumer"], after=row["position"], through=through, items=items)
    return delivery, False


def _scan(db: Session, namespace: str, row: NamedRow, batch: int) -> tuple[list[int], int, bool]:
    """Positions of the next matching events, the offset after them, and true if the log has more."""
    lease = PartitionLease(namespace, row["consumer_group"], row["partition"], 0)
    topics = as_list(decode(row["topics"]))
    matching: dict[str, bool] = {}
    positions: list[int] = []
    through, scanned, last = row["position"], 0, None
    is_bounded = False
    for position, topic, transaction in db.execute(SQL["find_unread_events"], {**_names(lease), "after": through}):
        is_full = len(positions) >= batch or scanned >= _MAX_SCANNED
        if is_full and (transaction is None or transaction != last):
            is_bounded = True
            break
        if topic not in matching:
            matching[topic] = matches(topic, topics)
        if matching[topic]:
            positions.append(position)
        through, scanned, last = position, scanned + 1, transaction
    return positions, through, is_bounded


def finishing_delivery(outcome: DeliveryOutcome, now: datetime | None = None) -> StatementScript[bool]:
    """Record an outcome and release the partition; returns False if the lease has been lost."""
    # Writes first: a transaction that has only read could not become the writer.
    rows = yield "release_partition", {**_names(outcome.lease), "token": outcome.lease.token}
    if not rows:
        return False
    [(position,)] = rows
    if outcome.is_redelivery or position == outcome.after:
        yield from _recording(outcome, position, now)
    return True


def committing_delivery(outcome: DeliveryOutcome, now: datetime | None = None) -> StatementScript[bool]:
    """Record what a consumer has handled, in its own transaction, and keep the lease.

    Returns False if the lease has been lost, or if the events were handled already.
    """
    rows = yield "hold_partition", {**_names(outcome.lease), "token": outcome.lease.token}
    if not rows or rows[0][0] != outcome.after:
        return False
    if outcome.is_redelivery:
        values = {**_names(outcome.lease), "positions": dump(outcome.delivered)}
        [(count,)] = yield "count_unresolved", values
        if count != len(outcome.delivered):
            return False
    yield from _recording(outcome, outcome.after, now)
    return True


def _recording(outcome: DeliveryOutcome, position: int, now: datetime | None) -> StatementScript[None]:
    names = _names(outcome.lease)
    at = read_clock(now)
    values = {
        "position": position if outcome.is_redelivery else outcome.through,
        "paused_until": None if outcome.pause is None else to_micros(at + timedelta(seconds=outcome.pause)),
        "has_delivered": bool(outcome.delivered),
        "error": None if outcome.error is None else clean(outcome.error)[:MAX_ERROR],
    }
    yield "advance_partition", {**names, **values}
    if outcome.is_redelivery and outcome.delivered:
        yield "deliver_letters", {**names, "positions": dump(outcome.delivered), "now": to_micros(at)}
    if outcome.deferred and not outcome.is_redelivery:
        empty = {"state": "deferred", "failures": 0, "error": None, "retry_at": None}
        yield "add_letters", {**names, **empty, "positions": dump(outcome.deferred), "now": to_micros(at)}
    if outcome.failure is not None:
        statement = "fail_letters" if outcome.is_redelivery else "add_letters"
        yield statement, {**names, **_failed(outcome.failure, at), "now": to_micros(at)}


def _failed(failure: DeliveryFailure, now: datetime) -> Mapping[str, Any]:
    return {
        "positions": dump(failure.positions),
        "state": "failed" if failure.retry_in is None else "retrying",
        "failures": failure.failures,
        "error": clean(failure.error)[:MAX_ERROR],
        "retry_at": None if failure.retry_in is None else to_micros(now + timedelta(seconds=failure.retry_in)),
    }


def renew_lease(db: Session, lease: PartitionLease, until: datetime) -> bool:
    values = {**_names(lease), "token": lease.token, "until": to_micros(until)}
    return bool(db.execute(SQL["renew_partition"], values).fetchall())


def _names(lease: PartitionLease) -> dict[str, Any]:
    return {"namespace": lease.namespace, "consumer_group": lease.group, "partition": lease.partition}
