"""Tickbird in a Django project: `INSTALLED_APPS = [..., "tickbird.django"]`, tasks in each app's `tasks.py`.

from tickbird.django import bird, enqueue
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tickbird.django.project import bird, enqueue

__all__ = ["bird", "enqueue"]


def __getattr__(name: str) -> Any:
    # Django imports this package before its settings can be read.
    if name in __all__:
        from tickbird.django import project

        return getattr(project, name)
    raise AttributeError(f"module 'tickbird.django' has no attribute {name!r}")
