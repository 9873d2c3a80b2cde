"""`manage.py prepare`: Django's tables and Tickbird's, in one database."""

from __future__ import annotations

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    """Creates all tables."""

    def handle(self, *args: Any, **options: Any) -> None:
        """As a deploy does."""
        call_command("migrate", run_syncdb=True, verbosity=0)
        call_command("tickbird", "migrate")
