"""Addresses: of stores, and of servers in front of them."""

from __future__ import annotations

import re
from typing import Final

# Login data needs one of the characters that are missing here: user:password@host, ?password=…
_PLAIN: Final = re.compile(r"((?:[A-Za-z][A-Za-z0-9+.-]*:(?://)?)?)([\w./\\-]*)")


def is_server(url: object) -> bool:
    """Is this the address of a server, and not of a store?"""
    return isinstance(url, str) and url.partition(":")[0].lower() in ("http", "https")


def describe_url(url: object) -> str:
    """An address that nothing could parse, for an error: only its scheme if the rest may hold a password."""
    text = str(url)
    match = _PLAIN.match(text)
    scheme, rest = match.groups() if match else ("", "")
    return text[:100] if len(scheme + rest) == len(text) else f"{scheme[:40]}…"
