"""Kinds of policy fields: which values one may have, as JSON, in files, as a text, and for people."""

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
