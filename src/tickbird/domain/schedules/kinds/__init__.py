"""Kinds of policy fields: their valid values, and how they look in JSON, files, texts and descriptions."""

from __future__ import annotations

from tickbird.domain.schedules.kinds.kind import InstantReader, Kind
from tickbird.domain.schedules.kinds.lists import Days, Dependencies, Names
from tickbird.domain.schedules.kinds.objects import ExponentialBackoff, Payload
from tickbird.domain.schedules.kinds.scalars import (
    Choice,
    ConcurrencyKey,
    Duration,
    Flag,
    Instant,
    Name,
    Number,
    Text,
)

__all__ = [
    "Choice",
    "ConcurrencyKey",
    "Days",
    "Dependencies",
    "Duration",
    "ExponentialBackoff",
    "Flag",
    "Instant",
    "InstantReader",
    "Kind",
    "Name",
    "Names",
    "Number",
    "Payload",
    "Text",
]
