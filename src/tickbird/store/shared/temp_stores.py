"""Scratch stores: empty ones beside another, in which something is tried out, and which are dropped afterwards."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from typing import Final, Protocol

from tickbird.domain.errors import StoreError

# What has such a name was made here, and nothing else is ever dropped.
NAME: Final = re.compile(r"tickbird_proof_[0-9a-f]{8}")


def new_name() -> str:
    """A name that no other has."""
    return f"tickbird_proof_{secrets.token_hex(4)}"


def check_name(name: str) -> str:
    """Refuse to drop what is no scratch store."""
    if not NAME.fullmatch(name):
        raise StoreError(f"{name[:80]!r} is no scratch store, and is left as it is.")
    return name


class TemporaryStores(Protocol):
    """Those beside one store: on the same server, or on the same disk."""

    def address(self) -> str:
        """The URL of a new one, which is not made yet."""
        ...

    def name(self, url: str) -> str:
        """What a person calls it: the schema, or the file."""
        ...

    async def make(self, url: str) -> None:
        """Make it, with an empty schema; StoreError where a right is missing."""
        ...

    async def left(self) -> Sequence[str]:
        """The URLs of all that are there."""
        ...

    async def disturb(self, url: str) -> str:
        """Do to those who use it what a store's own troubles do to them; what that was, in words."""
        ...

    async def drop(self, url: str) -> None:
        """Remove it with all that is in it, whoever uses it; harmless where there is none."""
        ...
