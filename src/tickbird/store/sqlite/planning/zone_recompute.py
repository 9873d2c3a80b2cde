"""After the zone rules changed: cursors computed anew, a batch at a time."""

from __future__ import annotations

import sqlite3

from tickbird.domain.schedules.codec import FORMAT
from tickbird.domain.time.zone_data import ZoneRecomputeResult, Zones
from tickbird.store.shared.planning.decide import recompute_for_zone_data
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.planning.planning import read_schedules, write_plans
from tickbird.store.sqlite.planning.zone_data import audit, stamp
from tickbird.store.sqlite.rows import dump


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
    rows = [row for row in db.execute(SQL["some_cursors"], {"ids": dump(ids)}).fetchall() if row[11] is None]
    schedules = read_schedules(db, known, rows)
    found = [again for row, schedule in schedules if (again := recompute_for_zone_data(schedule, row[10])) is not None]
    write_plans(db, known, [decided for decided, _ in found], now)
    moved = [each for _, each in found if each is not None]
    audit(db, zones, moved, now)
    stamp(db, zones, ids)
    db.execute(SQL["wake_others"])
    return ZoneRecomputeResult(moved, ids[-1])
