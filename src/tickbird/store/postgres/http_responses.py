"""Responses to requests with an idempotency key, on PostgreSQL."""

from __future__ import annotations

from datetime import datetime

from psycopg.types.json import Jsonb

from tickbird.domain.access.http_responses import ABANDONED_AFTER, RESPONSE_TTL, StoredResponse
from tickbird.domain.errors import ConflictError
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.database.database import NounStore, transaction
from tickbird.store.protocol.http_responses import HttpResponseStore
from tickbird.store.shared.json_columns import as_object

# The conflicting row may be deleted between two statements.
_MAX_TRIES = 3


class PostgresHttpResponses(NounStore, HttpResponseStore):
    @transaction
    async def begin(
        self, db: Session, namespace: str, key: str, request: str, *, now: datetime | None = None
    ) -> StoredResponse | None:
        key_columns = {"namespace": namespace, "key": key}
        bounds = {"kept": float(RESPONSE_TTL), "given_up": float(ABANDONED_AFTER), "now": now}
        for _ in range(_MAX_TRIES):
            if await db.fetch("begin_request", **key_columns, **bounds, request=request):
                return None
            for requested, status, headers, body in await db.fetch("find_response", **key_columns):
                return StoredResponse(requested, status, as_object(headers), body or "")
        raise ConflictError("another client is using this idempotency key.", hint="Try again in a moment.")

    async def finish(
        self, namespace: str, key: str, request: str, response: StoredResponse | None, *, now: datetime | None = None
    ) -> None:
        key_columns = {"namespace": namespace, "key": key, "request": request}
        if response is None:
            await self._db.execute("release_key", **key_columns)
        else:
            headers = Jsonb(dict(response.headers))
            await self._db.execute(
                "store_response", **key_columns, status=response.status, headers=headers, body=response.body
            )
