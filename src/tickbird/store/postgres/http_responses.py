"""Answers on PostgreSQL."""

from __future__ import annotations

from datetime import datetime

from psycopg.types.json import Jsonb

from tickbird.domain.access.http_responses import ABANDONED_AFTER, RESPONSE_TTL, StoredResponse
from tickbird.domain.errors import ConflictError
from tickbird.store.postgres.database.connection import Session
from tickbird.store.shared.json_columns import as_object

# Between two looks, the one that is in the way may be gone.
_MAX_TRIES = 3


async def begin(db: Session, namespace: str, key: str, request: str, now: datetime | None) -> StoredResponse | None:
    """Take a key, or tell what is known of it."""
    place = {"namespace": namespace, "key": key}
    bounds = {"kept": float(RESPONSE_TTL), "given_up": float(ABANDONED_AFTER), "now": now}
    for _ in range(_MAX_TRIES):
        if await db.fetch("begin_request", **place, **bounds, request=request):
            return None
        for asked, status, headers, body in await db.fetch("find_answer", **place):
            return StoredResponse(asked, status, as_object(headers), body or "")
    raise ConflictError("somebody else asks with this key again and again;", hint="try again in a moment.")


async def end(db: Session, namespace: str, key: str, request: str, answer: StoredResponse | None) -> None:
    """Keep what was answered, or forget that it was asked."""
    place = {"namespace": namespace, "key": key, "request": request}
    if answer is None:
        await db.execute("forget_answer", **place)
    else:
        kept = {"status": answer.status, "headers": Jsonb(dict(answer.headers)), "body": answer.body}
        await db.execute("keep_answer", **place, **kept)
