"""Names and texts: checks before they are stored, and cleaning of values from user code."""

from __future__ import annotations

import re
from typing import Any

from tickbird.domain.errors import DefinitionError

_SURROGATE = re.compile("[\ud800-\udfff]")
NAME = re.compile(r"[A-Za-z0-9_.-]{1,200}", re.ASCII)


def check_name(name: object, what: str) -> str:
    """Return the name, or raise DefinitionError. `what` names the field in the error."""
    if isinstance(name, str) and NAME.fullmatch(name):
        return name
    raise DefinitionError(
        f"{what}: {str(name)[:60]!r} is not a valid name.",
        field=what,
        hint="Use 1 to 200 letters, digits, '_', '.' or '-', such as 'nightly-report'.",
    )


def check_new_name(name: object, what: str) -> str:
    """Check the name of a new object, which becomes a part of a URL; older objects keep names that fail this check."""
    if name in (".", ".."):
        raise DefinitionError(
            f"{what}: {name!r} cannot be part of a URL.", field=what, hint="Choose a name with a letter or digit."
        )
    return check_name(name, what)


def is_new_name(name: str) -> bool:
    """Return whether an object can be created with this name; plain SQL can write others."""
    return NAME.fullmatch(name) is not None and name not in (".", "..")


def check_text(text: object, what: str, *, minimum: int = 0, maximum: int = 2_000) -> str:
    """Return the text, or raise DefinitionError if it cannot be stored or has another length."""
    text = check_storable(text, what)
    if not minimum <= len(text) <= maximum:
        raise DefinitionError(f"{what} must have {minimum} to {maximum:,} characters, not {len(text):,}.", field=what)
    return text


def check_storable(text: object, what: str) -> str:
    """Return the text, or raise DefinitionError: databases accept neither NUL characters nor lone surrogates."""
    if not isinstance(text, str):
        raise DefinitionError(f"{what} must be a text, not {str(text)[:60]}.", field=what, hint="Write it in quotes.")
    if "\0" in text or (not text.isascii() and _SURROGATE.search(text)):
        raise DefinitionError(
            f"{what}: {str(text)[:60]!r} cannot be stored as text.",
            field=what,
            hint="Remove NUL characters and lone surrogates.",
        )
    return text


def clean_text(text: str, *, nul: str = "") -> str:
    """Return a plain `str` that databases accept: without NUL, and with `?` in place of lone surrogates."""
    # The methods of `str` are called as such: a subclass may override them.
    text = str.replace(text, "\0", nul)
    return text if str.isascii(text) and type(text) is str else str.encode(text, errors="replace").decode()


def describe(value: Any) -> str:
    """Return `str(value)`; never raises."""
    try:
        return clean_text(str(value))
    except BaseException as error:  # noqa: BLE001 - user code may raise anything here
        return f"<{type_name(value)}: str() raised {type_name(error)}>"


def type_name(value: Any) -> str:
    """Return the name of a value's class, even if its metaclass hides it."""
    name: str = type.__dict__["__name__"].__get__(type(value))
    return clean_text(name)
