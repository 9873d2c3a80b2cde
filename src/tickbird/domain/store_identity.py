"""Identity of the store: detects a copy of the original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

# The end of a `copy_reason`: the next step.
ACCEPT_COPY: Final = "; run `tickbird doctor --accept-copy` to use it as a separate store"


@dataclass(frozen=True, slots=True)
class StoreIdentity:
    """The current and the recorded identity of the store; `copy_reason` says why it counts as a copy."""

    here: Mapping[str, str]
    stored: Mapping[str, str]
    copy_reason: str = ""
