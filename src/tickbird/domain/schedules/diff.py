"""Differences between two revisions of a schedule, field by field, and the origin of a revision."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tickbird.domain.schedules.codec import definition_text
from tickbird.domain.schedules.schedule import SYNC_ACTOR

How = Literal["added", "removed", "changed"]
# Origins of revisions: deployed code, plain SQL, a calendar update, a token holder, or a person.
RevisionOrigin = Literal["code", "sql", "calendar", "token", "person"]
_KINDS = (("trigger",), ("target",))
_TOKEN = re.compile(r".* \(token [a-z0-9]{8}\)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FieldDiff:
    """A changed field of a definition, by its path; None stands for the default of an added or removed field."""

    path: tuple[str, ...]
    how: How
    before: Any
    after: Any

    @property
    def field(self) -> str:
        """The path with dots."""
        return ".".join(self.path)


def differences(before: object, after: object) -> Sequence[FieldDiff]:
    """Return the fields that differ between two JSON definitions, sorted by name; nested fields have a path.

    Plain SQL can store something that is not an object, which counts as one without fields.
    """
    old, new = (value if isinstance(value, Mapping) else {} for value in (before, after))
    return list(_differences(old, new, ()))


def _differences(before: Mapping[str, Any], after: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[FieldDiff]:
    for name in sorted({*before, *after}, key=str):
        here = (*path, str(name))
        if here == ("v",):
            # The format follows from the fields.
            continue
        if name not in before or name not in after:
            how: How = "added" if name in after else "removed"
            yield FieldDiff(here, how, before.get(name), after.get(name))
            continue
        old, new = before[name], after[name]
        # A trigger that was replaced by one of another form has no common fields.
        both = isinstance(old, Mapping) and isinstance(new, Mapping)
        if both and not (here in _KINDS and not {*old} & {*new}):
            yield from _differences(old, new, here)
        elif not _same(old, new):
            yield FieldDiff(here, "changed", old, new)


def _same(left: Any, right: Any) -> bool:
    """Compare the JSON texts, because 1, 1.0 and true are equal in Python."""
    return definition_text({"": left}) == definition_text({"": right})


def revision_origin(action: str, actor: str, detail: Mapping[str, Any]) -> RevisionOrigin:
    if action == "calendar":
        return "calendar"
    if actor == SYNC_ACTOR:
        return "code"
    # Every command records a detail; the database trigger does not.
    if action in ("create", "update") and not detail:
        return "sql"
    return "token" if _TOKEN.fullmatch(actor) else "person"
