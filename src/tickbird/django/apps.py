"""The Django app config: it loads every `tasks.py` of the project."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class TickbirdConfig(AppConfig):
    """The entry in INSTALLED_APPS."""

    name = "tickbird.django"
    label = "tickbird"
    verbose_name = "Tickbird"

    def ready(self) -> None:
        """Register the tasks of all apps, and validate the settings once."""
        from tickbird.django.project import bird

        assert bird.app
        autodiscover_modules("tasks")
