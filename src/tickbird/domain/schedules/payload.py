"""Payloads: JSON objects that every store can store."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from tickbird.domain.errors import DefinitionError
from tickbird.domain.json_depth import check_levels

MAX_PAYLOAD = 1_000_000
# Matches the escape itself, not an escaped backslash before these letters.
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def check_payload(payload: object) -> str:
    """Return the payload as canonical JSON text, or raise DefinitionError."""
    if not isinstance(payload, Mapping) or not all(isinstance(key, str) for key in payload):
        raise DefinitionError(
            "payload must be an object with text keys.", field="payload", hint='Write, for example, {"limit": 5}.'
        )
    try:
        text = json.dumps(payload, sort_keys=True, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
        text.encode()  # fails for a lone surrogate
        check_levels(payload, text)
    except (TypeError, ValueError, RecursionError) as error:
        raise DefinitionError(
            f"payload is not JSON ({str(error)[:200]}).",
            field="payload",
            hint="Use only values that JSON can represent.",
        ) from None
    if _NUL.search(text):
        raise DefinitionError(
            "payload contains a NUL character, which databases reject.", field="payload", hint="Remove it."
        )
    if len(text) > MAX_PAYLOAD:
        raise DefinitionError(
            f"payload has {len(text):,} characters; at most {MAX_PAYLOAD:,} are allowed.",
            field="payload",
            hint="Store the data elsewhere, and pass a reference to it.",
        )
    return text
