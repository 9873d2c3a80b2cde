"""Concurrency keys as values of statements."""

from __future__ import annotations

from collections.abc import Collection
from hashlib import blake2b
from typing import Final

from tickbird.domain.limits.concurrency import Key
from tickbird.store.postgres.rows import numbers, texts

# Keys share locks, so that a batch of any size fits into the server's lock table.
_STRIPES: Final = 1_024


def key_columns(keys: Collection[Key]) -> dict[str, str]:
    return {"namespaces": texts([key[0] for key in keys]), "keys": texts([key[1] for key in keys])}


def stripes(keys: Collection[Key]) -> str:
    """The locks of these keys, in the common lock order."""
    return numbers(sorted({stripe_of(key) for key in keys}))


def stripe_of(key: Key) -> int:
    """The lock that a key shares with others."""
    return int.from_bytes(blake2b("\0".join(key).encode(), digest_size=4).digest(), "big") % _STRIPES
