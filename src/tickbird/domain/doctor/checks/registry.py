"""All checks, in the order in which `doctor` reports them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from tickbird.domain.doctor.checks import (
    capabilities,
    clock,
    events,
    identity,
    leader,
    planning,
    postgres,
    queues,
    schedules,
    schema,
    sqlite,
    workers,
    zone_data,
)
from tickbird.domain.doctor.finding import Finding, unseen
from tickbird.domain.doctor.snapshot import StoreSnapshot

Check = Callable[[StoreSnapshot], Iterator[Finding]]

# The first group needs no schema; the second runs only if there is one.
_OF_STORE: Final[tuple[tuple[str, Check], ...]] = (
    ("schema", schema.schema),
    ("capabilities", capabilities.capabilities),
    ("rights", postgres.rights),
    ("server", postgres.server),
    ("versions", workers.versions),
    ("clock", clock.clock),
    ("time-outs", postgres.time_outs),
    ("durability", lambda condition: (sqlite if condition.file else postgres).durability(condition)),
    ("disk", sqlite.disk),
    ("pooler", postgres.pooler),
    ("replication", postgres.replication),
    ("connections", postgres.connections),
    ("snapshots", postgres.snapshots),
    ("vacuum", postgres.vacuum),
    ("indexes", postgres.indexes),
)
_OF_SCHEMA: Final[tuple[tuple[str, Check], ...]] = (
    ("copy", identity.copy),
    ("time zone data", zone_data.zones),
    ("workers", workers.workers),
    ("fallback", workers.fallback),
    ("planning", planning.planning),
    ("leader", leader.leader),
    ("leases", planning.leases),
    ("queues", queues.queues),
    ("parked", schedules.parked),
    ("ignored", schedules.ignored),
    ("cursors", schedules.cursors),
    ("calendars", schedules.calendars),
    ("dependencies", schedules.dependencies),
    ("failing", schedules.failing),
    ("held", schedules.held),
    ("undecided", schedules.undecided),
    ("event log", events.event_log),
    ("consumers", events.consumers),
    ("dead letters", events.dead_letters),
)
CHECKS: Final = tuple(name for name, _ in (*_OF_STORE, *_OF_SCHEMA))


def run_checks(condition: StoreSnapshot) -> list[Finding]:
    """Run all checks in a fixed order."""
    findings: list[Finding] = []
    for name, check in (*_OF_STORE, *(_OF_SCHEMA if condition.work is not None else ())):
        if name in condition.unseen:
            findings.append(unseen(name, condition.unseen[name]))
        else:
            findings += check(condition)
    return findings
