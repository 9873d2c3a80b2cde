"""Revisions as HTTP has them: `ETag` and `If-Match`."""

from __future__ import annotations

import re
from typing import Annotated, Final

from fastapi import Header

from tickbird.api.problems import Problem

# With its quotes, or without, as many send it.
_FORM: Final = r'^(?:\*|"[0-9]{1,9}"|[0-9]{1,9})$'
_IF_MATCH: Final = 'Only if it is still at this revision: the ETag, "3".'
_IF_NONE_MATCH: Final = "`*`: only if there is none of this name yet. Not beside If-Match."
IF_MATCH: Final = {
    "name": "if-match",
    "in": "header",
    "required": False,
    "description": _IF_MATCH,
    "schema": {"type": "string", "pattern": _FORM, "examples": ['"3"', "*"]},
}
IF_NONE_MATCH: Final = {
    "name": "if-none-match",
    "in": "header",
    "required": False,
    "description": _IF_NONE_MATCH,
    "schema": {"type": "string", "pattern": r"^\*$", "examples": ["*"]},
}
IfMatch = Annotated[
    str | None,
    Header(
        description=_IF_MATCH,
        json_schema_extra={"pattern": _FORM, "examples": ['"3"', "*"]},
    ),
]
IfNoneMatch = Annotated[
    str | None,
    Header(
        description=_IF_NONE_MATCH,
        json_schema_extra={"pattern": r"^\*$", "examples": ["*"]},
    ),
]


def etag(revision: int) -> str:
    """The revision as the header ETag has it."""
    return f'"{revision}"'


def parse_if_match(text: str | None) -> int | None:
    """The revision that a change is meant for; None for any."""
    if text is None or text.strip() == "*":
        return None
    if not re.fullmatch(_FORM, text.strip()):
        raise Problem(
            400,
            "bad-tag",
            f"If-Match: {text[:60]!r} is not an ETag of this API;",
            field="If-Match",
            hint='give the one that came with it, such as "3" in quotes.',
        )
    revision = int(text.strip().strip('"'))
    if not revision:
        raise Problem(412, "stale", "If-Match: nothing has revision 0.", field="If-Match")
    return revision


def read_either(match: str | None, none_match: str | None) -> int | None:
    """The revision that a change is meant for: 0 where it only is to make something, None for any."""
    if none_match is None:
        return parse_if_match(match)
    if none_match.strip() != "*":
        raise Problem(400, "bad-tag", "If-None-Match: takes only `*` here.", field="If-None-Match")
    if match is not None:
        parse_if_match(match)
        raise Problem(
            412,
            "stale",
            "If-Match asks for one that exists, and If-None-Match for none: both never hold;",
            field="If-None-Match",
            hint="leave one of them out.",
        )
    return 0
