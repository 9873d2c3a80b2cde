"""Which namespace a request is about."""

from __future__ import annotations

from tickbird.api.problems import Problem
from tickbird.domain.definition import check_name
from tickbird.domain.tokens import Namespaces


def choose(opened: Namespaces, asked: str | None) -> str:
    """The namespace that was asked for, if the token opens it; else the only one that it opens."""
    if asked is None:
        if opened is not None and len(opened) == 1:
            return opened[0]
        which = "every namespace" if opened is None else f"{len(opened)} namespaces: {', '.join(opened[:20])}"
        raise Problem(
            400,
            "no-namespace",
            f"namespace: is missing, and this token opens {which};",
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
