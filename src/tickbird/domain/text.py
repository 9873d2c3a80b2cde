"""Texts that come from user code, made safe to store and to show."""

from __future__ import annotations

from typing import Any


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
