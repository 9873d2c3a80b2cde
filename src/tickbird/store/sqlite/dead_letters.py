"""Dead letters on SQLite."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from tickbird.domain.events.dead_letters import UNRESOLVED, DeadLetter, LetterChange, LetterFilter, no_such_letter
from tickbird.domain.events.event import check_data
from tickbird.domain.time.instants import from_micros, to_micros
from tickbird.store.protocol.dead_letters import DeadLetterStore
from tickbird.store.shared import consumer_errors as refusals
from tickbird.store.shared.json_columns import decode
from tickbird.store.sqlite.consumers import note_change, read_stream
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import NounStore, read_transaction, waking_transaction
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL, NamedRow, fetch_named
from tickbird.store.sqlite.events import to_event
from tickbird.store.sqlite.rows import dump


class SqliteDeadLetters(NounStore, DeadLetterStore):
    @read_transaction
    def list(
        self, db: Session, namespace: str, which: LetterFilter, *, after: int | None = None, limit: int = 100
    ) -> Sequence[DeadLetter]:
        values = {
            "namespace": namespace,
            "consumer_group": which.group,
            "states": None if which.states is None else dump(which.states),
            "key": which.key,
            "after": after or 0,
            "limit": limit,
        }
        is_unresolved = which.states is not None and set(which.states) <= set(UNRESOLVED)
        statement = "list_unresolved_letters" if is_unresolved else "list_letters"
        return [_to_letter(row) for row in fetch_named(db, statement, values)]

    @read_transaction
    def get(self, db: Session, namespace: str, letter_id: int) -> DeadLetter:
        return _to_letter(_read(db, namespace, letter_id))

    @read_transaction
    def find_by_event(self, db: Session, namespace: str, position: int) -> Sequence[DeadLetter]:
        rows = fetch_named(db, "find_letters_by_event", {"namespace": namespace, "position": position})
        return [_to_letter(row) for row in rows]

    @waking_transaction
    def replay(
        self, db: Session, namespace: str, letter_id: int, actor: str, *, note: str = "", now: datetime | None = None
    ) -> LetterChange:
        at = read_clock(now)
        row = _read(db, namespace, letter_id)
        _check_state(row, ("failed", "retrying"))
        return _replay(db, row, at, actor, "replay_dead_letter", note)

    @waking_transaction
    def replay_group(
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
        at = read_clock(now)
        if not db.execute(SQL["read_group"], {"namespace": namespace, "name": group}).fetchall():
            raise refusals.no_group(namespace, group)
        values = {"namespace": namespace, "consumer_group": group, "limit": limit}
        replayed: set[int] = set()
        for letter_id, transaction_id in db.execute(SQL["find_failed_letters"], values).fetchall():
            unit = {**values, "id": letter_id, "transaction_id": transaction_id}
            # Letters of one unit are returned more than once.
            if letter_id not in replayed:
                replayed.update(_update(db, "replay_letters", {**unit, "now": to_micros(at), "note": note or None}))
        detail = {"group": group, "letters": len(replayed), "note": note}
        note_change(db, at, actor, "replay_group", namespace, detail)
        return LetterChange(sorted(replayed))

    @waking_transaction
    def skip(
        self, db: Session, namespace: str, letter_id: int, actor: str, *, note: str = "", now: datetime | None = None
    ) -> LetterChange:
        at = read_clock(now)
        row = _read(db, namespace, letter_id)
        _check_state(row, UNRESOLVED)
        values = {**_unit(row), "now": to_micros(at), "actor": actor, "note": note or None}
        return _changed(db, row, at, actor, "skip_dead_letter", note, _update(db, "skip_letters", values))

    @waking_transaction
    def repair(
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
        at = read_clock(now)
        row = _read(db, namespace, letter_id)
        _check_state(row, ("failed", "retrying"))
        is_proposed = read_stream(db, namespace)[2]
        values = {"id": letter_id, "data": check_data(data), "actor": actor, "note": note or None}
        db.execute(SQL["repair_letter"], {**values, "approved_by": None if is_proposed else actor})
        if is_proposed:
            return _changed(db, row, at, actor, "repair_dead_letter", note, [letter_id], is_proposed=True)
        return _replay(db, row, at, actor, "repair_dead_letter", note)

    @waking_transaction
    def approve(
        self, db: Session, namespace: str, letter_id: int, actor: str, *, note: str = "", now: datetime | None = None
    ) -> LetterChange:
        at = read_clock(now)
        row = _read(db, namespace, letter_id)
        if row["repaired_by"] is None or row["approved_by"] is not None:
            raise refusals.no_proposal(letter_id)
        _check_state(row, ("failed", "retrying"))
        if row["repaired_by"] == actor:
            raise refusals.own_proposal(letter_id, actor)
        db.execute(SQL["approve_letter"], {"id": letter_id, "actor": actor})
        return _replay(db, row, at, actor, "approve_dead_letter", note)

    @waking_transaction
    def set_approval(
        self, db: Session, namespace: str, is_required: bool, actor: str, *, now: datetime | None = None
    ) -> None:
        db.execute(SQL["add_event_stream"], {"namespace": namespace})
        db.execute(SQL["set_approval"], {"namespace": namespace, "is_required": is_required})
        note_change(db, read_clock(now), actor, "set_approval", namespace, {"is_required": is_required})

    @read_transaction
    def requires_approval(self, db: Session, namespace: str) -> bool:
        return read_stream(db, namespace)[2]


def _read(db: Session, namespace: str, letter_id: int) -> NamedRow:
    rows = fetch_named(db, "read_letter", {"namespace": namespace, "id": letter_id})
    if not rows:
        raise no_such_letter(letter_id)
    return rows[0]


def _check_state(row: NamedRow, allowed: Collection[str]) -> None:
    if row["state"] not in allowed:
        raise refusals.wrong_state(row["letter_id"], row["state"], " or ".join(allowed))


def _unit(row: NamedRow) -> dict[str, Any]:
    return {
        "namespace": row["namespace"],
        "consumer_group": row["consumer_group"],
        "id": row["letter_id"],
        "transaction_id": row["transaction_id"],
    }


def _update(db: Session, statement: str, values: Mapping[str, Any]) -> list[int]:
    return sorted(letter_id for (letter_id,) in db.execute(SQL[statement], values).fetchall())


def _replay(db: Session, row: NamedRow, now: datetime, actor: str, action: str, note: str) -> LetterChange:
    letters = _update(db, "replay_letters", {**_unit(row), "now": to_micros(now), "note": note or None})
    return _changed(db, row, now, actor, action, note, letters)


def _changed(
    db: Session,
    row: NamedRow,
    now: datetime,
    actor: str,
    action: str,
    note: str,
    letters: Sequence[int],
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
    note_change(db, now, actor, action, row["namespace"], detail | ({"is_proposed": True} if is_proposed else {}))
    return LetterChange(letters, is_proposed)


def _to_letter(row: NamedRow) -> DeadLetter:
    return DeadLetter(
        id=row["letter_id"],
        group=row["consumer_group"],
        state=row["state"],
        event=to_event(row),
        failures=row["failures"],
        error=row["error"],
        created_at=from_micros(row["created_at"]),
        retry_at=from_micros(row["retry_at"]),
        repair=decode(row["repair"]),
        repaired_by=row["repaired_by"],
        approved_by=row["approved_by"],
        resolved_at=from_micros(row["resolved_at"]),
        resolved_by=row["resolved_by"],
        note=row["note"],
    )
