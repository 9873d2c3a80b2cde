"""Answers on SQLite."""

from __future__ import annotations

import sqlite3

from tickbird.domain.access.http_responses import ABANDONED_AFTER, RESPONSE_TTL, StoredResponse
from tickbird.store.shared.json_columns import as_object, decode
from tickbird.store.sqlite.database.instants import MICROS
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.rows import dump


def begin(db: sqlite3.Connection, namespace: str, key: str, request: str, now: int) -> StoredResponse | None:
    """Take a key, or tell what is known of it."""
    row = {
        "namespace": namespace,
        "key": key,
        "request": request,
        "now": now,
        "kept_since": now - RESPONSE_TTL * MICROS,
        "given_up_since": now - ABANDONED_AFTER * MICROS,
    }
    if db.execute(SQL["begin_request"], row).fetchall():
        return None
    [(asked, status, headers, body)] = db.execute(SQL["find_answer"], {"namespace": namespace, "key": key}).fetchall()
    return StoredResponse(asked, status, as_object(decode(headers)), body or "")


def end(db: sqlite3.Connection, namespace: str, key: str, request: str, answer: StoredResponse | None) -> None:
    """Keep what was answered, or forget that it was asked."""
    row = {"namespace": namespace, "key": key, "request": request}
    if answer is None:
        db.execute(SQL["forget_answer"], row)
    else:
        kept = {"status": answer.status, "headers": dump(dict(answer.headers)), "body": answer.body}
        db.execute(SQL["keep_answer"], {**row, **kept})
