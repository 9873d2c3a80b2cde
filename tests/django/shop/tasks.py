"""Discovered as `tasks.py` of an installed app."""

from __future__ import annotations

from shop.models import Order

from tickbird import cron
from tickbird.django import bird


@bird.task
def ship(order: int) -> int:
    """Changes the row that was written in the same transaction as this run."""
    return int(Order.objects.filter(number=order).update(shipped=True))


@bird.task(isolation="process")
def count_shipped() -> int:
    """Needs the project's models in another process."""
    return int(Order.objects.filter(shipped=True).count())


@bird.task(schedule=cron("0 3 * * *", tz="Europe/Rome"))
async def tidy_up() -> None:
    """A schedule for the output of `ls`."""
