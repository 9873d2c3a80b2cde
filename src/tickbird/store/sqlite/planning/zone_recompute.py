"""After the zone rules changed: cursors computed anew, a batch at a time."""

from __future__ import annotations

import sqlite3

from tickbird.domain.schedules.codec import FORMAT
from tickbird.domain.time.zone_data import ZoneRecomputeResult, Zones
from tickbird.store.shared.planning.decide import recompute_for_zone_data
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.planning.due import read_due_schedules
from tickbird.store.sqlite.planning.write import write_plans
from tickbird.store.sqlite.planning.zone_data import audit, stamp


def follow(
    db: sqlite3.Connection, known: RevisionCache, zones: Zones, after: int, limit: int, now: int
) -> ZoneRecomputeResult:
    """Compute a batch of cursors anew; what moved is audited."""
    bounds = {"after": after, "zones": zones.generation, "format": FORMAT, "limit": limit, "now": now}
    ids = [schedule_id for (schedule_id,) in db.execute(SQL["other_zones"], bounds)]
    if not ids:
        db.execute(SQL["end_follow"], bounds)
        return ZoneRecomputeResult()
    # An edit by plain SQL is for the planner, who goes by the new rules as well.
    looks = [look for look in read_due_schedules(db, known, ids) if look.edited is None]
    batch = [
        decided for look in looks if (decided := recompute_for_zone_data(look.schedule, look.last_skip_id)) is not None
    ]
    write_plans(db, known, batch, now)
    moved = [decided.moved for decided in batch if decided.moved is not None]
    audit(db, zones, moved, now)
    stamp(db, zones, ids)
    db.execute(SQL["wake_others"])
    return ZoneRecomputeResult(moved, ids[-1])
