"""What every store must do, as one exercise for pytest: a driver is done when it passes all of it.

Subclass `Exercise` under a name that pytest collects, in a module or folder with these fixtures:

    store   an open, migrated, empty store
    other   a second instance on the same database, open as well; the same one where there can be no second
    plain   writes rows behind the store's back (see `plain.Plain`); skip where nothing else can reach the database

Tests are coroutines: they need pytest-asyncio in its auto mode, and fixtures and tests on the same event loop.
Call `pytest.register_assert_rewrite("tickbird.testing.conformance")` first, so that failed asserts show their values.
"""

from __future__ import annotations

from collections import Counter

from tickbird.testing.conformance.answers import Answers
from tickbird.testing.conformance.backfills import Backfills
from tickbird.testing.conformance.calendars import Calendars
from tickbird.testing.conformance.clocks import ClockAlarms
from tickbird.testing.conformance.dependencies import Dependencies
from tickbird.testing.conformance.doctor import Doctors
from tickbird.testing.conformance.durations import Durations
from tickbird.testing.conformance.early import Early
from tickbird.testing.conformance.edits import Edits
from tickbird.testing.conformance.fairness import Fairness
from tickbird.testing.conformance.happenings import Happenings
from tickbird.testing.conformance.held import HeldRuns
from tickbird.testing.conformance.histories import Histories
from tickbird.testing.conformance.keys import Keys
from tickbird.testing.conformance.ledger import Ledger
from tickbird.testing.conformance.limits import Limits
from tickbird.testing.conformance.logs import Logs
from tickbird.testing.conformance.measures import Measured
from tickbird.testing.conformance.outages import Outages
from tickbird.testing.conformance.overrides import Overrides
from tickbird.testing.conformance.plain import Plain, PlainEdits
from tickbird.testing.conformance.planning import Planning
from tickbird.testing.conformance.prune import Prune
from tickbird.testing.conformance.races import Races
from tickbird.testing.conformance.rates import Rates
from tickbird.testing.conformance.readings import DashboardReadings
from tickbird.testing.conformance.refusals import Refusals
from tickbird.testing.conformance.rescue import Rescue
from tickbird.testing.conformance.retries import Retries
from tickbird.testing.conformance.runs import Runs
from tickbird.testing.conformance.schedules import Schedules
from tickbird.testing.conformance.sessions import Sessions
from tickbird.testing.conformance.shadow import Shadows
from tickbird.testing.conformance.states import States
from tickbird.testing.conformance.targets import Targets
from tickbird.testing.conformance.together import Together
from tickbird.testing.conformance.tokens import Tokens
from tickbird.testing.conformance.unreadable import UnreadableRuns
from tickbird.testing.conformance.waiting import Waiting
from tickbird.testing.conformance.workers import Workers
from tickbird.testing.conformance.zones import Zones

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
