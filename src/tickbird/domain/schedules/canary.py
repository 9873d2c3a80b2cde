"""Canaries: a share of schedules, chosen by a stable hash of their names."""

from __future__ import annotations

import hashlib
from typing import Final

# The share is exact to this part.
_PARTS: Final = 100_000


def is_in_share(namespace: str, name: str, percent: float) -> bool:
    """Return whether a schedule is in a share from 0 to 100; a larger share contains all of a smaller one."""
    digest = hashlib.blake2b(f"{namespace}/{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % _PARTS < percent * _PARTS / 100
