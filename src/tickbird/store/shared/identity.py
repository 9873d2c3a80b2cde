"""Where a store is, so that a copy of it is told from itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from tickbird.domain.store_identity import StoreIdentity

Same = Callable[[Mapping[str, str], Mapping[str, str]], bool]
# The row of the table meta that holds it.
KEY = "identity"


def encode(place: Mapping[str, str]) -> str:
    """As it is stored."""
    return json.dumps(dict(place), sort_keys=True)


def compare(here: Mapping[str, str], stored: str | None, same: Same) -> StoreIdentity:
    """Is the store where it says it is? What cannot be read says nothing."""
    try:
        told = json.loads(stored or "{}")
    except ValueError:
        told = {}
    told = {str(key): str(value) for key, value in told.items()} if isinstance(told, dict) else {}
    if not told or not here or same(here, told):
        return StoreIdentity(here, told)
    return StoreIdentity(
        here,
        told,
        f"this store is a copy: it belongs to {_describe(told)}, and this is {_describe(here)}; "
        "if it is to go on here, say so with `tickbird doctor --accept-copy`",
    )


def _describe(place: Mapping[str, str]) -> str:
    if "path" in place:
        return f"the file {place['path']}"
    server = f" of server {place['system']}" if place.get("system") else ""
    return f"database {place.get('database', '?')}{server}"


def same_database(here: Mapping[str, str], stored: Mapping[str, str]) -> bool:
    """By name and server; by its number where the server's identity cannot be read."""
    if here.get("database") != stored.get("database"):
        return False
    if here.get("system") and stored.get("system"):
        return here["system"] == stored["system"]
    return here.get("oid") == stored.get("oid")


def same_file(here: Mapping[str, str], stored: Mapping[str, str]) -> bool:
    """A file that was moved is the same, and so is one that a backup was put in the place of; a copy is neither."""
    return here.get("path") == stored.get("path") or here.get("file") == stored.get("file")
