"""Dead letters on PostgreSQL."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from tickbird.domain.events.dead_letters import (
    RESOLVED,
    UNRESOLVED,
    DeadLetter,
    LetterChange,
    LetterFilter,
    no_such_letter,
)
from tickbird.domain.events.event import check_data
from tickbird.store.postgres.consumers import note_change, read_stream
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.database.database import NounStore, transaction
from tickbird.store.postgres.events import to_event
from tickbird.store.postgres.rows import texts
from tickbird.store.protocol.dead_letters import DeadLetterStore
from tickbird.store.shared import consumer_errors as refusals


class PostgresDeadLetters(NounStore, DeadLetterStore):
    async def list(
        self, namespace: str, which: LetterFilter, *, after: int | None = None, limit: int = 100
    ) -> Sequence[DeadLetter]:
        rows = await self._db.fetch_named(
            "list_letters",
            namespace=namespace,
            consumer_group=which.group,
            states=texts(UNRESOLVED + RESOLVED if which.states is None else which.states),
            key=which.key,
            after=after or 0,
            limit=limit,
        )
        return [_to_letter(row) for row in rows]

    async def get(self, namespace: str, letter_id: int) -> DeadLetter:
        rows = await self._db.fetch_named("read_letter", namespace=namespace, id=letter_id)
        if not rows:
            raise no_such_letter(letter_id)
        return _to_letter(rows[0])

    async def find_by_event(self, namespace: str, position: int) -> Sequence[DeadLetter]:
        rows = await self._db.fetch_named("find_letters_by_event", namespace=namespace, position=position)
        return [_to_letter(row) for row in rows]

    @transaction
    async def replay(
        self,
        db: Session,
        namespace: str,
        letter_id: int,
        actor: str,
        *,
        note: str = "",
        now: datetime | None = None,
    ) -> LetterChange:
        row = await _lock(db, namespace, letter_id, ("failed", "retrying"))
        return await _replay(db, row, now, actor, "replay_dead_letter", note)

    @transaction
    async def replay_group(
        self,
        db: Session,
        namespace: str,
        group: str,
        actor: str,
        *,
        note: str = "",
        limit: int = 10_000,
        now: datetime | None = None,
    ) -> LetterChange:
        if not await db.fetch_named("read_group", namespace=namespace, name=group):
            raise refusals.no_group(namespace, group)
        await db.fetch("lock_offsets", namespace=namespace, name=group)
        values = {"namespace": namespace, "consumer_group": group}
        await db.execute("recheck_letters", **values)
        rows = await db.fetch("replay_failed_letters", **values, limit=limit, note=note or None, now=now)
        detail = {"group": group, "letters": len(rows), "note": note}
        await note_change(db, now, actor, "replay_group", namespace, detail)
        return LetterChange(sorted(letter_id for (letter_id,) in rows))

    @transaction
    async def skip(
        self,
        db: Session,
        namespace: str,
        letter_id: int,
        actor: str,
        *,
        note: str = "",
        now: datetime | None = None,
    ) -> LetterChange:
        row = await _lock(db, namespace, letter_id, UNRESOLVED)
        letters = await db.fetch("skip_letters", **_unit(row), actor=actor, note=note or None, now=now)
        return await _changed(db, row, now, actor, "skip_dead_letter", note, letters)

    @transaction
    async def repair(
        self,
        db: Session,
        namespace: str,
        letter_id: int,
        data: Any,
        actor: str,
        *,
        note: str = "",
        now: datetime | None = None,
    ) -> LetterChange:
        text = check_data(data)
        row = await _lock(db, namespace, letter_id, ("failed", "retrying"))
        is_proposed = (await read_stream(db, namespace))[2]
        approved_by = None if is_proposed else actor
        values = {"id": letter_id, "data": text, "actor": actor, "note": note or None}
        await db.execute("repair_letter", **values, approved_by=approved_by)
        if is_proposed:
            return await _changed(db, row, now, actor, "repair_dead_letter", note, [(letter_id,)], is_proposed=True)
        return await _replay(db, row, now, actor, "repair_dead_letter", note)

    @transaction
    async def approve(
        self,
        db: Session,
        namespace: str,
        letter_id: int,
        actor: str,
        *,
        note: str = "",
        now: datetime | None = None,
    ) -> LetterChange:
        row = await _lock(db, namespace, letter_id)
        if row["repaired_by"] is None or row["approved_by"] is not None:
            raise refusals.no_proposal(letter_id)
        _check_state(row, ("failed", "retrying"))
        if row["repaired_by"] == actor:
            raise refusals.own_proposal(letter_id, actor)
        await db.execute("approve_letter", id=letter_id, actor=actor)
        return await _replay(db, row, now, actor, "approve_dead_letter", note)

    @transaction
    async def set_approval(
        self, db: Session, namespace: str, is_required: bool, actor: str, *, now: datetime | None = None
    ) -> None:
        await db.execute("set_approval", namespace=namespace, is_required=is_required)
        await note_change(db, now, actor, "set_approval", namespace, {"is_required": is_required})

    async def requires_approval(self, namespace: str) -> bool:
        rows = await self._db.fetch("read_event_stream", namespace=namespace)
        return bool(rows and rows[0][2])


async def _lock(
    db: Session, namespace: str, letter_id: int, allowed: Collection[str] | None = None
) -> Mapping[str, Any]:
    """The letter, after the partitions of its unit are locked; ConflictError in another state."""
    rows = await db.fetch_named("read_letter", namespace=namespace, id=letter_id)
    if rows:
        await db.execute("lock_unit", **_unit(rows[0]))
        # Sessions that were waited for may have changed it.
        rows = await db.fetch_named("read_letter", namespace=namespace, id=letter_id)
    if not rows:
        raise no_such_letter(letter_id)
    if allowed is not None:
        _check_state(rows[0], allowed)
    return rows[0]


def _check_state(row: Mapping[str, Any], allowed: Collection[str]) -> None:
    if row["state"] not in allowed:
        raise refusals.wrong_state(row["letter_id"], row["state"], " or ".join(allowed))


def _unit(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "namespace": row["namespace"],
        "consumer_group": row["consumer_group"],
        "id": row["letter_id"],
        "transaction_id": row["transaction_id"],
    }


async def _replay(
    db: Session, row: Mapping[str, Any], now: datetime | None, actor: str, action: str, note: str
) -> LetterChange:
    letters = await db.fetch("replay_letters", **_unit(row), note=note or None, now=now)
    return await _changed(db, row, now, actor, action, note, letters)


async def _changed(
    db: Session,
    row: Mapping[str, Any],
    now: datetime | None,
    actor: str,
    action: str,
    note: str,
    letters: Sequence[Sequence[Any]],
    *,
    is_proposed: bool = False,
) -> LetterChange:
    detail = {
        "letter": row["letter_id"],
        "group": row["consumer_group"],
        "position": row["position"],
        "letters": len(letters),
        "note": note,
    }
    extra = {"is_proposed": True} if is_proposed else {}
    await note_change(db, now, actor, action, row["namespace"], detail | extra)
    return LetterChange(sorted(letter_id for (letter_id, *_) in letters), is_proposed)


def _to_letter(row: dict[str, Any]) -> DeadLetter:
    return DeadLetter(
        id=row["letter_id"],
        group=row["consumer_group"],
        state=row["state"],
        event=to_event(row),
        failures=row["failures"],
        error=row["error"],
        created_at=row["created_at"],
        retry_at=row["retry_at"],
        repair=row["repair"],
        repaired_by=row["repaired_by"],
        approved_by=row["approved_by"],
        resolved_at=row["resolved_at"],
        resolved_by=row["resolved_by"],
        note=row["note"],
    )
