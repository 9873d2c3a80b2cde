"""Revisions: what a schedule was, and what each revision changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tickbird.domain.schedules.diff import FieldDiff, RevisionOrigin


@dataclass(frozen=True, slots=True)
class RevisionRecord:
    """One revision of a schedule: what it was, who made it and when."""

    revision: int
    action: str
    actor: str
    at: datetime
    definition: Mapping[str, Any]
    fingerprint: str | None
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A revision, where it came from and what it changed; None where the one before it is no longer kept."""

    revision: RevisionRecord
    origin: RevisionOrigin
    changes: Sequence[FieldDiff] | None
