"""Responses to requests with an idempotency key, on SQLite."""

from __future__ import annotations

from datetime import datetime, timedelta

from tickbird.domain.access.http_responses import ABANDONED_AFTER, RESPONSE_TTL, StoredResponse
from tickbird.domain.time.instants import to_micros
from tickbird.store.protocol.http_responses import HttpResponseStore
from tickbird.store.shared.json_columns import as_object, decode
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import NounStore, write_transaction
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.rows import dump


class SqliteHttpResponses(NounStore, HttpResponseStore):
    @write_transaction
    def begin(
        self, db: Session, namespace: str, key: str, request: str, *, now: datetime | None = None
    ) -> StoredResponse | None:
        at, key_columns = read_clock(now), {"namespace": namespace, "key": key}
        bounds = {
            "kept_since": to_micros(at - timedelta(seconds=RESPONSE_TTL)),
            "given_up_since": to_micros(at - timedelta(seconds=ABANDONED_AFTER)),
        }
        if db.execute(
            SQL["begin_request"], {**key_columns, **bounds, "request": request, "now": to_micros(at)}
        ).fetchall():
            return None
        [(requested, status, headers, body)] = db.execute(SQL["find_response"], key_columns).fetchall()
        return StoredResponse(requested, status, as_object(decode(headers)), body or "")

    @write_transaction
    def finish(
        self,
        db: Session,
        namespace: str,
        key: str,
        request: str,
        response: StoredResponse | None,
        *,
        now: datetime | None = None,
    ) -> None:
        key_columns = {"namespace": namespace, "key": key, "request": request}
        if response is None:
            db.execute(SQL["release_key"], key_columns)
        else:
            columns = {"status": response.status, "headers": dump(dict(response.headers)), "body": response.body}
            db.execute(SQL["store_response"], {**key_columns, **columns})
