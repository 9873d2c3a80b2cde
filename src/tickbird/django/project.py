"""The project's Tickbird, as its settings say; and sending in the transaction that is under way."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import django
from django.apps import apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import close_old_connections, connections

from tickbird.app import Task, Tickbird
from tickbird.django.stores import store_url

_DEFAULTS = {"DATABASE": "default", "URL": None, "APP": "django", "NAMESPACE": "default"}


class ProjectBird(Tickbird):
    """Finds its store where Django finds its database, which in tests is another one than before."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.database = str(given["DATABASE"])
        self._given_url: str | None = None
        super().__init__("unused", app=given["APP"], namespace=given["NAMESPACE"])
        self._given_url = given["URL"]

    @property
    def url(self) -> str:
        """The store's address."""
        return self._given_url or store_url(connections[self.database].settings_dict)

    @url.setter
    def url(self, url: str) -> None:
        self._given_url = url

    def prepare(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """What a request does at its ends: a task begins and ends without connections that are too old or broken."""
        if inspect.iscoroutinefunction(function) or not inspect.isroutine(function):
            return function

        @functools.wraps(function)
        def between_connections(*args: Any, **kwargs: Any) -> Any:
            close_old_connections()
            try:
                return function(*args, **kwargs)
            finally:
                close_old_connections()

        return between_connections


def enqueue(
    task: Task[..., Any] | str, payload: Mapping[str, Any] | None = None, *, using: str | None = None, **options: Any
) -> int:
    """Send a run in the transaction under way: a rollback leaves none. Outside of `atomic()` it counts at once."""
    run_id: int = bird.enqueue_in(connections[using or bird.database], task, payload, **options)
    return run_id


def _settings() -> dict[str, Any]:
    given = getattr(settings, "TICKBIRD", {})
    if not isinstance(given, dict) or (unknown := sorted(set(given) - set(_DEFAULTS))):
        wrong = "must be a dict" if not isinstance(given, dict) else f"does not know {', '.join(unknown)}"
        raise ImproperlyConfigured(f"TICKBIRD {wrong}; it may have {', '.join(_DEFAULTS)}.")
    return {**_DEFAULTS, **given}


bird = ProjectBird(_settings())
# A child process that executes isolated tasks imports this module alone.
if not apps.ready and not apps.loading:
    django.setup()
