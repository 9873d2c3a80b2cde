"""Is the store the original, or a copy of it somewhere else?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoreIdentity:
    """Where the store is, and where it says it is; `copy_reason` tells in words why it is taken for a copy."""

    here: Mapping[str, str]
    stored: Mapping[str, str]
    copy_reason: str = ""
