"""The namespace of a request."""

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


def choose(opened: Namespaces, requested: str | None) -> str:
    """The requested namespace, if the token opens it (default: `default_namespace`)."""
    if requested is None:
        if (chosen := default_namespace(opened)) is not None:
            return chosen
        names = opened or ()
        raise Problem(
            400,
            "no-namespace",
            f"namespace is missing, and this token is for {len(names)} namespaces: {', '.join(names[:20])}.",
            field="namespace",
            hint="Add `?namespace=NAME`.",
        )
    check_name(requested, "namespace")
    if opened is not None and requested not in opened:
        # The same error whether or not the namespace exists.
        raise Problem(
            403,
            "closed-namespace",
            f"namespace: this token has no access to {requested!r}.",
            field="namespace",
            hint="Leave it out, or use a token for this namespace.",
        )
    return requested
