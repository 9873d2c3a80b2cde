"""Building blocks of messages: counts, and errors and notes on one line."""

from __future__ import annotations

import re

MAX_ERROR_LENGTH = 200
# A line that names an exception in the traceback of an exception group. Lines of frames are indented more.
_IN_GROUP = re.compile(r"\| ((?:\w+\.)*(?:[A-Z]\w*: .*|\w*(?:Error|Exception|Exit)))")


def brief(error: str | None) -> str:
    """Return the last line of an error, which names it; of an exception group, its last exception."""
    lines = [line.strip() for line in (error or "").splitlines() if line.strip()]
    if lines and lines[-1].startswith("+--"):
        lines = [match[1] for line in lines if (match := _IN_GROUP.fullmatch(line))] or lines
    text = lines[-1].rstrip(".") if lines else ""
    return text if len(text) <= MAX_ERROR_LENGTH else text[: MAX_ERROR_LENGTH - 1] + "…"


def reason(error: str | None) -> str:
    """Return the error of a schedule on one line, without PostgreSQL's CONTEXT lines."""
    text = folded((error or "").partition("\nCONTEXT:")[0])
    return text if len(text) <= MAX_ERROR_LENGTH else text[: MAX_ERROR_LENGTH - 1] + "…"


def folded(note: str | None) -> str:
    """Return a note on one line, without its final period."""
    return " ".join((note or "").split()).rstrip(".")


def count(number: int, thing: str) -> str:
    """Return the number with the noun, in the plural unless it is 1."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]
