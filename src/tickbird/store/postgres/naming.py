"""In which schema of a database the tables are: `tickbird`, unless the URL ends with ?schema=another."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from tickbird.domain.errors import StoreError
from tickbird.store.sql import load_statements

SCHEMA: Final = "tickbird"
_OPTION: Final = "schema"
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")
# In the statements and migrations it stands for the schema, and for the channel of its wake-ups, and for nothing else.
_WORD: Final = re.compile(rf"\b{SCHEMA}\b")


def split(url: str) -> tuple[str, str]:
    """The URL as the driver takes it, and the schema."""
    if f"{_OPTION}=" not in url or "://" not in url:
        return url, SCHEMA
    parts = urlsplit(url)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    named = [value for name, value in pairs if name == _OPTION]
    if not named:
        return url, SCHEMA
    if not _NAME.fullmatch(named[-1]) or named[-1].startswith("pg_"):
        raise StoreError(
            f"{named[-1][:60]!r} cannot be the schema of a store;",
            hint="use small letters, digits and underscores, such as ?schema=jobs.",
        )
    kept = "&".join(pair for pair in parts.query.split("&") if not pair.startswith(f"{_OPTION}="))
    return urlunsplit(parts._replace(query=kept)), named[-1]


def join(url: str, schema: str) -> str:
    """The URL of another schema of the same database."""
    parts = urlsplit(split(url)[0])
    query = "&".join(filter(None, (parts.query, urlencode({_OPTION: schema}))))
    return urlunsplit(parts._replace(query=query))


def in_schema(text: str, schema: str) -> str:
    """SQL that was written for the usual schema."""
    return text if schema == SCHEMA else _WORD.sub(schema, text)


@lru_cache(maxsize=8)
def statements(schema: str = SCHEMA) -> Mapping[str, str]:
    """Every statement of this driver, by name."""
    found = load_statements("tickbird.store.postgres")
    return {name: in_schema(text, schema) for name, text in found.items()}


@lru_cache(maxsize=8)
def encoded(schema: str = SCHEMA) -> Mapping[str, bytes]:
    """The same as the driver takes them quickest."""
    return {name: text.encode() for name, text in statements(schema).items()}


STATEMENTS: Final = encoded()
