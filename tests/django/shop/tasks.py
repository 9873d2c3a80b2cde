"""Discovered as `tasks.py` of an installed app."""

from __future__ import annotations

from django.db import connection
from django.db.transaction import atomic
from shop.models import Order

from tickbird import Run, cron
from tickbird.django import bird


@bird.task
def ship(order: int) -> int:
    """Changes the row that was written in the same transaction as this run."""
    return int(Order.objects.filter(number=order).update(shipped=True))


@bird.task(isolation="process")
def count_shipped() -> int:
    """Needs the project's models in another process."""
    return int(Order.objects.filter(shipped=True).count())


@bird.task
def close(run: Run, order: int, way: str) -> str:
    """Its row and its success are one transaction."""
    if way == "block":
        with run.transaction(connection) as success:
            Order.objects.create(number=order)
            success.result = "block"
    elif way == "atomic":
        with atomic():
            Order.objects.create(number=order)
            run.finish_in(connection, "atomic")
    elif way == "plainly":
        run.finish_in(connection)
    elif way == "nested":
        with atomic(), run.transaction(connection):
            pass
    else:
        with run.transaction(connection):
            Order.objects.create(number=order)
            raise ValueError(way)
    return "not stored"


@bird.task(schedule=cron("0 3 * * *", tz="Europe/Rome"))
async def tidy_up() -> None:
    """A schedule for the output of `ls`."""
