"""Without tokens: for whoever is on this machine, and for no page of another site that their browser shows."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, MutableMapping
from typing import Any, Final
from urllib.parse import urlsplit

from tickbird.api.auth.auth import Authority, Caller
from tickbird.api.problems import Problem
from tickbird.client import StoreClient

# A page of another site cannot have a browser send it.
HEADER: Final = "X-Tickbird"
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})


class LocalAuthority(Authority):
    """Takes every request for one by the person at this machine, if it can only have come from them."""

    def __init__(self, client: StoreClient, namespace: str) -> None:
        super().__init__(client)
        self._caller = Caller("", "dev", "admin", (namespace,))

    def check_site(self, scope: MutableMapping[str, Any]) -> None:
        """Refuse what was asked of another site, or by a page of one."""
        host = _header(scope, b"host")
        if not _is_local(host):
            # Its name may lead here all the same, by whoever answers for it: then its pages could read everything.
            raise Problem(
                403,
                "foreign-host",
                f"Host: {host[:100]!r} is not this machine;",
                field="Host",
                hint="ask for localhost or 127.0.0.1; elsewhere, `tickbird server` serves those with a token.",
            )
        origin = _header(scope, b"origin")
        if origin and origin.lower() != f"{scope.get('scheme', 'http')}://{host}".lower():
            raise Problem(
                403,
                "foreign-origin",
                f"Origin: {origin[:100]!r} is another site.",
                field="Origin",
                hint="Ask directly.",
            )

    def check(self, scope: MutableMapping[str, Any]) -> None:
        """Refuse what another site may have had a browser send."""
        self.check_site(scope)
        method = scope["method"]
        if method in _READING:
            return
        if _header(scope, HEADER.lower().encode()) != "1":
            raise Problem(
                403, "no-header", f"{HEADER}: is missing;", field=HEADER, hint=f"send `{HEADER}: 1` with every change."
            )
        kind = _header(scope, b"content-type").partition(";")[0].strip().lower()
        if method in _WITH_BODY and kind not in ("application/json", "application/merge-patch+json"):
            raise Problem(415, "not-json", "Content-Type: is not JSON;", hint="send `Content-Type: application/json`.")

    def remembers(self, authorization: str | None) -> bool:
        """Nothing has to be looked up."""
        return True

    async def caller(self, authorization: str | None) -> Caller:
        """The person at this machine."""
        return self._caller

    def remembers_session(self, text: str | None) -> bool:
        """Nothing has to be looked up."""
        return True

    async def session(self, text: str | None) -> Caller:
        """The person at this machine."""
        return self._caller

    async def live(self, ids: Collection[str]) -> frozenset[str]:
        """Nothing ends it."""
        return frozenset(ids)


def _is_local(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _header(scope: MutableMapping[str, Any], name: bytes) -> str:
    found = [value for key, value in scope["headers"] if key == name]
    return found[0].decode("latin-1") if len(found) == 1 else ", ".join(each.decode("latin-1") for each in found)
