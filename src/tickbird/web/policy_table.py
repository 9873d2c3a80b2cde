"""The policies of a definition for display, with defaults and operator overrides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tickbird.domain.schedules.codec import default_field
from tickbird.domain.schedules.fields import POLICIES, PolicyField
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.web.rendering import value

# Fields that other parts of the page show.
_SHOWN_ELSEWHERE: Final = {"trigger", "target", "payload", "description", "tags", "depends_on"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A policy and its value for display."""

    policy: PolicyField
    text: str
    is_default: bool
    # The value in code, if an operator override replaces it.
    declared: str | None = None


def facts_of(schedule: Schedule, declared: Mapping[str, Any] | None) -> Sequence[Fact]:
    """Return all policies; empty if the definition cannot be read."""
    definition = schedule.definition
    if definition is None:
        return []
    facts = []
    for name, policy in POLICIES.items():
        if name in _SHOWN_ELSEWHERE:
            continue
        encoded, default = policy.encode(getattr(definition, name)), policy.encode(policy.default)
        over = None
        if name in schedule.field_overrides:
            over = "(unknown)" if declared is None else policy.describe(declared.get(name, default))
        facts.append(
            Fact(
                policy=policy,
                text=policy.describe(encoded),
                is_default=encoded == default and over is None,
                declared=over,
            )
        )
    return facts


def overridden(schedule: Schedule, declared: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    """Yield the overridden fields that other parts of the page show, with their values in code."""
    for name in sorted(_SHOWN_ELSEWHERE & set(schedule.field_overrides)):
        yield name, "(unknown)" if declared is None else value(declared.get(name, default_field(name)))


def declared_by(records: Sequence[RevisionRecord]) -> Mapping[str, Any] | None:
    """Return the newest definition from code; None if it is not among these revisions."""
    for record in records:
        if record.action in ("create", "sync"):
            declared = record.detail.get("declared", record.definition)
            return declared if isinstance(declared, Mapping) else None
    return None
