"""Consumer groups on PostgreSQL."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from tickbird.domain.events.dead_letters import RESOLVED, UNRESOLVED
from tickbird.domain.events.deliveries import ClaimedDeliveries, DeliveryOutcome, GroupRequest, PartitionLease
from tickbird.domain.events.groups import MAX_COUNTED, ConsumerGroup, GroupOffset, NewGroup, PartitionStatus
from tickbird.domain.text import check_new_name
from tickbird.store.postgres.audit import write_audit
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.database.database import NounStore, autocommit, transaction
from tickbird.store.postgres.deliveries import claim_deliveries, finishing_deliveries, is_plain, lease_values
from tickbird.store.postgres.rows import texts
from tickbird.store.protocol.consumers import ConsumerStore
from tickbird.store.shared import consumer_errors as refusals
from tickbird.store.shared.statement_scripts import run_async


class PostgresConsumers(NounStore, ConsumerStore):
    @transaction
    async def declare(
        self, db: Session, namespace: str, groups: Sequence[NewGroup], *, app: str, now: datetime | None = None
    ) -> Sequence[ConsumerGroup]:
        stopped: list[ConsumerGroup] = []
        # In sorted order, so that two workers that declare the same groups cannot deadlock.
        for group in sorted(groups, key=lambda group: group.name):
            values = {"namespace": namespace, "name": group.name, "topics": texts(group.topics), "now": now}
            row = await _find(db, namespace, group.name)
            if row is None:
                head, pruned_until, _ = await read_stream(db, namespace)
                position = head if group.start == "latest" else pruned_until
                if await _insert(db, {**values, "app": app, "scratch_of": None, "position": position}):
                    continue
                # Another worker has declared it meanwhile.
                row = await _get(db, namespace, group.name)
            if row["app"] != app:
                raise refusals.other_app(group.name, row["app"])
            if row["scratch_of"] is not None:
                raise refusals.scratch_name(group.name, row["scratch_of"])
            await db.execute("declare_group", **values)
            if row["state"] == "stopped":
                stopped += await _read_groups(db, namespace, group.name)
        return stopped

    @transaction
    async def claim(
        self,
        db: Session,
        namespace: str,
        groups: Sequence[GroupRequest],
        worker: str,
        *,
        limit: int,
        lease: float,
        now: datetime | None = None,
    ) -> ClaimedDeliveries:
        return await claim_deliveries(db, namespace, groups, worker, limit=limit, lease=lease, now=now)

    async def renew(
        self, leases: Sequence[PartitionLease], lease: float, *, now: datetime | None = None
    ) -> frozenset[PartitionLease]:
        rows = await self._db.fetch("renew_partitions", lease=lease, now=now, **lease_values(leases))
        return frozenset(PartitionLease(*row) for row in rows)

    async def finish(
        self, outcomes: Sequence[DeliveryOutcome], *, now: datetime | None = None
    ) -> frozenset[PartitionLease]:
        # Without dead letters, one statement is the complete transaction.
        is_single = all(map(is_plain, outcomes))
        return await self._db.record(
            lambda db: run_async(finishing_deliveries(outcomes, now), db.fetch_step), single_statement=is_single
        )

    @autocommit
    async def list(self, db: Session, namespace: str, *, group: str | None = None) -> Sequence[ConsumerGroup]:
        return await _read_groups(db, namespace, group)

    async def find_offsets(self, namespace: str, partition: int) -> Sequence[GroupOffset]:
        rows = await self._db.fetch("find_offsets", namespace=namespace, partition=partition)
        return [GroupOffset(name, tuple(topics), *rest) for name, topics, *rest in rows]

    @transaction
    async def seek(
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
        before = await _get(db, namespace, group)
        head, pruned_until, _ = await read_stream(db, namespace)
        refusals.check_position(position, pruned_until, head)
        values = {"namespace": namespace, "name": group, "position": position}
        await db.fetch("lock_offsets", namespace=namespace, name=group)
        await db.execute("move_offsets", **values)
        await db.execute("skip_letters_after", **values, actor=actor, note=note or None, now=now)
        await db.execute("activate_group", namespace=namespace, name=group, now=now)
        detail = {"group": group, "position": position, "state": before["state"], "note": note}
        await note_change(db, now, actor, "seek_consumer", namespace, detail)
        return (await _read_groups(db, namespace, group))[0]

    async def find_position(self, namespace: str, at: datetime) -> int:
        rows = await self._db.fetch("find_position", namespace=namespace, at=at)
        return int(rows[0][0]) if rows else 0

    @transaction
    async def copy(
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
        check_new_name(scratch, "scratch")
        source = await _get(db, namespace, group)
        head, pruned_until, _ = await read_stream(db, namespace)
        refusals.check_position(position, pruned_until, head)
        values = {"namespace": namespace, "name": scratch, "app": source["app"], "topics": texts(source["topics"])}
        of = source["scratch_of"] or group
        if not await _insert(db, {**values, "scratch_of": of, "position": position, "now": now}):
            raise refusals.name_in_use(scratch)
        detail = {"group": group, "scratch": scratch, "position": position}
        await note_change(db, now, actor, "copy_consumer", namespace, detail)
        return (await _read_groups(db, namespace, scratch))[0]

    @transaction
    async def stop(
        self, db: Session, namespace: str, group: str, actor: str, *, reason: str = "", now: datetime | None = None
    ) -> ConsumerGroup:
        await _get(db, namespace, group)
        await db.execute("stop_group", namespace=namespace, name=group, reason=reason or f"stopped by {actor}")
        await note_change(db, now, actor, "stop_consumer", namespace, {"group": group, "reason": reason})
        return (await _read_groups(db, namespace, group))[0]

    @transaction
    async def resume(
        self, db: Session, namespace: str, group: str, actor: str, *, now: datetime | None = None
    ) -> ConsumerGroup:
        lost_after = (await _get(db, namespace, group))["lost_after"]
        if lost_after is not None:
            raise refusals.lost_events(group, lost_after, (await read_stream(db, namespace))[1])
        await db.execute("activate_group", namespace=namespace, name=group, now=now)
        await note_change(db, now, actor, "resume_consumer", namespace, {"group": group})
        return (await _read_groups(db, namespace, group))[0]

    @transaction
    async def delete(self, db: Session, namespace: str, group: str, actor: str, *, now: datetime | None = None) -> None:
        # Locked before its dead letters are, which a finish locks later too.
        await db.fetch("lock_offsets", namespace=namespace, name=group)
        if not await db.fetch("delete_group", namespace=namespace, name=group):
            raise refusals.no_group(namespace, group)
        await note_change(db, now, actor, "delete_consumer", namespace, {"group": group})

    @transaction
    async def prune(
        self,
        db: Session,
        *,
        idle_for: float,
        letters_older_than: float,
        limit: int = 1_000,
        now: datetime | None = None,
    ) -> int:
        groups = await db.execute("delete_idle_groups", idle_for=idle_for, now=now)
        letters = await db.execute("delete_old_letters", older_than=letters_older_than, limit=limit, now=now)
        await db.execute("prune_kept_events", limit=limit)
        return groups + letters


async def read_stream(db: Session, namespace: str) -> tuple[int, int, bool]:
    """The last position, the last one that retention removed, and whether repairs need an approval."""
    rows = await db.fetch("read_event_stream", namespace=namespace)
    if not rows:
        return 0, 0, False
    [(head, pruned_until, requires_approval)] = rows
    return head, pruned_until, requires_approval


async def note_change(
    db: Session, now: datetime | None, actor: str, action: str, namespace: str, detail: Mapping[str, Any]
) -> None:
    """Write a change of an operator to the audit log, and wake the workers."""
    [(at,)] = await db.fetch("clock", now=now)
    await write_audit(db, at, actor, action, namespace, detail=detail)
    await db.execute("wake")


async def _insert(db: Session, values: Mapping[str, Any]) -> bool:
    """False if the name is in use."""
    if not await db.fetch("insert_group", **{name: value for name, value in values.items() if name != "position"}):
        return False
    await db.execute("insert_offsets", **{name: values[name] for name in ("namespace", "name", "position")})
    return True


async def _find(db: Session, namespace: str, group: str) -> dict[str, Any] | None:
    return next(iter(await db.fetch_named("read_group", namespace=namespace, name=group)), None)


async def _get(db: Session, namespace: str, group: str) -> dict[str, Any]:
    row = await _find(db, namespace, group)
    if row is None:
        raise refusals.no_group(namespace, group)
    return row


async def _read_groups(db: Session, namespace: str, group: str | None) -> list[ConsumerGroup]:
    values: dict[str, Any] = {"namespace": namespace, "name": group}
    partitions: dict[str, list[PartitionStatus]] = defaultdict(list)
    for row in await db.fetch_named("list_partitions", maximum=MAX_COUNTED + 1, **values):
        partitions[row.pop("consumer_group")].append(PartitionStatus(**row))
    letters: dict[str, dict[str, int]] = defaultdict(dict)
    states = texts(UNRESOLVED + RESOLVED)
    for name, state, count in await db.fetch("count_letters", states=states, maximum=MAX_COUNTED + 1, **values):
        letters[name][state] = count
    return [
        ConsumerGroup(
            **{**row, "topics": tuple(row["topics"])},
            partitions=tuple(partitions[row["name"]]),
            dead_letters=letters[row["name"]],
        )
        for row in await db.fetch_named("list_groups", **values)
    ]
