"""The conformance suites of a store, for pytest: the core, and one class for each capability (`SUITES`).

A driver that has everything is done when it passes `StoreConformance`. Another one is done when it passes
`CoreConformance` with the classes of the capabilities that it declares:

    class TestRedis(CoreConformance, Tokens, Sessions): ...

The suite fails if a capability is declared and its class is missing, or the other way round. Subclass under a name that
pytest collects, in a module or folder with these fixtures:

    store   an open, migrated, empty store
    other   a second instance on the same database, open as well; the same one where there can be no second
    plain   writes rows behind the store's back (see `plain.Plain`); skip where nothing else can reach the database

Tests are coroutines: they need pytest-asyncio in its auto mode, and fixtures and tests on the same event loop.
Call `pytest.register_assert_rewrite("conformance")` first, so that failed asserts show their values.
"""

from __future__ import annotations

from collections import Counter

from conformance.declarations import (
    SUITES,
    AllBackfills,
    Consumers,
    DeadLetters,
    Declarations,
    Events,
    Queues,
    Statistics,
)
from conformance.operations.activity import ActivityFeed
from conformance.operations.dashboard import DashboardReadings
from conformance.operations.doctor import Inspections
from conformance.operations.leadership import Leadership
from conformance.operations.responses import HttpResponses
from conformance.operations.sessions import Sessions
from conformance.operations.tokens import Tokens
from conformance.operations.workers import Workers
from conformance.planning.clocks import ClockAlarms
from conformance.planning.concurrency import ConcurrencyLimits
from conformance.planning.custom_triggers import CustomTriggers
from conformance.planning.dependencies import Dependencies
from conformance.planning.histories import Histories
from conformance.planning.ledger import Ledger
from conformance.planning.outages import Outages
from conformance.planning.overlap import Overlap
from conformance.planning.planning import Planning
from conformance.planning.races import Races
from conformance.planning.worker_ticks import WorkerTicks
from conformance.planning.zones import Zones
from conformance.runs.commits import Commits
from conformance.runs.held import HeldRuns
from conformance.runs.idempotency import IdempotencyKeys
from conformance.runs.incarnations import Incarnations
from conformance.runs.logs import Logs
from conformance.runs.lost_runs import LostRuns
from conformance.runs.prune import Prune
from conformance.runs.rescue import Rescue
from conformance.runs.retries import Retries
from conformance.runs.run_triggers import RunTriggers
from conformance.runs.runs import Runs
from conformance.runs.sql_functions import SqlFunctions
from conformance.runs.targets import Targets
from conformance.runs.unreadable import UnreadableRuns
from conformance.schedules.bulk_changes import BulkChanges
from conformance.schedules.calendars import Calendars
from conformance.schedules.early_ticks import EarlyTicks
from conformance.schedules.edits import Edits
from conformance.schedules.overrides import Overrides
from conformance.schedules.pings import Pings
from conformance.schedules.plain_sql import Plain, PlainEdits
from conformance.schedules.refusals import Refusals
from conformance.schedules.schedules import Schedules
from conformance.schedules.shadow import Shadows
from conformance.schedules.states import States
from conformance.schedules.void_overrides import VoidOverrides

__all__ = [
    "SUITES",
    "ActivityFeed",
    "AllBackfills",
    "BulkChanges",
    "Calendars",
    "ConcurrencyLimits",
    "Consumers",
    "CoreConformance",
    "DashboardReadings",
    "DeadLetters",
    "Events",
    "HeldRuns",
    "HttpResponses",
    "Leadership",
    "LostRuns",
    "Pings",
    "Plain",
    "Queues",
    "Sessions",
    "SqlFunctions",
    "Statistics",
    "StoreConformance",
    "Tokens",
]


class CoreConformance(
    Declarations,
    Planning,
    WorkerTicks,
    Outages,
    Ledger,
    Edits,
    States,
    Overrides,
    VoidOverrides,
    EarlyTicks,
    Schedules,
    Runs,
    RunTriggers,
    Retries,
    Commits,
    UnreadableRuns,
    ClockAlarms,
    IdempotencyKeys,
    Incarnations,
    Logs,
    Overlap,
    CustomTriggers,
    Dependencies,
    Refusals,
    Rescue,
    Prune,
    Workers,
    Zones,
    Inspections,
    PlainEdits,
    Targets,
    Shadows,
    Races,
    Histories,
):
    """The tests that every store must pass."""


class StoreConformance(
    CoreConformance,
    AllBackfills,
    HeldRuns,
    LostRuns,
    ConcurrencyLimits,
    Queues,
    Calendars,
    BulkChanges,
    Pings,
    Tokens,
    Sessions,
    ActivityFeed,
    Statistics,
    DashboardReadings,
    HttpResponses,
    Events,
    Consumers,
    DeadLetters,
    Leadership,
):
    """The core and every capability, except functions in the store's database (`SqlFunctions`)."""


_names = Counter(
    name for noun in (SqlFunctions, *StoreConformance.__mro__) for name in vars(noun) if name.startswith("test_")
)
assert max(_names.values()) == 1, f"tests of two nouns share a name: {_names.most_common(1)}"
