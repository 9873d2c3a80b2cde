"""JSON text that every store can store."""

from __future__ import annotations

import json
import re
from typing import Any

from tickbird.domain.errors import DefinitionError
from tickbird.domain.json_depth import check_levels

# Matches the escape itself, not an escaped backslash before these letters.
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def json_text(value: Any, field: str, *, sort_keys: bool = False) -> str:
    """Return a value as JSON text, or raise DefinitionError: no JSON, nested too deeply, or with a NUL character."""
    try:
        text = json.dumps(value, sort_keys=sort_keys, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
        text.encode()  # fails for a lone surrogate
        check_levels(value, text)
    except (TypeError, ValueError, RecursionError) as error:
        raise DefinitionError(
            f"{field} is not JSON ({str(error)[:200]}).",
            field=field,
            hint="Use only values that JSON can represent.",
        ) from None
    if _NUL.search(text):
        raise DefinitionError(
            f"{field} contains a NUL character, which databases reject.", field=field, hint="Remove it."
        )
    return text
