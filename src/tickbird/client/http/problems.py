"""Problem documents of a server as errors: the same errors as those of a client on the store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tickbird.domain.errors import (
    AccessError,
    InvalidError,
    PageTokenError,
    StoreError,
    StoreUnavailableError,
    TickbirdError,
    UnsupportedError,
)
from tickbird.wire.problems import INVALID_TYPES, PROBLEMS, TYPE_PREFIX


class NoNamespaceError(InvalidError):
    """The request names no namespace, and the token allows several."""


_INVALID: Final[Mapping[str, Any]] = {
    **{f"{TYPE_PREFIX}{kind}": error for error, kind in INVALID_TYPES.items()},
    f"{TYPE_PREFIX}bad-page": PageTokenError,
}
# Errors with a message and a hint only.
_ERRORS: Final[Mapping[str, type[TickbirdError]]] = {
    **{code: error for error, _, code in PROBLEMS if not issubclass(error, InvalidError)},
    "in-progress": StoreUnavailableError,
    "store-unavailable": StoreUnavailableError,
}


def error_of(problem: Mapping[str, Any], *, has_token: bool) -> TickbirdError:
    status, code = int(problem["status"]), str(problem["code"])
    detail, hint = str(problem["detail"]), str(problem.get("hint") or "")
    if code == "unauthorized":
        reason = "the token is unknown, expired or revoked" if has_token else "the server requires a token"
        return AccessError(f"{reason}.", hint="Create one with `tickbird token create`, and set it as TICKBIRD_TOKEN.")
    if code == "no-namespace":
        hint = "Name one: namespace=… in code, --namespace in a command."
        return NoNamespaceError(detail, field="namespace", hint=hint)
    if code == "no-such-path":
        return StoreError(
            "the server does not have the path of this request.",
            hint="Use the same version of Tickbird on both sides.",
        )
    if code == "unsupported":
        return UnsupportedError(detail, field=problem.get("field") or "", hint=hint)
    if code in _ERRORS:
        return _ERRORS[code](detail, hint=hint)
    if status in (429, 502, 503, 504):
        return StoreUnavailableError(detail, hint=hint)
    if status >= 500:
        return StoreError(detail, hint=hint)
    invalid: type[InvalidError] = _INVALID.get(str(problem.get("type")), InvalidError)
    return invalid(detail, field=problem.get("field") or "", hint=hint)
