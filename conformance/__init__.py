"""What every store must do, as one exercise for pytest: a driver is done when it passes all of it.

Subclass `Exercise` under a name that pytest collects, in a module or folder with these fixtures:

    store   an open, migrated, empty store
    other   a second instance on the same database, open as well; the same one where there can be no second
    plain   writes rows behind the store's back (see `plain.Plain`); skip where nothing else can reach the database

Tests are coroutines: they need pytest-asyncio in its auto mode, and fixtures and tests on the same event loop.
Call `pytest.register_assert_rewrite("conformance")` first, so that failed asserts show their values.
"""

from __future__ import annotations

from collections import Counter

from conformance.activity import Happenings
from conformance.backfills import Backfills
from conformance.bulk_changes import Together
from conformance.calendars import Calendars
from conformance.clocks import ClockAlarms
from conformance.concurrency import Limits
from conformance.dashboard import DashboardReadings
from conformance.dependencies import Dependencies
from conformance.doctor import Doctors
from conformance.durations import Durations
from conformance.early_ticks import Early
from conformance.edits import Edits
from conformance.fairness import Fairness
from conformance.held import HeldRuns
from conformance.histories import Histories
from conformance.idempotency import Keys
from conformance.ledger import Ledger
from conformance.logs import Logs
from conformance.metrics import Measured
from conformance.outages import Outages
from conformance.overlap import Waiting
from conformance.overrides import Overrides
from conformance.plain_sql import Plain, PlainEdits
from conformance.planning import Planning
from conformance.prune import Prune
from conformance.races import Races
from conformance.rate_limits import Rates
from conformance.refusals import Refusals
from conformance.rescue import Rescue
from conformance.responses import Answers
from conformance.retries import Retries
from conformance.runs import Runs
from conformance.schedules import Schedules
from conformance.sessions import Sessions
from conformance.shadow import Shadows
from conformance.states import States
from conformance.targets import Targets
from conformance.tokens import Tokens
from conformance.unreadable import UnreadableRuns
from conformance.workers import Workers
from conformance.zones import Zones

__all__ = ["Exercise", "Plain"]


class Exercise(
    Planning,
    Outages,
    Ledger,
    Edits,
    States,
    Overrides,
    Early,
    Durations,
    Schedules,
    Runs,
    Retries,
    UnreadableRuns,
    ClockAlarms,
    Keys,
    Logs,
    Waiting,
    Backfills,
    HeldRuns,
    Limits,
    Dependencies,
    Rates,
    Fairness,
    Refusals,
    Rescue,
    Prune,
    Workers,
    Zones,
    Doctors,
    PlainEdits,
    Calendars,
    Targets,
    Shadows,
    Together,
    Tokens,
    Sessions,
    Happenings,
    Measured,
    DashboardReadings,
    Answers,
    Races,
    Histories,
):
    """Every test of every noun."""


_names = Counter(name for noun in Exercise.__bases__ for name in vars(noun) if name.startswith("test_"))
assert max(_names.values()) == 1, f"tests of two nouns share a name: {_names.most_common(1)}"
