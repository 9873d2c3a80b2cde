"""The reference by which a child imports the app: MODULE:ATTRIBUTE."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any


def find_reference(app: Any, modules: Iterable[str]) -> str | None:
    """Find the module and attribute of an app, so that a child can import it; None if there is none.

    The modules that define the tasks come first, because other modules may have imported the app from them.
    """
    for name in (*modules, *list(sys.modules)):
        module = sys.modules.get(name)
        if name == "__main__" or getattr(module, "__spec__", None) is None:
            continue
        for attribute, value in list(vars(module).items()):
            if value is app:
                return f"{name}:{attribute}"
    return None
