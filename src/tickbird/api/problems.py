"""Errors as problem+json: a code for programs, and for people a sentence, the field and the next step."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi.responses import JSONResponse

from tickbird.domain.errors import AccessError, InvalidError, StoreError, TickbirdError, UnsupportedError
from tickbird.wire.problems import INVALID_TYPES, PROBLEMS, TYPE_PREFIX

log = logging.getLogger("tickbird.api")
MEDIA_TYPE: Final = "application/problem+json"
# Seconds until a client should try again.
_RETRY_AFTER: Final = "2"
_STORE: Final = {
    "schema": "The store's schema does not match this version of Tickbird.",
    "store-unavailable": "The store cannot be used at the moment.",
}
_HINT: Final = "Try again. The log of the server and `tickbird doctor` show the reason."
_TEXT: Final = {"type": "string"}
_TEXT_OR_NULL: Final = {"anyOf": [{"type": "string"}, {"type": "null"}]}
# The JSON Schema of a problem.
PROBLEM: Final[Mapping[str, Any]] = {
    "type": "object",
    "description": "Why a request was refused or cannot be served, and the next step.",
    "properties": {
        "type": _TEXT,
        "title": _TEXT,
        "status": {"type": "integer"},
        "code": {**_TEXT, "description": "For programs; `detail` and `hint` are for people."},
        "detail": _TEXT,
        "field": {**_TEXT_OR_NULL, "description": "The part of the request at fault, if one is."},
        "hint": {**_TEXT_OR_NULL, "description": "The next step."},
    },
    "required": ["type", "title", "status", "code", "detail", "field", "hint"],
}


class Problem(Exception):
    """Refuses a request, with this response."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        field: str = "",
        hint: str = "",
        kind: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.field = field
        self.hint = hint
        self.kind = kind or code
        self.headers = dict(headers or {})

    def document(self) -> dict[str, Any]:
        return {
            "type": f"{TYPE_PREFIX}{self.kind}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
            "field": self.field or None,
            "hint": self.hint or None,
        }

    def response(self) -> Any:
        return JSONResponse(self.document(), self.status, self.headers, MEDIA_TYPE)


def problem_of(error: TickbirdError) -> Problem:
    for kind, status, code in PROBLEMS:
        if isinstance(error, kind):
            if isinstance(error, StoreError) and not isinstance(error, AccessError):
                # The URL and the message of the store are for operators only.
                log.warning("store unavailable: %s", error)
                return Problem(status, code, _STORE[code], hint=_HINT, headers={"Retry-After": _RETRY_AFTER})
            field = error.field if isinstance(error, InvalidError | AccessError | UnsupportedError) else ""
            narrow = INVALID_TYPES.get(type(error), "")
            return Problem(status, code, error.message, field=field, hint=error.hint, kind=narrow)
    return Problem(500, "unexpected", error.message, hint=error.hint)


def unexpected() -> Problem:
    """The response to a bug; details are only in the log."""
    hint = "Try again. If it happens again, check the log of the server."
    return Problem(500, "unexpected", "The server failed with an internal error.", hint=hint)


def busy() -> Problem:
    hint = "Try again. A change may have been made, so check first."
    return Problem(503, "busy", "The store did not respond in time.", hint=hint, headers={"Retry-After": _RETRY_AFTER})


def of_status(status: int, detail: object, headers: Mapping[str, str] | None) -> Problem:
    """Problems of the framework: no such path, no such method, malformed JSON."""
    known = {
        400: ("malformed", "The body is not JSON in UTF-8.", "Send one JSON object."),
        404: (
            "no-such-path",
            "This path does not exist.",
            "GET /api/v1/openapi.json lists the paths.",
        ),
        405: ("no-such-method", "This path does not support this method.", "The header Allow lists its methods."),
    }
    code, text, hint = known.get(status, ("refused", str(detail), ""))
    return Problem(status, code, text, hint=hint, headers=headers)
