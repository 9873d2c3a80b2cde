"""The machine's monotonic clock, which cannot be set and which all its processes share."""

from __future__ import annotations

import time
from typing import Final

# CLOCK_BOOTTIME also counts while a laptop or a virtual machine sleeps, as the store's clock does. On a system without
# it, waking up looks like a jump of the store's clock, and planning may start five minutes later.
_STEADY: Final[int | None] = getattr(time, "CLOCK_BOOTTIME", None)


def steady() -> float:
    return time.monotonic() if _STEADY is None else time.clock_gettime(_STEADY)
