"""The depth of JSON values: code that shows or sends them must not exceed Python's recursion limit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

# More than the results of runs have.
MAX_LEVELS: Final = 250


def check_levels(value: Any, text: str) -> None:
    """Raise a ValueError if a JSON value, of which the text is given, is nested too deeply."""
    # Nearly every text has fewer brackets than levels are allowed.
    if text.count("[") + text.count("{") <= MAX_LEVELS:
        return
    level = [value]
    for _ in range(MAX_LEVELS + 1):
        lists = [part for part in level if isinstance(part, list | tuple)]
        objects = [part for part in level if isinstance(part, Mapping)]
        level = [item for part in lists for item in part] + [item for part in objects for item in part.values()]
        if not level:
            return
    raise ValueError(f"it is nested more than {MAX_LEVELS} levels deep")
