"""Schedule names in URLs: unchanged, or with a prefix and escaped if the URL would be ambiguous."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, unquote

# Valid names do not start with this prefix. Plain SQL can insert other names.
_PREFIX: Final = ":"
# Paths of other pages, and segments that browsers resolve.
_TAKEN: Final = ("", "new", ".", "..")


def name_in_path(name: str) -> str:
    """Encode a name as a path segment that no other page has."""
    plain = "/" not in name and name not in _TAKEN and not name.startswith(_PREFIX) and name.isprintable()
    return name if plain else _PREFIX + quote(name, safe="")


def name_from_path(text: str) -> str:
    """Decode a path segment; without the prefix it is the name itself."""
    return unquote(text.removeprefix(_PREFIX)) if text.startswith(_PREFIX) else text


def schedule_path(name: str) -> str:
    """Return the path of the page of a schedule."""
    return f"/schedules/{name_in_path(name)}"
