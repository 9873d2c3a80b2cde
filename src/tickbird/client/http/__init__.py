"""The client over HTTP: the same nouns, verbs, values and errors as on a store, through a server."""

from __future__ import annotations

from collections.abc import Mapping

from tickbird.client import Client
from tickbird.client.activity import ActivityLog
from tickbird.client.base import N, Settings, Validate
from tickbird.client.calendars import Calendars
from tickbird.client.files import Files
from tickbird.client.forecast import Forecasts
from tickbird.client.http.activity import HttpActivityLog, HttpPings
from tickbird.client.http.calendars import HttpCalendars
from tickbird.client.http.files import HttpFiles
from tickbird.client.http.forecast import HttpForecasts
from tickbird.client.http.operations import HAND_WRITTEN, http_class
from tickbird.client.http.runs import HttpRuns
from tickbird.client.http.schedules import HttpSchedules
from tickbird.client.http.system import HttpSystem
from tickbird.client.http.ticks import HttpTicks
from tickbird.client.http.tokens import HttpTokens
from tickbird.client.http.transport import Transport
from tickbird.client.pings import Pings
from tickbird.client.runs import Runs
from tickbird.client.schedules import Schedules
from tickbird.client.system import System
from tickbird.client.ticks import Ticks
from tickbird.client.tokens import Tokens
from tickbird.domain.text import check_name

__all__ = ["HttpClient", "Transport"]

HAND_WRITTEN.update(
    {
        ActivityLog: HttpActivityLog,
        Calendars: HttpCalendars,
        Files: HttpFiles,
        Forecasts: HttpForecasts,
        Pings: HttpPings,
        Runs: HttpRuns,
        Schedules: HttpSchedules,
        System: HttpSystem,
        Ticks: HttpTicks,
        Tokens: HttpTokens,
    }
)


class HttpClient(Client):
    """Reads and changes schedules and runs of one namespace on a server; without one, the only one of the token.

    The actor of a change is the holder of the token: `actor` is accepted, so that code runs on a store as well, and
    otherwise ignored.
    """

    def __init__(
        self,
        transport: Transport,
        namespace: str | None = None,
        validators: Mapping[str, Validate] | None = None,
        settings: Mapping[str, Settings] | None = None,
    ) -> None:
        self._transport = transport
        self._asked = None if namespace is None else check_name(namespace, "namespace")
        self._validators = validators or {}
        self._settings = settings or {}

    def _noun(self, kind: type[N]) -> N:
        made: N = http_class(kind)(self._transport, self._asked, self._validators, self._settings)  # type: ignore[arg-type]
        return made

    def in_namespace(self, namespace: str) -> HttpClient:
        """A client of the same server in another namespace."""
        if namespace != self._asked:
            return HttpClient(self._transport, namespace)
        return HttpClient(self._transport, namespace, self._validators, self._settings)
