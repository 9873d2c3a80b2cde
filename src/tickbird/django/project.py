"""The project's Tickbird, configured by its settings, and enqueueing in the current transaction."""

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
from tickbird.domain.leadership import DEFAULT_TIMEOUT, SHARED

_DEFAULTS = {
    "DATABASE": "default",
    "URL": None,
    "APP": "django",
    "NAMESPACE": "default",
    "COORDINATION": SHARED,
    "LEADER_TIMEOUT": DEFAULT_TIMEOUT,
}


class ProjectBird(Tickbird):
    """Uses the project's database as its store; in tests that is the test database."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.database = str(config["DATABASE"])
        self._configured_url: str | None = None
        super().__init__(
            "unused",
            app=config["APP"],
            namespace=config["NAMESPACE"],
            coordination=config["COORDINATION"],
            leader_timeout=config["LEADER_TIMEOUT"],
        )
        self._configured_url = config["URL"]

    @property
    def url(self) -> str:
        return self._configured_url or store_url(connections[self.database].settings_dict)

    @url.setter
    def url(self, url: str) -> None:
        self._configured_url = url

    def prepare(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Close old and broken connections before and after a task, as Django does for a request."""
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
    """Enqueue a run in the current transaction; a rollback discards it. Outside of `atomic()` it commits at once."""
    run_id: int = bird.enqueue_in(connections[using or bird.database], task, payload, **options)
    return run_id


def _settings() -> dict[str, Any]:
    config = getattr(settings, "TICKBIRD", {})
    if not isinstance(config, dict) or (unknown := sorted(set(config) - set(_DEFAULTS))):
        wrong = "must be a dict" if not isinstance(config, dict) else f"has unknown keys: {', '.join(unknown)}"
        raise ImproperlyConfigured(f"TICKBIRD {wrong}. Allowed keys: {', '.join(_DEFAULTS)}.")
    return {**_DEFAULTS, **config}


bird = ProjectBird(_settings())
# A child process that executes isolated tasks imports only this module.
if not apps.ready and not apps.loading:
    django.setup()
