"""URLs of stores, and of servers in front of them."""

from __future__ import annotations

import ipaddress
import re
from typing import Final
from urllib.parse import urlsplit

from tickbird.domain.errors import InvalidError

# Credentials need a character that this pattern excludes: user:password@host, ?password=…
_PLAIN: Final = re.compile(r"((?:[A-Za-z][A-Za-z0-9+.-]*:(?://)?)?)([\w./\\-]*)")
# The path of the API on a server.
API_PATH: Final = "/api/v1"


def is_server(url: object) -> bool:
    """Return whether the URL is that of a server, not of a store."""
    return isinstance(url, str) and url.partition(":")[0].lower() in ("http", "https")


def describe_url(url: object) -> str:
    """Return an invalid URL for an error message: only its scheme if the rest may contain a password."""
    text = str(url)
    match = _PLAIN.match(text)
    scheme, rest = match.groups() if match else ("", "")
    return text[:100] if len(scheme + rest) == len(text) else f"{scheme[:40]}…"


def check_server_url(url: str) -> str:
    """Check the URL of a server; returns it without the path of the API."""
    hint = "Write it like https://tickbird.example.com."
    try:
        parts = urlsplit(url if is_server(url) else "")
        port = parts.port
    except ValueError:
        raise InvalidError(f"server: {describe_url(url)!r} is not a URL.", field="server", hint=hint) from None
    if parts.username is not None or parts.password is not None:
        raise InvalidError(
            "server: the URL contains a user name.", field="server", hint="Set the token as TICKBIRD_TOKEN."
        )
    if not parts.hostname or parts.query or parts.fragment or not url.isprintable() or " " in url:
        raise InvalidError(f"server: {describe_url(url)!r} is not the URL of a server.", field="server", hint=hint)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    path = parts.path.rstrip("/").removesuffix(API_PATH)
    return f"{parts.scheme.lower()}://{host}{'' if port is None else f':{port}'}{path}"


def sends_plain_text(url: str) -> bool:
    """Is a request to this server readable on the network?"""
    parts = urlsplit(url)
    try:
        is_local = ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        is_local = parts.hostname == "localhost"
    return parts.scheme == "http" and not is_local
