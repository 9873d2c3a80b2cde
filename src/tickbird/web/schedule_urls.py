"""Names of schedules in addresses: as they are; marked and escaped where an address could mean something else."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, unquote

# No name that people can give begins so.
_PREFIX: Final = ":"
# What stands there itself, and what browsers take for a step up.
_TAKEN: Final = ("", "new", ".", "..")


def name_in_path(name: str) -> str:
    """A name as a part of a path that no other page has, whatever is in the name."""
    plain = "/" not in name and name not in _TAKEN and not name.startswith(_PREFIX) and name.isprintable()
    return name if plain else _PREFIX + quote(name, safe="")


def name_from_path(text: str) -> str:
    """The name that a part of a path stands for; one that is not marked stands for itself."""
    return unquote(text.removeprefix(_PREFIX)) if text.startswith(_PREFIX) else text


def schedule_path(name: str) -> str:
    """Where the page of a schedule is; what can be done to it stands below."""
    return f"/schedules/{name_in_path(name)}"
