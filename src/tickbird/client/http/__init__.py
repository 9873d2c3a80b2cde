"""The client over HTTP: the same nouns, verbs, values and errors as on a store, through a server."""

from __future__ import annotations

from tickbird.client import Client

# Importing these modules registers the nouns that are not derived completely.
from tickbird.client.http import files, nouns, runs  # noqa: F401
from tickbird.client.http.operations import HttpBase
from tickbird.client.http.transport import Transport

__all__ = ["HttpClient", "Transport"]


class HttpClient(HttpBase, Client):
    """Reads and changes schedules and runs of one namespace on a server (default: the only one of the token).

    The actor of a change is the holder of the token. `actor` is accepted, so that the same code runs on a store, and
    ignored.
    """

    def in_namespace(self, namespace: str) -> HttpClient:
        if namespace != self._namespace:
            return HttpClient(self._transport, namespace)
        return HttpClient(self._transport, namespace, self._validators, self._settings)
