"""The location of a store, so that a copy is detected."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from tickbird.domain.store_identity import ACCEPT_COPY, StoreIdentity

Same = Callable[[Mapping[str, str], Mapping[str, str]], bool]
# The row of the table meta that stores it.
KEY = "identity"


def encode(location: Mapping[str, str]) -> str:
    return json.dumps(dict(location), sort_keys=True)


def compare(here: Mapping[str, str], stored: str | None, same: Same) -> StoreIdentity:
    """Compare the location with the stored one. A stored value that cannot be read counts as unknown."""
    try:
        recorded = json.loads(stored or "{}")
    except ValueError:
        recorded = {}
    recorded = {str(key): str(value) for key, value in recorded.items()} if isinstance(recorded, dict) else {}
    if not recorded or not here or same(here, recorded):
        return StoreIdentity(here, recorded)
    return StoreIdentity(
        here,
        recorded,
        f"this store is a copy: it belongs to {_describe(recorded)}, and this is {_describe(here)}{ACCEPT_COPY}",
    )


def _describe(location: Mapping[str, str]) -> str:
    if "path" in location:
        return f"the file {location['path']}"
    server = f" of server {location['system']}" if location.get("system") else ""
    return f"database {location.get('database', '?')}{server}"


def same_database(here: Mapping[str, str], stored: Mapping[str, str]) -> bool:
    """Compare name and server; the database's OID if the server's identity cannot be read."""
    if here.get("database") != stored.get("database"):
        return False
    if here.get("system") and stored.get("system"):
        return here["system"] == stored["system"]
    return here.get("oid") == stored.get("oid")


def same_file(here: Mapping[str, str], stored: Mapping[str, str]) -> bool:
    """True also for a file that was moved, or restored in place from a backup; a copy differs."""
    return here.get("path") == stored.get("path") or here.get("file") == stored.get("file")
