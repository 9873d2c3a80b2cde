"""The audit log on SQLite."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tickbird.domain.time.instants import to_micros
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.rows import dump


def write_audit(
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
    row = {
        "now": to_micros(now),
        "actor": actor,
        "action": action,
        "namespace": namespace,
        "detail": dump(dict(detail)),
    }
    db.execute(SQL["write_audit"], {**row, "schedule_id": schedule_id, "schedule": schedule, "run_id": run_id})
