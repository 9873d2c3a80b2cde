"""Problem documents of a server as errors: the same errors as those of a client on the store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

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
    StoreUnavailableError,
    TickbirdError,
    TriggerError,
    UnsupportedError,
)


class NoNamespaceError(InvalidError):
    """The request names no namespace, and the token allows several."""


_INVALID: Final[Mapping[str, type[InvalidError]]] = {
    "urn:tickbird:problem:invalid-trigger": TriggerError,
    "urn:tickbird:problem:invalid-definition": DefinitionError,
    "urn:tickbird:problem:invalid-payload": PayloadError,
    "urn:tickbird:problem:bad-page": PageTokenError,
}
_KINDS: Final[Mapping[str, type[TickbirdError]]] = {
    "not-found": NotFoundError,
    "stale": StaleError,
    "conflict": ConflictError,
    "count-changed": CountChangedError,
    "in-progress": StoreUnavailableError,
    "not-finished": NotFinishedError,
    "schema": SchemaError,
    "forbidden": AccessError,
    "closed-namespace": ClosedNamespaceError,
}


def error_of(problem: Mapping[str, Any], *, has_token: bool) -> TickbirdError:
    status, code = int(problem["status"]), str(problem["code"])
    detail, hint = str(problem["detail"]), str(problem.get("hint") or "")
    if code == "unauthorized":
        reason = "is unknown, expired or revoked" if has_token else "is missing, and the server requires one"
        return AccessError(
            f"token: {reason}.", hint="Create one with `tickbird token create`, and set it as TICKBIRD_TOKEN."
        )
    if code == "no-namespace":
        hint = "Name one: namespace=… in code, --namespace in a command."
        return NoNamespaceError(detail, field="namespace", hint=hint)
    if code == "no-such-path":
        return StoreError(
            "server: does not have the path of this request.",
            hint="Use the same version of Tickbird on both sides.",
        )
    if code == "unsupported":
        return UnsupportedError(detail, field=problem.get("field") or "", hint=hint)
    if code in _KINDS:
        return _KINDS[code](detail, hint=hint)
    if status in (429, 502, 503, 504):
        return StoreUnavailableError(detail, hint=hint)
    if status >= 500:
        return StoreError(detail, hint=hint)
    return _INVALID.get(str(problem.get("type")), InvalidError)(detail, field=problem.get("field") or "", hint=hint)
