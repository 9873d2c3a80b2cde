"""The machine's steady clock, which nobody can set and which all of its processes share."""

from __future__ import annotations

import time
from typing import Final

# Goes on while a laptop or a virtual machine sleeps, as the store's clock does. Where the system has none, waking up
# looks like a jump of the store's clock, and planning may begin five minutes later.
_STEADY: Final[int | None] = getattr(time, "CLOCK_BOOTTIME", None)


def steady() -> float:
    """Seconds that only grow."""
    return time.monotonic() if _STEADY is None else time.clock_gettime(_STEADY)
