"""From an entry of Django's DATABASES to the URL of a store."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

from tickbird.domain.errors import StoreError

# What Django's own backend takes, besides what it hands on to the driver.
_DJANGO: Final = frozenset(("assume_role", "isolation_level", "pool", "server_side_binding"))


def store_url(database: Mapping[str, Any]) -> str:
    """The URL of the same database; SQLite's file is shared with Django's tables."""
    engine, name = str(database["ENGINE"]), database["NAME"]
    if engine.endswith(("sqlite3", "spatialite")):
        if "memory" in str(name):
            raise StoreError(
                "Django's database is in memory, where no worker can reach it;",
                hint="use a file, in tests with DATABASES[…]['TEST'] = {'NAME': 'test.sqlite3'}.",
            )
        return f"sqlite:///{Path(name).absolute()}?shared=1"
    if engine.endswith(("postgresql", "postgresql_psycopg2", "postgis")):
        return _postgres_url(database)
    raise StoreError(
        f"Tickbird has no store in {engine};",
        hint="name another database with TICKBIRD = {'DATABASE': …}, or a store with {'URL': …}.",
    )


def _postgres_url(database: Mapping[str, Any]) -> str:
    user, password = database.get("USER") or "", database.get("PASSWORD") or ""
    host, port = str(database.get("HOST") or ""), database.get("PORT") or ""
    login = quote(str(user), safe="") + (f":{quote(str(password), safe='')}" if password else "")
    options = {
        key: str(value)
        for key, value in (database.get("OPTIONS") or {}).items()
        if key not in _DJANGO and isinstance(value, str | int)
    }
    # A path names a socket's folder, and an IPv6 address has colons: neither may stand where a host does.
    where = host if host.isascii() and not set(host) & set("/:,") else ""
    if host and not where:
        options["host"] = host
    if port and not where:
        options["port"] = str(port)
    place = f"{login}@" if login else ""
    place += where + (f":{port}" if where and port else "")
    query = f"?{urlencode(options, quote_via=quote)}" if options else ""
    return f"postgresql://{place}/{quote(str(database['NAME']), safe='')}{query}"
