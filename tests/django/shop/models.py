"""The models of the shop."""

from __future__ import annotations

from django.db import models


class Order(models.Model):
    """An order, and whether it was shipped."""

    number = models.IntegerField(unique=True)
    shipped = models.BooleanField(default=False)
