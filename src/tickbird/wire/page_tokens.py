"""Where a page begins, as a text that needs no quoting in an address: behind a name, or behind a number."""

from __future__ import annotations

import re
from typing import Final

# Every text of these forms is a key, so that the description of the API can say what is one.
NAME_KEY: Final = r"^n\.(?:[A-Za-z0-9_.-]|~(?:10[0-9a-f]{4}|[1-9a-f][0-9a-f]{0,4});)*$"
NUMBER_KEY: Final = r"^i\.-?[0-9]{1,18}$"


def write_key(place: str | int) -> str:
    """The key of the page behind a name or a number."""
    if isinstance(place, int):
        return f"i.{place}"
    return "n." + re.sub(r"[^A-Za-z0-9_.-]", lambda match: f"~{ord(match[0]):x};", place)


def read_name_key(key: str) -> str:
    """The name of a key; a ValueError where it is none."""
    if not re.fullmatch(NAME_KEY, key):
        raise ValueError(key)
    return re.sub("~([0-9a-f]+);", lambda match: _letter(int(match[1], 16)), key[2:])


def read_number_key(key: str) -> int:
    """The number of a key; a ValueError where it is none."""
    if not re.fullmatch(NUMBER_KEY, key):
        raise ValueError(key)
    return int(key[2:])


def _letter(code: int) -> str:
    # Half of a surrogate pair is in no name, and no database takes it.
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else chr(code)
