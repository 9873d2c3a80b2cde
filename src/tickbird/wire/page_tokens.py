"""Page tokens: the name, number or position before a page, in characters that need no quoting in a URL."""

from __future__ import annotations

import re
from typing import Final

from tickbird.domain.errors import PageTokenError
from tickbird.domain.events.positions import POSITION_PATTERN, EventPosition, as_position

# Patterns of the API description: every text that matches is a valid token.
NAME_KEY: Final = r"^n\.(?:[A-Za-z0-9_.-]|~(?:10[0-9a-f]{4}|[1-9a-f][0-9a-f]{0,4});)*$"
NUMBER_KEY: Final = r"^i\.-?[0-9]{1,18}$"
POSITION_KEY: Final = POSITION_PATTERN


def write_key(last: str | int | EventPosition) -> str:
    if isinstance(last, EventPosition):
        return str(last)
    if isinstance(last, int):
        return f"i.{last}"
    return "n." + re.sub(r"[^A-Za-z0-9_.-]", lambda match: f"~{ord(match[0]):x};", last)


def read_name_key(key: str) -> str:
    _check(NAME_KEY, key)
    return re.sub("~([0-9a-f]+);", lambda match: _letter(int(match[1], 16)), key[2:])


def read_number_key(key: str) -> int:
    _check(NUMBER_KEY, key)
    return int(key[2:])


def read_position_key(key: str) -> EventPosition:
    _check(POSITION_KEY, key)
    return as_position(key, "after")


def _check(pattern: str, key: str) -> None:
    if not re.fullmatch(pattern, key):
        raise PageTokenError(
            f"after: {key[:60]!r} is not a page token.",
            field="after",
            hint="Send the `next` of the previous page unchanged, or leave it out.",
        )


def _letter(code: int) -> str:
    # Databases refuse half of a surrogate pair, so no name has one.
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else chr(code)
