"""Payloads: JSON objects that every store can hold."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from tickbird.domain.errors import DefinitionError
from tickbird.domain.json_depth import check_levels

MAX_PAYLOAD = 1_000_000
# The escape itself, not a backslash followed by these letters.
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def check_payload(payload: object) -> str:
    """The payload as canonical JSON text, or a DefinitionError."""
    if not isinstance(payload, Mapping) or not all(isinstance(key, str) for key in payload):
        raise DefinitionError("payload: must be an object with text keys.", field="payload")
    try:
        text = json.dumps(payload, sort_keys=True, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
        text.encode()  # half a surrogate pair is no text
        check_levels(payload, text)
    except (TypeError, ValueError, RecursionError) as error:
        raise DefinitionError(f"payload: is not JSON ({str(error)[:200]}).", field="payload") from None
    if _NUL.search(text):
        raise DefinitionError("payload: holds a NUL character, which databases refuse.", field="payload")
    if len(text) > MAX_PAYLOAD:
        raise DefinitionError(
            f"payload: {len(text):,} characters are more than the {MAX_PAYLOAD:,} allowed;",
            field="payload",
            hint="store it elsewhere and send a reference.",
        )
    return text
