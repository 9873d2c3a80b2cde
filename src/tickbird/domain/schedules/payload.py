"""Payloads: JSON objects that every store can store."""

from __future__ import annotations

from collections.abc import Mapping

from tickbird.domain.errors import DefinitionError
from tickbird.domain.json_text import json_text

MAX_PAYLOAD = 1_000_000


def check_payload(payload: object) -> str:
    """Return the payload as canonical JSON text, or raise DefinitionError."""
    if not isinstance(payload, Mapping) or not all(isinstance(key, str) for key in payload):
        raise DefinitionError(
            "payload must be an object with text keys.", field="payload", hint='Write, for example, {"limit": 5}.'
        )
    text = json_text(payload, "payload", sort_keys=True)
    if len(text) > MAX_PAYLOAD:
        raise DefinitionError(
            f"payload has {len(text):,} characters; at most {MAX_PAYLOAD:,} are allowed.",
            field="payload",
            hint="Store the data elsewhere, and pass a reference to it.",
        )
    return text
