"""Keys of pages: where the next one begins, as a text that says nothing to whoever passes it on."""

from __future__ import annotations

import base64
import binascii
import json


def write_key(place: str | int) -> str:
    """The key of the page behind a name or an id."""
    return base64.urlsafe_b64encode(json.dumps([place]).encode()).decode().rstrip("=")


def read_key(key: str) -> object:
    """What a key was made of; a ValueError for what is none."""
    try:
        [place] = json.loads(base64.b64decode(key + "=" * (-len(key) % 4), b"-_", validate=True))
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise ValueError("not a key of a page") from None
    found: object = place
    return found
