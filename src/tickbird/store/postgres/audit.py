"""The audit log on PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from tickbird.store.postgres.database.connection import Session


async def write_audit(
    db: Session,
    now: datetime,
    actor: str,
    action: str,
    namespace: str,
    *,
    schedule_id: int | None = None,
    schedule: str | None = None,
    run_id: int | None = None,
    detail: Mapping[str, Any],
) -> None:
    await db.execute(
        "write_audit",
        now=now,
        actor=actor,
        action=action,
        namespace=namespace,
        schedule_id=schedule_id,
        schedule=schedule,
        run_id=run_id,
        detail=Jsonb(dict(detail)),
    )
