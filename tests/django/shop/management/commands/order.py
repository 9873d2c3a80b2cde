"""`manage.py order NUMBER [--fail] [--plainly]`: place an order in one transaction with the run that ships it."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from shop.models import Order
from shop.tasks import ship

from tickbird.django import enqueue


class Command(BaseCommand):
    """Places an order."""

    def add_arguments(self, parser: CommandParser) -> None:
        """The number of the order, and the simulated fault."""
        parser.add_argument("number", type=int)
        parser.add_argument("--fail", action="store_true")
        parser.add_argument("--plainly", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        """All of it or nothing."""
        with nullcontext() if options["plainly"] else transaction.atomic():
            Order.objects.create(number=options["number"])
            self.stdout.write(str(enqueue(ship, {"order": options["number"]})))
            if options["fail"]:
                raise CommandError("the card was refused")
