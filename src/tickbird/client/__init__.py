"""The one façade that CLI, API, dashboard and users call."""

from __future__ import annotations

from tickbird.client.backfills import Backfills
from tickbird.client.bulk import Bulk
from tickbird.client.calendars import Calendars
from tickbird.client.concurrency import Limits
from tickbird.client.files import Files
from tickbird.client.forecast import Simulations
from tickbird.client.pings import Pings
from tickbird.client.previews import Previews
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
    Limits,
    Calendars,
    Tokens,
    Sessions,
    System,
):
    """Reads and changes schedules and runs of one namespace. Every change takes `actor` and is audited."""

    def in_namespace(self, namespace: str) -> Client:
        """A client of the same store in another namespace."""
        if namespace != self._namespace:
            return Client(self._store, namespace)
        return Client(self._store, namespace, self._validators, self._settings)
