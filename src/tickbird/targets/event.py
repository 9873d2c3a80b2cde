"""Events as targets: the store publishes them, so there is nothing to execute."""

from __future__ import annotations

from typing import Any

from tickbird.targets.protocol import Executable


def no_executables(app: Any) -> list[Executable]:
    return []
