"""URLs of stores, and of servers in front of them."""

from __future__ import annotations

import re
from typing import Final

# Credentials need a character that this pattern excludes: user:password@host, ?password=…
_PLAIN: Final = re.compile(r"((?:[A-Za-z][A-Za-z0-9+.-]*:(?://)?)?)([\w./\\-]*)")


def is_server(url: object) -> bool:
    """Return whether the URL is that of a server, not of a store."""
    return isinstance(url, str) and url.partition(":")[0].lower() in ("http", "https")


def describe_url(url: object) -> str:
    """Return an invalid URL for an error message: only its scheme if the rest may contain a password."""
    text = str(url)
    match = _PLAIN.match(text)
    scheme, rest = match.groups() if match else ("", "")
    return text[:100] if len(scheme + rest) == len(text) else f"{scheme[:40]}…"
