"""After the zone rules changed: cursors computed anew, a batch at a time."""

from __future__ import annotations

from datetime import datetime

from tickbird.domain.schedules.codec import FORMAT
from tickbird.domain.time.zone_data import ZoneRecomputeResult, Zones
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.planning.due import read_due_schedules
from tickbird.store.postgres.planning.write import write_plans
from tickbird.store.postgres.planning.zone_data import audit, stamp
from tickbird.store.shared.planning.decide import recompute_for_zone_data
from tickbird.store.shared.planning.revision_cache import RevisionCache


async def follow(
    db: Session, known: RevisionCache, zones: Zones, after: int, limit: int, now: datetime | None
) -> ZoneRecomputeResult:
    """Compute a batch of cursors anew; what moved is audited."""
    locked = await db.fetch(
        "lock_other_zones", after=after, zones=zones.generation, format=FORMAT, limit=limit, now=now
    )
    if not locked:
        await db.execute("end_follow", zones=zones.generation, now=now)
        return ZoneRecomputeResult()
    ids, at = [row[0] for row in locked], locked[0][1]
    # An edit by plain SQL is for the planner, who goes by the new rules as well.
    looks = [look for look in await read_due_schedules(db, known, ids) if look.edited is None]
    batch = [
        decided for look in looks if (decided := recompute_for_zone_data(look.schedule, look.last_skip_id)) is not None
    ]
    await write_plans(db, known, batch, at)
    moved = [decided.moved for decided in batch if decided.moved is not None]
    await audit(db, zones, moved, at)
    await stamp(db, zones, ids)
    if moved:
        await db.execute("wake")
    return ZoneRecomputeResult(moved, ids[-1])
