"""What every store must do, as one suite for pytest: a driver is done when it passes all of it.

Subclass `StoreConformance` under a name that pytest collects, in a module or folder with these fixtures:

    store   an open, migrated, empty store
    other   a second instance on the same database, open as well; the same one where there can be no second
    plain   writes rows behind the store's back (see `plain.Plain`); skip where nothing else can reach the database

Tests are coroutines: they need pytest-asyncio in its auto mode, and fixtures and tests on the same event loop.
Call `pytest.register_assert_rewrite("conformance")` first, so that failed asserts show their values.
"""

from __future__ import annotations

from collections import Counter

from conformance.operations.activity import ActivityFeed
from conformance.operations.dashboard import DashboardReadings
from conformance.operations.doctor import Inspections
from conformance.operations.metrics import Metrics
from conformance.operations.responses import HttpResponses
from conformance.operations.sessions import Sessions
from conformance.operations.tokens import Tokens
from conformance.operations.workers import Workers
from conformance.planning.backfill_runs import BackfillRuns
from conformance.planning.backfills import Backfills
from conformance.planning.clocks import ClockAlarms
from conformance.planning.concurrency import ConcurrencyLimits
from conformance.planning.dependencies import Dependencies
from conformance.planning.fairness import Fairness
from conformance.planning.histories import Histories
from conformance.planning.ledger import Ledger
from conformance.planning.outages import Outages
from conformance.planning.overlap import Overlap
from conformance.planning.planning import Planning
from conformance.planning.pruned_ticks import PrunedTicks
from conformance.planning.races import Races
from conformance.planning.rate_limits import RateLimits
from conformance.planning.zones import Zones
from conformance.runs.durations import Durations
from conformance.runs.held import HeldRuns
from conformance.runs.idempotency import IdempotencyKeys
from conformance.runs.incarnations import Incarnations
from conformance.runs.logs import Logs
from conformance.runs.prune import Prune
from conformance.runs.rescue import Rescue
from conformance.runs.retries import Retries
from conformance.runs.run_triggers import RunTriggers
from conformance.runs.runs import Runs
from conformance.runs.targets import Targets
from conformance.runs.unreadable import UnreadableRuns
from conformance.schedules.bulk_changes import BulkChanges
from conformance.schedules.calendars import Calendars
from conformance.schedules.early_ticks import EarlyTicks
from conformance.schedules.edits import Edits
from conformance.schedules.overrides import Overrides
from conformance.schedules.plain_sql import Plain, PlainEdits
from conformance.schedules.refusals import Refusals
from conformance.schedules.schedules import Schedules
from conformance.schedules.shadow import Shadows
from conformance.schedules.states import States
from conformance.schedules.void_overrides import VoidOverrides

__all__ = ["Plain", "StoreConformance"]


class StoreConformance(
    Planning,
    Outages,
    Ledger,
    Edits,
    States,
    Overrides,
    VoidOverrides,
    EarlyTicks,
    Durations,
    Schedules,
    Runs,
    RunTriggers,
    Retries,
    UnreadableRuns,
    ClockAlarms,
    IdempotencyKeys,
    Incarnations,
    Logs,
    Overlap,
    Backfills,
    BackfillRuns,
    PrunedTicks,
    HeldRuns,
    ConcurrencyLimits,
    Dependencies,
    RateLimits,
    Fairness,
    Refusals,
    Rescue,
    Prune,
    Workers,
    Zones,
    Inspections,
    PlainEdits,
    Calendars,
    Targets,
    Shadows,
    BulkChanges,
    Tokens,
    Sessions,
    ActivityFeed,
    Metrics,
    DashboardReadings,
    HttpResponses,
    Races,
    Histories,
):
    """Every test of every noun."""


_names = Counter(name for noun in StoreConformance.__bases__ for name in vars(noun) if name.startswith("test_"))
assert max(_names.values()) == 1, f"tests of two nouns share a name: {_names.most_common(1)}"
