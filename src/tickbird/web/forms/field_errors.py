"""Errors next to the input that caused them."""

from __future__ import annotations

from tickbird.domain.errors import TickbirdError


def without_field(error: TickbirdError, field: str) -> str:
    """Return the text of an error without the name of its field: the label of the input names it."""
    text = str(error)
    return text.removeprefix(f"{field}: ") if text.startswith(f"{field}: ") else text.removeprefix(f"{field} ")
