"""The location of a database: a URL or a path."""

from __future__ import annotations

from typing import Final, NamedTuple

from tickbird.domain.errors import StoreError
from tickbird.domain.urls import describe_url

MEMORY: Final = ":memory:"
SHARED: Final = "?shared=1"


class SqliteUrl(NamedTuple):
    """A file, or memory; `shared` if it may have tables of other programs."""

    path: str
    shared: bool = False


def read_url(path_or_url: str) -> SqliteUrl:
    """Parse `sqlite:///tickbird.db` (relative), `sqlite:////var/lib/tickbird.db` or a path."""
    url = path_or_url.removesuffix(SHARED)
    if url in ("", "sqlite:", "sqlite://", "sqlite://:memory:", "sqlite:///:memory:", MEMORY):
        return SqliteUrl(MEMORY)
    if url.startswith("sqlite:") and not url.startswith("sqlite:///"):
        raise StoreError(
            f"{describe_url(path_or_url)!r} is not the URL of a store.",
            hint="Use three slashes for a file, sqlite:///tickbird.db, and four for an absolute path.",
        )
    return SqliteUrl(url.removeprefix("sqlite:///"), url != path_or_url)
