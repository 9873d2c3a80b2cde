"""Revisions of a schedule and their changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from tickbird.domain.errors import InvalidError
from tickbird.domain.schedules.diff import FieldDiff, RevisionOrigin, differences, revision_origin

MAX_REVISION: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class RevisionRecord:
    """One revision of a schedule: its definition, actor and time."""

    revision: int
    action: str
    actor: str
    at: datetime
    definition: Mapping[str, Any]
    fingerprint: str | None
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A revision with its origin and changes; `changes` is None if the previous revision is no longer stored."""

    revision: RevisionRecord
    origin: RevisionOrigin
    changes: Sequence[FieldDiff] | None


def check_revision(number: object) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= MAX_REVISION:
        raise InvalidError(
            f"to: {str(number)[:60]!r} is not a revision number.", field="to", hint="The first revision is 1."
        )
    return number


def history_entries(records: Sequence[RevisionRecord]) -> list[HistoryEntry]:
    """Revisions, newest first, with their changes; each needs the one before it."""
    definitions = {record.revision: record.definition for record in records}
    return [
        HistoryEntry(
            record,
            revision_origin(record.action, record.actor, record.detail),
            differences(definitions.get(record.revision - 1, {}), record.definition)
            if record.revision == 1 or record.revision - 1 in definitions
            else None,
        )
        for record in records
    ]
