"""Temporary stores: created empty next to another store for a test, and dropped afterwards."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from typing import Final, Protocol

from tickbird.domain.errors import StoreError

# Only stores with such a name are ever dropped.
NAME: Final = re.compile(r"tickbird_proof_[0-9a-f]{8}")


def new_name() -> str:
    """A unique name."""
    return f"tickbird_proof_{secrets.token_hex(4)}"


def check_name(name: str) -> str:
    """Refuse to drop anything but a temporary store."""
    if not NAME.fullmatch(name):
        raise StoreError(
            f"{name[:80]!r} is not a temporary store, so it was not dropped.",
            hint="Give a name that starts with tickbird_proof_.",
        )
    return name


class TemporaryStores(Protocol):
    """The temporary stores next to one store: on the same server, or on the same disk."""

    def address(self) -> str:
        """The URL of a new one, not created yet."""
        ...

    def name(self, url: str) -> str:
        """The schema or file name, for messages."""
        ...

    async def make(self, url: str) -> None:
        """Create it, with an empty schema; StoreError if a permission is missing."""
        ...

    async def left(self) -> Sequence[str]:
        """The URLs of all existing ones."""
        ...

    async def disturb(self, url: str) -> str:
        """Inject a fault into the store; returns a description of it."""
        ...

    async def drop(self, url: str) -> None:
        """Drop it with all its content, even if it is in use; no effect if it does not exist."""
        ...
