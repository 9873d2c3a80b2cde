"""The schema that has the tables: `tickbird`, unless the URL ends with ?schema=another."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from tickbird.store.shared.postgres_url import SCHEMA
from tickbird.store.shared.sql import load_statements

# In statements and migrations, this word is only used for the schema and for the channel of its wake-ups.
_WORD: Final = re.compile(rf"\b{SCHEMA}\b")


def in_schema(text: str, schema: str) -> str:
    """Adapt SQL that was written for the default schema."""
    return text if schema == SCHEMA else _WORD.sub(schema, text)


@lru_cache(maxsize=8)
def statements(schema: str = SCHEMA) -> Mapping[str, str]:
    """Every statement of this driver, by name."""
    texts = load_statements("tickbird.store.postgres", folders=("database", "planning"))
    return {name: in_schema(text, schema) for name, text in texts.items()}


@lru_cache(maxsize=8)
def encoded(schema: str = SCHEMA) -> Mapping[str, bytes]:
    """The same statements as bytes, the fastest form for the driver."""
    return {name: text.encode() for name, text in statements(schema).items()}


STATEMENTS: Final = encoded()
