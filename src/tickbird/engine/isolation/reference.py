"""Where a child finds the app: MODULE:ATTRIBUTE."""

from __future__ import annotations

import sys
from typing import Any


def find_reference(app: Any) -> str | None:
    """The module and the name under which an app can be imported again; None when there is no such place."""
    for name, module in list(sys.modules.items()):
        if name == "__main__" or getattr(module, "__spec__", None) is None:
            continue
        for attribute, value in list(vars(module).items()):
            if value is app:
                return f"{name}:{attribute}"
    return None
