"""A store has, and its suite tests, exactly the capabilities that it declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, get_type_hints

import pytest

from conformance.events.consumers import (
    ConsumerGroups,
    ConsumerRetention,
    Deliveries,
    GroupChanges,
    PartitionLeases,
)
from conformance.events.dead_letters import LetterChanges, LetterRetention, LetterTransactions, Quarantine
from conformance.events.log import EventLog, EventRetention, EventTargets
from conformance.operations.activity import ActivityFeed
from conformance.operations.dashboard import DashboardReadings
from conformance.operations.leadership import Leadership
from conformance.operations.metrics import Metrics
from conformance.operations.responses import HttpResponses
from conformance.operations.sessions import Sessions
from conformance.operations.tokens import Tokens
from conformance.planning.backfill_runs import BackfillRuns
from conformance.planning.backfills import Backfills
from conformance.planning.concurrency import ConcurrencyLimits
from conformance.planning.fairness import Fairness
from conformance.planning.pruned_ticks import PrunedTicks
from conformance.planning.rate_limits import RateLimits
from conformance.runs.durations import Durations
from conformance.runs.held import HeldRuns
from conformance.runs.lost_runs import LostRuns
from conformance.runs.sql_functions import SqlFunctions
from conformance.schedules.bulk_changes import BulkChanges
from conformance.schedules.calendars import Calendars
from conformance.schedules.pings import Pings
from conformance.steps import NAME, NAMESPACE, create, define, enqueue, get, later
from tickbird.domain.errors import UnsupportedError
from tickbird.domain.planning.commands.define import Create, SyncFromCode, Update
from tickbird.domain.schedules.codec import encode_definition
from tickbird.store.protocol.capabilities import CAPABILITIES
from tickbird.store.protocol.store import Store


class AllBackfills(Backfills, BackfillRuns, PrunedTicks):
    """Every test of backfills."""


class Consumers(ConsumerGroups, Deliveries, PartitionLeases, GroupChanges, ConsumerRetention):
    """Every test of consumers."""


class DeadLetters(Quarantine, LetterTransactions, LetterChanges, LetterRetention):
    """Every test of dead letters."""


class Events(EventLog, EventTargets, EventRetention):
    """Every test of events."""


class Queues(RateLimits, Fairness):
    """Every test of queues."""


class Statistics(Metrics, Durations):
    """Every test of statistics."""


# The test class of each capability; a suite has those of the capabilities of its store.
SUITES: Final[Mapping[str, type]] = {
    "activity": ActivityFeed,
    "backfills": AllBackfills,
    "bulk_changes": BulkChanges,
    "calendars": Calendars,
    "consumers": Consumers,
    "dashboard": DashboardReadings,
    "dead_letters": DeadLetters,
    "events": Events,
    "held": HeldRuns,
    "lost_runs": LostRuns,
    "http_responses": HttpResponses,
    "leadership": Leadership,
    "limits": ConcurrencyLimits,
    "pings": Pings,
    "queues": Queues,
    "sessions": Sessions,
    "sql_functions": SqlFunctions,
    "statistics": Statistics,
    "tokens": Tokens,
}
# Values of the fields that need a capability.
_USES: Final[Mapping[str, Mapping[str, Any]]] = {
    "calendars": {"calendars": ("holidays",)},
    "concurrency_key": {"concurrency_key": "gpu"},
    "hold_above": {"catch_up": "all", "hold_above": 10},
    "on_crash": {"on_crash": "ask"},
}


class Declarations:
    """Every capability is implemented and tested, or refused."""

    async def test_the_suite_has_the_class_of_each_capability_and_no_other(self, store: Store) -> None:
        assert SUITES.keys() == CAPABILITIES.keys()
        assert {name for name, suite in SUITES.items() if isinstance(self, suite)} == store.capabilities

    async def test_a_capability_has_all_verbs_of_its_protocol(self, store: Store) -> None:
        protocols = get_type_hints(Store)
        for name in sorted(store.capabilities):
            protocol = protocols[name]
            verbs = [verb for verb in vars(protocol) if not verb.startswith("_")]
            assert verbs
            for verb in verbs:
                # A driver that derives from the protocol inherits its empty verbs.
                assert getattr(type(getattr(store, name)), verb) is not vars(protocol)[verb], f"{name}.{verb}"

    async def test_a_capability_that_is_not_declared_is_refused_in_one_sentence(self, store: Store) -> None:
        for name in sorted(CAPABILITIES.keys() - store.capabilities):
            with pytest.raises(UnsupportedError, match=rf"^{name}: this store has no [a-z ]+\.") as refused:
                getattr(store, name)
            assert refused.value.field == name
            assert refused.value.hint

    async def test_a_definition_that_needs_what_is_not_declared_is_refused(self, store: Store) -> None:
        await create(store)
        for name, capability in CAPABILITIES.items():
            for field in capability.fields if name not in store.capabilities else ():
                definition = define(**_USES[field])
                stated = {part: encode_definition(definition)[part] for part in _USES[field]}
                for schedule, command in (
                    ("new", Create(actor="ada", namespace=NAMESPACE, definition=definition)),
                    (NAME, Update(actor="ada", fields=stated)),
                    (NAME, SyncFromCode(actor="ada", definition=definition, app="app", fingerprint="f")),
                ):
                    with pytest.raises(UnsupportedError, match=rf"^{field}: ") as refused:
                        await store.schedules.change(NAMESPACE, schedule, command, now=later(0))
                    assert refused.value.field == field
        assert await store.schedules.get(NAMESPACE, "new") is None
        assert (await get(store)).revision == 1

    async def test_a_run_that_needs_what_is_not_declared_is_refused(self, store: Store) -> None:
        if "limits" in store.capabilities:
            return
        with pytest.raises(UnsupportedError, match=r"^concurrency_key: "):
            await enqueue(store, concurrency_key="gpu")
        assert await store.runs.list(NAMESPACE) == []
