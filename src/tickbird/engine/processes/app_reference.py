"""Where a child finds the app: MODULE:ATTRIBUTE."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any


def find_reference(app: Any, modules: Iterable[str]) -> str | None:
    """The module and the name under which an app can be imported again; None when there is no such place.

    Those modules that define the tasks come first: others may have imported the app from there.
    """
    for name in (*modules, *list(sys.modules)):
        module = sys.modules.get(name)
        if name == "__main__" or getattr(module, "__spec__", None) is None:
            continue
        for attribute, value in list(vars(module).items()):
            if value is app:
                return f"{name}:{attribute}"
    return None
