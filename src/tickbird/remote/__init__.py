"""The client over HTTP: the same verbs, values and errors as on a store, by way of a server."""

from __future__ import annotations

from tickbird.client import Client
from tickbird.remote.backfills import RemoteBackfills
from tickbird.remote.bulk import RemoteBulk
from tickbird.remote.calendars import RemoteCalendars
from tickbird.remote.files import RemoteFiles
from tickbird.remote.limits import RemoteLimits
from tickbird.remote.overrides import RemoteOverrides
from tickbird.remote.pings import RemotePings
from tickbird.remote.previews import RemotePreviews
from tickbird.remote.runs import RemoteRuns
from tickbird.remote.schedules import RemoteSchedules
from tickbird.remote.sessions import RemoteSessions
from tickbird.remote.simulations import RemoteSimulations
from tickbird.remote.store_only import StoreOnly
from tickbird.remote.tokens import RemoteTokens
from tickbird.remote.transport import Transport
from tickbird.remote.whole import RemoteWhole

__all__ = ["RemoteClient", "Transport"]


class RemoteClient(
    RemoteSchedules,
    RemoteBulk,
    RemoteSimulations,
    RemoteFiles,
    RemotePreviews,
    RemotePings,
    RemoteOverrides,
    RemoteRuns,
    RemoteBackfills,
    RemoteLimits,
    RemoteCalendars,
    RemoteTokens,
    RemoteSessions,
    RemoteWhole,
    StoreOnly,
    Client,
):
    """Reads and changes schedules and runs of one namespace on a server.

    Who does something is who the token belongs to: `actor` is taken, so that code runs on a store as well, and
    otherwise ignored.
    """

    def in_namespace(self, namespace: str) -> RemoteClient:
        """A client of the same server in another namespace."""
        if namespace != self._asked:
            return RemoteClient(self._transport, namespace)
        return RemoteClient(self._transport, namespace, self._validators, self._settings)
