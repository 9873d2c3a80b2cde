"""Numbers, names and errors in the texts of findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tickbird.domain.doctor.snapshot import MAX_COUNT
from tickbird.domain.messages import count

# Maximum of names in a list, and of characters of an error.
MAX_NAMES: Final = 10
_MAX_LENGTH: Final = 300


def capped_count(number: int, thing: str) -> str:
    return ("at least " if number >= MAX_COUNT else "") + count(number, thing)


def name_list(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more


def shorten(text: str) -> str:
    text = " ".join(text.split()).rstrip(".")
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 1] + "…"


def sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith(".") else text + "."
