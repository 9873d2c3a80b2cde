"""Names and texts: what can be stored, and what user code returned, made safe to store and to show."""

from __future__ import annotations

import re
from typing import Any

from tickbird.domain.errors import DefinitionError

_SURROGATE = re.compile("[\ud800-\udfff]")
NAME = re.compile(r"[A-Za-z0-9_.-]{1,200}", re.ASCII)


def check_name(name: object, what: str) -> str:
    """The name itself, or a DefinitionError: names are ASCII letters, digits, '_', '.' and '-'."""
    if isinstance(name, str) and NAME.fullmatch(name):
        return name
    raise DefinitionError(
        f"{what}: {str(name)[:60]!r} is not a usable name;",
        field=what,
        hint="use 1 to 200 letters, digits, '_', '.' or '-', such as 'nightly-report'.",
    )


def check_new_name(name: object, what: str) -> str:
    """The name of something that is made and has an address; what is there by another name can still be used."""
    if name in (".", ".."):
        raise DefinitionError(
            f"{what}: {name!r} cannot be part of an address;", field=what, hint="choose a name with a letter or digit."
        )
    return check_name(name, what)


def is_new_name(name: str) -> bool:
    """Can something be created by this name? Plain SQL can write others."""
    return NAME.fullmatch(name) is not None and name not in (".", "..")


def check_text(text: object, what: str, *, minimum: int = 0, maximum: int = 2_000) -> str:
    """The text itself, or a DefinitionError if it cannot be stored or has another length."""
    text = check_storable(text, what)
    if not minimum <= len(text) <= maximum:
        raise DefinitionError(f"{what}: must have {minimum} to {maximum:,} characters, not {len(text):,}.", field=what)
    return text


def check_storable(text: object, what: str) -> str:
    """The text itself, or a DefinitionError: databases take neither NUL characters nor half surrogate pairs."""
    if not isinstance(text, str) or "\0" in text or (not text.isascii() and _SURROGATE.search(text)):
        raise DefinitionError(f"{what}: {str(text)[:60]!r} is not text that can be stored.", field=what)
    return text


def clean_text(text: str, *, nul: str = "") -> str:
    """A plain `str` that databases accept: without NUL, and with `?` in place of lone surrogates."""
    # The methods of `str` are called as such: a subclass may override them.
    text = str.replace(text, "\0", nul)
    return text if str.isascii(text) and type(text) is str else str.encode(text, errors="replace").decode()


def describe(value: Any) -> str:
    """`str(value)`, whatever that raises."""
    try:
        return clean_text(str(value))
    except BaseException as error:  # noqa: BLE001 - user code may raise anything here
        return f"<{type_name(value)}: its text cannot be shown, because that raised {type_name(error)}>"


def type_name(value: Any) -> str:
    """The name of a value's class, also if its metaclass hides it."""
    name: str = type.__dict__["__name__"].__get__(type(value))
    return clean_text(name)
