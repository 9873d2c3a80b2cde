"""Access without tokens from this machine, but not for pages of other sites in its browser."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, MutableMapping
from typing import Any, Final
from urllib.parse import urlsplit

from tickbird.api.auth.auth import Authority, Caller
from tickbird.api.problems import Problem
from tickbird.client import StoreClient

# A browser does not send this header for a page of another site.
HEADER: Final = "X-Tickbird"
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})


class LocalAuthority(Authority):
    """Accepts every request that can only come from the person at this machine."""

    def __init__(self, client: StoreClient, namespace: str) -> None:
        super().__init__(client)
        self._caller = Caller("", "dev", "admin", (namespace,))

    def check_site(self, scope: MutableMapping[str, Any]) -> None:
        """Refuse requests to another host, or from a page of another site."""
        host = _header(scope, b"host")
        if not _is_local(host):
            # DNS rebinding: the name of another site may resolve to this machine, and its pages could read all data.
            raise Problem(
                403,
                "foreign-host",
                f"Host: {host[:100]!r} is not this machine.",
                field="Host",
                hint="Use localhost or 127.0.0.1. From other machines, use `tickbird server` and a token.",
            )
        origin = _header(scope, b"origin")
        if origin and origin.lower() != f"{scope.get('scheme', 'http')}://{host}".lower():
            raise Problem(
                403,
                "foreign-origin",
                f"Origin: {origin[:100]!r} is another site.",
                field="Origin",
                hint="Send the request from a page of this server, or without a browser.",
            )

    def check(self, scope: MutableMapping[str, Any]) -> None:
        """Refuse changes that a page of another site can make a browser send."""
        self.check_site(scope)
        method = scope["method"]
        if method in _READING:
            return
        if _header(scope, HEADER.lower().encode()) != "1":
            raise Problem(
                403, "no-header", f"{HEADER} is missing.", field=HEADER, hint=f"Send `{HEADER}: 1` with every change."
            )
        kind = _header(scope, b"content-type").partition(";")[0].strip().lower()
        if method in _WITH_BODY and kind not in ("application/json", "application/merge-patch+json"):
            raise Problem(415, "not-json", "Content-Type must be JSON.", hint="Send `Content-Type: application/json`.")

    def remembers(self, authorization: str | None) -> bool:
        return True

    async def caller(self, authorization: str | None) -> Caller:
        return self._caller

    def remembers_session(self, text: str | None) -> bool:
        return True

    async def session(self, text: str | None) -> Caller:
        return self._caller

    async def live(self, ids: Collection[str]) -> frozenset[str]:
        return frozenset(ids)


def _is_local(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _header(scope: MutableMapping[str, Any], name: bytes) -> str:
    return ", ".join(value.decode("latin-1") for key, value in scope["headers"] if key == name)
