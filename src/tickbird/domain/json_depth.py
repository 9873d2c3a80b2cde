"""Nesting depth of JSON values: code that renders or sends them must not exceed Python's recursion limit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

# Results of runs have a lower limit.
MAX_LEVELS: Final = 250


def check_levels(value: Any, text: str) -> None:
    """Raise ValueError if a JSON value is nested too deeply; `text` is the same value as JSON text."""
    # Counting brackets is a cheap upper bound; it is enough for nearly every text.
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
