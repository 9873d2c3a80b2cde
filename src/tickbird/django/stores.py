"""Convert an entry of Django's DATABASES to the URL of a store."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

from tickbird.domain.errors import StoreError

# Options of Django's own backend, which it does not pass to the driver.
_DJANGO: Final = frozenset(("assume_role", "isolation_level", "pool", "server_side_binding"))


def store_url(database: Mapping[str, Any]) -> str:
    """The URL of the same database; on SQLite, Tickbird's tables are in Django's file."""
    engine, name = str(database["ENGINE"]), database["NAME"]
    if engine.endswith(("sqlite3", "spatialite")):
        if "memory" in str(name):
            raise StoreError(
                "Django's database is in memory, so no worker can reach it.",
                hint="Use a file; in tests, set DATABASES[…]['TEST'] = {'NAME': 'test.sqlite3'}.",
            )
        return f"sqlite:///{Path(name).absolute()}?shared=1"
    if engine.endswith(("postgresql", "postgresql_psycopg2", "postgis")):
        return _postgres_url(database)
    raise StoreError(
        f"Tickbird has no store in {engine}.",
        hint="Choose another database with TICKBIRD = {'DATABASE': …}, or a store with {'URL': …}.",
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
    # A socket folder (a path) and an IPv6 address (with colons) cannot be the host part of a URL.
    url_host = host if host.isascii() and not set(host) & set("/:,") else ""
    if host and not url_host:
        options["host"] = host
    if port and not url_host:
        options["port"] = str(port)
    authority = f"{login}@" if login else ""
    authority += url_host + (f":{port}" if url_host and port else "")
    query = f"?{urlencode(options, quote_via=quote)}" if options else ""
    return f"postgresql://{authority}/{quote(str(database['NAME']), safe='')}{query}"
