"""The client: what CLI, API, dashboard and users call, grouped by noun.

`Client` is the one interface. `StoreClient` works on a store, `HttpClient` (`tickbird.client.http`) through a server.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import get_type_hints

from tickbird.client.activity import ActivityLog
from tickbird.client.audit import AuditLog
from tickbird.client.backfills import Backfills
from tickbird.client.base import N, Settings, Validate
from tickbird.client.calendars import Calendars
from tickbird.client.concurrency import Limits
from tickbird.client.dashboard import DashboardReads
from tickbird.client.files import Files
from tickbird.client.forecast import Forecasts
from tickbird.client.held import Held
from tickbird.client.pings import Pings
from tickbird.client.queues import Queues
from tickbird.client.revisions import Revisions
from tickbird.client.runs import Runs
from tickbird.client.schedules import Schedules
from tickbird.client.server_reads import ServerReads
from tickbird.client.sessions import Sessions
from tickbird.client.system import System
from tickbird.client.tick_overrides import Overrides
from tickbird.client.ticks import Ticks
from tickbird.client.tokens import Tokens
from tickbird.client.workers import Workers
from tickbird.domain.text import check_name
from tickbird.store.protocol.store import Store


class Client(ABC):
    """Reads and changes one namespace. Every change takes `actor` and is audited."""

    @abstractmethod
    def _noun(self, kind: type[N]) -> N:
        """The verbs of a noun."""

    @abstractmethod
    def in_namespace(self, namespace: str) -> Client:
        """A client of another namespace."""

    @cached_property
    def schedules(self) -> Schedules:
        """Schedules, and changes of their state."""
        return self._noun(Schedules)

    @cached_property
    def revisions(self) -> Revisions:
        """Revisions of schedules."""
        return self._noun(Revisions)

    @cached_property
    def ticks(self) -> Ticks:
        """Ticks: upcoming, decided, explained, verified."""
        return self._noun(Ticks)

    @cached_property
    def overrides(self) -> Overrides:
        """Decisions for single upcoming ticks."""
        return self._noun(Overrides)

    @cached_property
    def pings(self) -> Pings:
        """Reports of another system that it ran a schedule."""
        return self._noun(Pings)

    @cached_property
    def runs(self) -> Runs:
        """Runs, their attempts and logs."""
        return self._noun(Runs)

    @cached_property
    def held(self) -> Held:
        """Runs that are held after an outage."""
        return self._noun(Held)

    @cached_property
    def backfills(self) -> Backfills:
        """Runs of ticks that have none."""
        return self._noun(Backfills)

    @cached_property
    def limits(self) -> Limits:
        """Concurrency limits."""
        return self._noun(Limits)

    @cached_property
    def queues(self) -> Queues:
        """Queues and their rates."""
        return self._noun(Queues)

    @cached_property
    def calendars(self) -> Calendars:
        """Stored calendars."""
        return self._noun(Calendars)

    @cached_property
    def forecasts(self) -> Forecasts:
        """Previews and simulations."""
        return self._noun(Forecasts)

    @cached_property
    def files(self) -> Files:
        """Schedules in files."""
        return self._noun(Files)

    @cached_property
    def workers(self) -> Workers:
        """Live workers."""
        return self._noun(Workers)

    @cached_property
    def activity(self) -> ActivityLog:
        """Recent activity."""
        return self._noun(ActivityLog)

    @cached_property
    def audit(self) -> AuditLog:
        """The audit log."""
        return self._noun(AuditLog)

    @cached_property
    def tokens(self) -> Tokens:
        """Tokens of the API."""
        return self._noun(Tokens)

    @cached_property
    def sessions(self) -> Sessions:
        """Sessions of browsers."""
        return self._noun(Sessions)

    @cached_property
    def system(self) -> System:
        """The store itself."""
        return self._noun(System)


class StoreClient(Client):
    """The client on a store, with what only a server and its pages read."""

    def __init__(
        self,
        store: Store,
        namespace: str = "default",
        validators: Mapping[str, Validate] | None = None,
        settings: Mapping[str, Settings] | None = None,
    ) -> None:
        self._store = store
        self._namespace = check_name(namespace, "namespace")
        # Payload validators and settings of the tasks that this process has itself.
        self._validators = validators or {}
        self._settings = settings or {}

    def _noun(self, kind: type[N]) -> N:
        return kind(self._store, self._namespace, self._validators, self._settings)

    def in_namespace(self, namespace: str) -> StoreClient:
        """A client of the same store in another namespace."""
        if namespace != self._namespace:
            return StoreClient(self._store, namespace)
        return StoreClient(self._store, namespace, self._validators, self._settings)

    @property
    def source(self) -> ServerReads:
        """What a server reads of the whole store."""
        return ServerReads(self._store)

    @property
    def board(self) -> DashboardReads:
        """What a dashboard reads of the namespace."""
        return DashboardReads(self._store, self._namespace)


# The class of each noun by its attribute, from which routes are derived.
NOUNS: Mapping[str, type] = {
    name: get_type_hints(noun.func)["return"]
    for name, noun in vars(Client).items()
    if isinstance(noun, cached_property)
}
