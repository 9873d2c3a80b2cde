"""Errors in HTTP: the status and the code of each, for the server and for the client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tickbird.domain.errors import (
    AccessError,
    ClosedNamespaceError,
    ConflictError,
    CountChangedError,
    DefinitionError,
    InvalidError,
    NotFinishedError,
    NotFoundError,
    PageTokenError,
    PayloadError,
    SchemaError,
    StaleError,
    StoreError,
    TickbirdError,
    TriggerError,
    UnsupportedError,
)

TYPE_PREFIX: Final = "urn:tickbird:problem:"
# The first match counts.
PROBLEMS: Final[tuple[tuple[type[TickbirdError], int, str], ...]] = (
    (PageTokenError, 400, "bad-page"),
    (InvalidError, 422, "invalid"),
    (NotFoundError, 404, "not-found"),
    (StaleError, 412, "stale"),
    (CountChangedError, 409, "count-changed"),
    (ConflictError, 409, "conflict"),
    (UnsupportedError, 501, "unsupported"),
    (NotFinishedError, 504, "not-finished"),
    (ClosedNamespaceError, 403, "closed-namespace"),
    (AccessError, 403, "forbidden"),
    (SchemaError, 503, "schema"),
    (StoreError, 503, "store-unavailable"),
)
# Types of problems that are narrower than the code, so that a client can raise the same error.
INVALID_TYPES: Final[Mapping[type[TickbirdError], str]] = {
    TriggerError: "invalid-trigger",
    DefinitionError: "invalid-definition",
    PayloadError: "invalid-payload",
}
