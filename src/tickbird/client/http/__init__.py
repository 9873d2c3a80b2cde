"""The client over HTTP: the same verbs, values and errors as on a store, by way of a server."""

from __future__ import annotations

from functools import cache
from typing import TypeVar

from tickbird.client import Client
from tickbird.client.base import ClientBase
from tickbird.client.calendars import Calendars
from tickbird.client.http.backfills import RemoteBackfills
from tickbird.client.http.bulk import RemoteBulk
from tickbird.client.http.calendars import HttpCalendars
from tickbird.client.http.files import RemoteFiles
from tickbird.client.http.forecast import RemoteSimulations
from tickbird.client.http.operations import HttpNoun, over_http
from tickbird.client.http.pings import RemotePings
from tickbird.client.http.previews import RemotePreviews
from tickbird.client.http.runs import RemoteRuns
from tickbird.client.http.schedules import RemoteSchedules
from tickbird.client.http.system import RemoteSystem
from tickbird.client.http.tick_overrides import RemoteOverrides
from tickbird.client.http.tokens import HttpTokens
from tickbird.client.http.transport import Transport
from tickbird.client.http.unsupported import StoreOnly
from tickbird.client.tokens import Tokens

N = TypeVar("N", bound=ClientBase)
_HAND_WRITTEN: dict[type, type] = {Calendars: HttpCalendars, Tokens: HttpTokens}

__all__ = ["RemoteClient", "Transport"]


@cache
def _http_class(kind: type[N]) -> type[N]:
    """The class of a noun over HTTP: with methods written by hand if it has such, all others derived."""
    made = _HAND_WRITTEN.get(kind) or type(f"Http{kind.__name__}", (HttpNoun, kind), {})
    return over_http(made)


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
    RemoteSystem,
    StoreOnly,
    Client,
):
    """Reads and changes schedules and runs of one namespace on a server.

    Who does something is who the token belongs to: `actor` is taken, so that code runs on a store as well, and
    otherwise ignored.
    """

    def _noun(self, kind: type[N]) -> N:
        made: N = _http_class(kind)(self._transport, self._asked, self._validators, self._settings)  # type: ignore[arg-type]
        return made

    def in_namespace(self, namespace: str) -> RemoteClient:
        """A client of the same server in another namespace."""
        if namespace != self._asked:
            return RemoteClient(self._transport, namespace)
        return RemoteClient(self._transport, namespace, self._validators, self._settings)
