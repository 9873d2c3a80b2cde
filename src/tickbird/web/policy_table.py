"""A definition as facts that people read: every field, whether it is a default, and what was set over the code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tickbird.domain.schedules.codec import default_field
from tickbird.domain.schedules.fields import POLICIES, PolicyField
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.web.rendering import value

# Told elsewhere on the page.
_SHOWN_ELSEWHERE: Final = {"trigger", "target", "payload", "description", "tags", "depends_on"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One policy: its value for people, and what it was before somebody set it over the code."""

    policy: PolicyField
    text: str
    is_default: bool
    # What code declares, where an operator set something over it.
    declared: str | None = None


def facts_of(schedule: Schedule, declared: Mapping[str, Any] | None) -> Sequence[Fact]:
    """Every policy of a definition that can be read."""
    definition = schedule.definition
    if definition is None:
        return []
    found = []
    for name, policy in POLICIES.items():
        if name in _SHOWN_ELSEWHERE:
            continue
        encoded, default = policy.encode(getattr(definition, name)), policy.encode(policy.default)
        over = None
        if name in schedule.field_overrides:
            over = "(unknown)" if declared is None else policy.describe(declared.get(name, default))
        found.append(
            Fact(
                policy=policy,
                text=policy.describe(encoded),
                is_default=encoded == default and over is None,
                declared=over,
            )
        )
    return found


def overridden(schedule: Schedule, declared: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    """What an operator set over the code among the fields that are told elsewhere, and what code declares."""
    for name in sorted(_SHOWN_ELSEWHERE & set(schedule.field_overrides)):
        yield name, "(unknown)" if declared is None else value(declared.get(name, default_field(name)))


def declared_by(records: Sequence[RevisionRecord]) -> Mapping[str, Any] | None:
    """What code declared last; None where that is not among these revisions."""
    for record in records:
        if record.action in ("create", "sync"):
            found = record.detail.get("declared", record.definition)
            return found if isinstance(found, Mapping) else None
    return None
