"""The client, grouped by noun: the interface of the CLI, the API, the dashboard and users.

`Client` is the interface. `StoreClient` works on a store, `HttpClient` (`tickbird.client.http`) through a server.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from tickbird.client.activity import ActivityLog
from tickbird.client.audit import AuditLog
from tickbird.client.backfills import Backfills
from tickbird.client.base import ClientBase, N
from tickbird.client.calendars import Calendars
from tickbird.client.concurrency import Limits
from tickbird.client.consumers import Consumers
from tickbird.client.dead_letters import DeadLetters
from tickbird.client.event_schedules import EventSchedules
from tickbird.client.events import Events
from tickbird.client.file_service import FileService
from tickbird.client.files import Files
from tickbird.client.forecast import Forecasts
from tickbird.client.held import Held
from tickbird.client.leadership import Leadership
from tickbird.client.pings import Pings
from tickbird.client.queues import Queues
from tickbird.client.revisions import Revisions
from tickbird.client.runs import Runs
from tickbird.client.schedules import Schedules
from tickbird.client.sessions import Sessions
from tickbird.client.system import System
from tickbird.client.tick_overrides import Overrides
from tickbird.client.ticks import Ticks
from tickbird.client.tokens import Tokens
from tickbird.client.workers import Workers
from tickbird.domain.schedules.schedule import Schedule
from tickbird.store.protocol.store import Store

if TYPE_CHECKING:
    from tickbird.files.document import Document

T = TypeVar("T", bound=ClientBase)


class Noun(Generic[T]):
    """An attribute of a client with the verbs of one noun, created at its first use."""

    def __init__(self, kind: type[T]) -> None:
        self.kind = kind
        self.__doc__ = kind.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, client: None, owner: type) -> Noun[T]: ...
    @overload
    def __get__(self, client: Client, owner: type) -> T: ...
    def __get__(self, client: Client | None, owner: type) -> Any:
        if client is None:
            return self
        # The attribute of the instance hides this descriptor from now on.
        noun = vars(client)[self._name] = client._noun(self.kind)
        return noun


class Client(ABC):
    """Reads and changes one namespace. Every change takes `actor` and is audited."""

    schedules = Noun(Schedules)
    revisions = Noun(Revisions)
    ticks = Noun(Ticks)
    overrides = Noun(Overrides)
    pings = Noun(Pings)
    events = Noun(Events)
    consumers = Noun(Consumers)
    dead_letters = Noun(DeadLetters)
    event_schedules = Noun(EventSchedules)
    runs = Noun(Runs)
    held = Noun(Held)
    backfills = Noun(Backfills)
    limits = Noun(Limits)
    queues = Noun(Queues)
    calendars = Noun(Calendars)
    forecasts = Noun(Forecasts)
    files = Noun(Files)
    workers = Noun(Workers)
    leadership = Noun(Leadership)
    activity = Noun(ActivityLog)
    audit = Noun(AuditLog)
    tokens = Noun(Tokens)
    sessions = Noun(Sessions)
    system = Noun(System)

    @abstractmethod
    def _noun(self, kind: type[N]) -> N: ...

    @abstractmethod
    def in_namespace(self, namespace: str) -> Client: ...


class StoreClient(ClientBase, Client):
    """The client on a store, with the reads of a server and its pages."""

    def in_namespace(self, namespace: str) -> StoreClient:
        if namespace != self._namespace:
            return StoreClient(self._store, namespace)
        return StoreClient(self._store, namespace, self._validators, self._settings)

    @property
    def namespace(self) -> str:
        return self._namespace

    @property
    def store(self) -> Store:
        """The store, for a server: all namespaces, and no checks of arguments."""
        return self._store

    async def document(self, schedules: Sequence[Schedule], app: str) -> Document:
        """A document of these schedules as `app` declares them, and of the calendars that they name."""
        return await self._noun(FileService).document(schedules, app)


# The class of each noun by its attribute; routes are derived from it.
NOUNS: Mapping[str, type] = {name: noun.kind for name, noun in vars(Client).items() if isinstance(noun, Noun)}
