"""Which namespace a request is about."""

from __future__ import annotations

from typing import Final

from tickbird.api.problems import Problem
from tickbird.domain.access.tokens import Namespaces
from tickbird.domain.text import check_name

DEFAULT: Final = "default"


def default_namespace(opened: Namespaces) -> str | None:
    """The namespace of a request that names none: the only one of its token, or `default`; None if neither."""
    if opened is None or DEFAULT in opened:
        return DEFAULT
    return opened[0] if len(opened) == 1 else None


def choose(opened: Namespaces, asked: str | None) -> str:
    """The namespace that was asked for, if the token opens it; else its default one."""
    if asked is None:
        if (chosen := default_namespace(opened)) is not None:
            return chosen
        names = opened or ()
        raise Problem(
            400,
            "no-namespace",
            f"namespace: is missing, and this token opens {len(names)} namespaces: {', '.join(names[:20])};",
            field="namespace",
            hint="add `?namespace=NAME`.",
        )
    check_name(asked, "namespace")
    if opened is not None and asked not in opened:
        # The same whether or not anything is in it.
        raise Problem(
            403,
            "closed-namespace",
            f"namespace: this token does not open {asked!r};",
            field="namespace",
            hint="leave it out, or use a token that was made for it.",
        )
    return asked
