"""Parts of messages for people: numbers of things, errors and notes on one line."""

from __future__ import annotations

import re

MAX_ERROR_LENGTH = 200
# A line of a traceback of several exceptions that names one; those of its frames are indented more.
_IN_GROUP = re.compile(r"\| ((?:\w+\.)*(?:[A-Z]\w*: .*|\w*(?:Error|Exception|Exit)))")


def brief(error: str | None) -> str:
    """The last line of an error, which says what it was; of a group, its last exception."""
    lines = [line.strip() for line in (error or "").splitlines() if line.strip()]
    if lines and lines[-1].startswith("+--"):
        lines = [match[1] for line in lines if (match := _IN_GROUP.fullmatch(line))] or lines
    text = lines[-1].rstrip(".") if lines else ""
    return text if len(text) <= MAX_ERROR_LENGTH else text[: MAX_ERROR_LENGTH - 1] + "…"


def reason(error: str | None) -> str:
    """The error of a schedule on one line, without what PostgreSQL adds of where in the server it was raised."""
    text = folded((error or "").partition("\nCONTEXT:")[0])
    return text if len(text) <= MAX_ERROR_LENGTH else text[: MAX_ERROR_LENGTH - 1] + "…"


def folded(note: str | None) -> str:
    """All of what a person wrote, on one line."""
    return " ".join((note or "").split()).rstrip(".")


def count(number: int, thing: str) -> str:
    """So many things, in words."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def capital(text: str) -> str:
    """The text with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]
