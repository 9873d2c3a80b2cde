"""The one façade that CLI, API, dashboard and users call."""

from __future__ import annotations

from functools import cached_property

from tickbird.client.backfills import Backfills
from tickbird.client.bulk import Bulk
from tickbird.client.calendars import Calendars
from tickbird.client.concurrency import Limits
from tickbird.client.files import Files
from tickbird.client.forecast import Simulations
from tickbird.client.pings import Pings
from tickbird.client.previews import Previews
from tickbird.client.queues import Queues
from tickbird.client.runs import Runs
from tickbird.client.schedules import Schedules
from tickbird.client.sessions import Sessions
from tickbird.client.system import System
from tickbird.client.tick_overrides import Overrides
from tickbird.client.tokens import Tokens


class Client(
    Schedules,
    Bulk,
    Simulations,
    Files,
    Previews,
    Pings,
    Overrides,
    Runs,
    Backfills,
    System,
):
    """Reads and changes schedules and runs of one namespace. Every change takes `actor` and is audited."""

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
    def tokens(self) -> Tokens:
        """Tokens of the API."""
        return self._noun(Tokens)

    @cached_property
    def sessions(self) -> Sessions:
        """Sessions of browsers."""
        return self._noun(Sessions)

    def in_namespace(self, namespace: str) -> Client:
        """A client of the same store in another namespace."""
        if namespace != self._namespace:
            return Client(self._store, namespace)
        return Client(self._store, namespace, self._validators, self._settings)


# The attribute of each noun, from which routes and the HTTP client are derived.
NOUNS = {
    "limits": Limits,
    "queues": Queues,
    "calendars": Calendars,
    "tokens": Tokens,
    "sessions": Sessions,
}
