"""The client over HTTP: the same verbs, values and errors as on a store, by way of a server."""

from __future__ import annotations

from tickbird.client import Client
from tickbird.client.http.backfills import RemoteBackfills
from tickbird.client.http.bulk import RemoteBulk
from tickbird.client.http.calendars import RemoteCalendars
from tickbird.client.http.concurrency import RemoteLimits
from tickbird.client.http.files import RemoteFiles
from tickbird.client.http.forecast import RemoteSimulations
from tickbird.client.http.pings import RemotePings
from tickbird.client.http.previews import RemotePreviews
from tickbird.client.http.runs import RemoteRuns
from tickbird.client.http.schedules import RemoteSchedules
from tickbird.client.http.sessions import RemoteSessions
from tickbird.client.http.system import RemoteSystem
from tickbird.client.http.tick_overrides import RemoteOverrides
from tickbird.client.http.tokens import RemoteTokens
from tickbird.client.http.transport import Transport
from tickbird.client.http.unsupported import StoreOnly

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
    RemoteSystem,
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
