"""Consumer groups on SQLite."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from tickbird.domain.events.dead_letters import RESOLVED, UNRESOLVED
from tickbird.domain.events.deliveries import ClaimedDeliveries, DeliveryOutcome, GroupRequest, PartitionLease
from tickbird.domain.events.groups import MAX_COUNTED, ConsumerGroup, GroupOffset, NewGroup, PartitionStatus
from tickbird.domain.text import check_new_name
from tickbird.domain.time.instants import from_micros, to_micros
from tickbird.store.protocol.consumers import ConsumerStore
from tickbird.store.shared import consumer_errors as refusals
from tickbird.store.shared.json_columns import as_list, decode
from tickbird.store.shared.statement_scripts import run_sync
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import (
    NounStore,
    read_transaction,
    waking_transaction,
    write_transaction,
)
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL, NamedRow, fetch_named
from tickbird.store.sqlite.deliveries import (
    claim_deliveries,
    finishing_delivery,
    next_at,
    read_claimable,
    renew_lease,
)
from tickbird.store.sqlite.rows import dump


class SqliteConsumers(NounStore, ConsumerStore):
    @write_transaction
    def declare(
        self, db: Session, namespace: str, groups: Sequence[NewGroup], *, app: str, now: datetime | None = None
    ) -> Sequence[ConsumerGroup]:
        at = read_clock(now)
        stopped: list[ConsumerGroup] = []
        for group in groups:
            values = {"namespace": namespace, "name": group.name, "topics": dump(group.topics), "now": to_micros(at)}
            stored = fetch_named(db, "read_group", values)
            if not stored:
                head, pruned_until, _ = read_stream(db, namespace)
                position = head if group.start == "latest" else pruned_until
                _insert(db, {**values, "app": app, "scratch_of": None, "position": position})
                continue
            [row] = stored
            if row["app"] != app:
                raise refusals.other_app(group.name, row["app"])
            if row["scratch_of"] is not None:
                raise refusals.scratch_name(group.name, row["scratch_of"])
            db.execute(SQL["declare_group"], values)
            if row["state"] == "stopped":
                stopped += _read_groups(db, namespace, group.name)
        return stopped

    async def claim(
        self,
        namespace: str,
        groups: Sequence[GroupRequest],
        worker: str,
        *,
        limit: int,
        lease: float,
        now: datetime | None = None,
    ) -> ClaimedDeliveries:
        # Most claims find nothing, and need no write transaction.
        idle = await self._find_idle(namespace, groups, now)
        return idle or await self._claim(namespace, groups, worker, limit=limit, lease=lease, now=now)

    @read_transaction
    def _find_idle(
        self, db: Session, namespace: str, groups: Sequence[GroupRequest], now: datetime | None
    ) -> ClaimedDeliveries | None:
        at = read_clock(now)
        if read_claimable(db, namespace, groups, at):
            return None
        return ClaimedDeliveries((), at, next_at(db, namespace, groups, at))

    @write_transaction
    def _claim(
        self,
        db: Session,
        namespace: str,
        groups: Sequence[GroupRequest],
        worker: str,
        *,
        limit: int,
        lease: float,
        now: datetime | None,
    ) -> ClaimedDeliveries:
        return claim_deliveries(db, namespace, groups, worker, limit=limit, lease=lease, now=read_clock(now))

    @write_transaction
    def renew(
        self, db: Session, leases: Sequence[PartitionLease], lease: float, *, now: datetime | None = None
    ) -> frozenset[PartitionLease]:
        until = read_clock(now) + timedelta(seconds=lease)
        return frozenset(held for held in leases if renew_lease(db, held, until))

    @write_transaction
    def finish(
        self, db: Session, outcomes: Sequence[DeliveryOutcome], *, now: datetime | None = None
    ) -> frozenset[PartitionLease]:
        def execute(name: str, values: Any) -> list[Any]:
            return db.execute(SQL[name], values).fetchall()

        return frozenset(outcome.lease for outcome in outcomes if run_sync(finishing_delivery(outcome, now), execute))

    @read_transaction
    def list(self, db: Session, namespace: str, *, group: str | None = None) -> Sequence[ConsumerGroup]:
        return _read_groups(db, namespace, group)

    @read_transaction
    def find_offsets(self, db: Session, namespace: str, partition: int) -> Sequence[GroupOffset]:
        at = read_clock()
        rows = fetch_named(db, "find_offsets", {"namespace": namespace, "partition": partition})
        return [
            GroupOffset(
                row["name"],
                tuple(as_list(decode(row["topics"]))),
                row["state"],
                row["reason"],
                row["position"],
                row["leased_until"] is not None and from_micros(row["leased_until"]) > at,
                from_micros(row["paused_until"]),
                row["error"],
            )
            for row in rows
        ]

    @waking_transaction
    def seek(
        self,
        db: Session,
        namespace: str,
        group: str,
        position: int,
        actor: str,
        *,
        note: str = "",
        now: datetime | None = None,
    ) -> ConsumerGroup:
        at = read_clock(now)
        before = _get(db, namespace, group)
        head, pruned_until, _ = read_stream(db, namespace)
        refusals.check_position(position, pruned_until, head)
        values = {"namespace": namespace, "name": group, "position": position, "now": to_micros(at)}
        db.execute(SQL["move_offsets"], values)
        db.execute(SQL["skip_letters_after"], {**values, "actor": actor, "note": note or None})
        db.execute(SQL["activate_group"], values)
        detail = {"group": group, "position": position, "state": before["state"], "note": note}
        note_change(db, at, actor, "seek_consumer", namespace, detail)
        return _read_groups(db, namespace, group)[0]

    @read_transaction
    def find_position(self, db: Session, namespace: str, at: datetime) -> int:
        # Positions are assigned in the order of time, so the search can halve their range.
        low, high = 0, read_stream(db, namespace)[0] + 1
        while low + 1 < high:
            middle = (low + high) // 2
            rows = db.execute(SQL["find_event_from"], {"namespace": namespace, "position": middle}).fetchall()
            if rows and rows[0][1] < to_micros(at):
                low = rows[0][0]
            else:
                high = middle
        return low

    @waking_transaction
    def copy(
        self,
        db: Session,
        namespace: str,
        group: str,
        scratch: str,
        position: int,
        actor: str,
        *,
        now: datetime | None = None,
    ) -> ConsumerGroup:
        at = read_clock(now)
        check_new_name(scratch, "scratch")
        source = _get(db, namespace, group)
        head, pruned_until, _ = read_stream(db, namespace)
        refusals.check_position(position, pruned_until, head)
        if fetch_named(db, "read_group", {"namespace": namespace, "name": scratch}):
            raise refusals.name_in_use(scratch)
        values = {"namespace": namespace, "name": scratch, "app": source["app"], "topics": source["topics"]}
        of = source["scratch_of"] or group
        _insert(db, {**values, "scratch_of": of, "position": position, "now": to_micros(at)})
        detail = {"group": group, "scratch": scratch, "position": position}
        note_change(db, at, actor, "copy_consumer", namespace, detail)
        return _read_groups(db, namespace, scratch)[0]

    @waking_transaction
    def stop(
        self, db: Session, namespace: str, group: str, actor: str, *, reason: str = "", now: datetime | None = None
    ) -> ConsumerGroup:
        at = read_clock(now)
        _get(db, namespace, group)
        text = reason or f"stopped by {actor}"
        db.execute(SQL["stop_group"], {"namespace": namespace, "name": group, "reason": text})
        note_change(db, at, actor, "stop_consumer", namespace, {"group": group, "reason": reason})
        return _read_groups(db, namespace, group)[0]

    @waking_transaction
    def resume(
        self, db: Session, namespace: str, group: str, actor: str, *, now: datetime | None = None
    ) -> ConsumerGroup:
        at = read_clock(now)
        lost_after = _get(db, namespace, group)["lost_after"]
        if lost_after is not None:
            raise refusals.lost_events(group, lost_after, read_stream(db, namespace)[1])
        db.execute(SQL["activate_group"], {"namespace": namespace, "name": group, "now": to_micros(at)})
        note_change(db, at, actor, "resume_consumer", namespace, {"group": group})
        return _read_groups(db, namespace, group)[0]

    @waking_transaction
    def delete(self, db: Session, namespace: str, group: str, actor: str, *, now: datetime | None = None) -> None:
        if not db.execute(SQL["delete_group"], {"namespace": namespace, "name": group}).fetchall():
            raise refusals.no_group(namespace, group)
        note_change(db, read_clock(now), actor, "delete_consumer", namespace, {"group": group})

    @write_transaction
    def prune(
        self,
        db: Session,
        *,
        idle_for: float,
        letters_older_than: float,
        limit: int = 1_000,
        now: datetime | None = None,
    ) -> int:
        at = read_clock(now)
        idle_since, resolved_before = (
            to_micros(at - timedelta(seconds=seconds)) for seconds in (idle_for, letters_older_than)
        )
        pruned = db.execute(SQL["delete_idle_groups"], {"cutoff": idle_since}).rowcount
        pruned += db.execute(SQL["delete_old_letters"], {"cutoff": resolved_before, "limit": limit}).rowcount
        db.execute(SQL["prune_kept_events"], {"limit": limit})
        return pruned


def read_stream(db: Session, namespace: str) -> tuple[int, int, bool]:
    """The last position, the last one that retention removed, and whether repairs need an approval."""
    [(head, pruned_until, requires_approval)] = db.execute(SQL["read_event_stream"], {"namespace": namespace})
    return head, pruned_until, bool(requires_approval)


def _insert(db: Session, values: dict[str, Any]) -> None:
    db.execute(SQL["insert_group"], values)
    db.execute(SQL["insert_offsets"], values)


def _get(db: Session, namespace: str, group: str) -> NamedRow:
    rows = fetch_named(db, "read_group", {"namespace": namespace, "name": group})
    if not rows:
        raise refusals.no_group(namespace, group)
    return rows[0]


def note_change(db: Session, now: datetime, actor: str, action: str, namespace: str, detail: Mapping[str, Any]) -> None:
    """Write a change of an operator to the audit log, and wake the workers."""
    write_audit(db, now, actor, action, namespace, detail=detail)
    db.execute(SQL["wake_others"])


def _read_groups(db: Session, namespace: str, group: str | None) -> list[ConsumerGroup]:
    values = {"namespace": namespace, "name": group, "maximum": MAX_COUNTED + 1}
    partitions: dict[str, list[PartitionStatus]] = defaultdict(list)
    for row in fetch_named(db, "list_partitions", values):
        status = PartitionStatus(
            partition=row["partition"],
            position=row["position"],
            lag=row["lag"],
            oldest_at=from_micros(row["oldest_at"]),
            worker=row["worker"],
            leased_until=from_micros(row["leased_until"]),
            paused_until=from_micros(row["paused_until"]),
            error=row["error"],
        )
        partitions[row["consumer_group"]].append(status)
    letters: dict[str, dict[str, int]] = defaultdict(dict)
    for name, state, count in db.execute(SQL["count_letters"], {**values, "states": dump(UNRESOLVED + RESOLVED)}):
        if count:
            letters[name][state] = count
    return [
        ConsumerGroup(
            name=row["name"],
            app=row["app"],
            topics=tuple(as_list(decode(row["topics"]))),
            state=row["state"],
            reason=row["reason"],
            scratch_of=row["scratch_of"],
            created_at=from_micros(row["created_at"]),
            declared_at=from_micros(row["declared_at"]),
            partitions=tuple(partitions[row["name"]]),
            dead_letters=letters[row["name"]],
        )
        for row in fetch_named(db, "list_groups", values)
    ]
