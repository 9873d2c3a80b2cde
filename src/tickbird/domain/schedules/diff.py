"""What one revision of a schedule changed, field by field, and where it came from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tickbird.domain.schedules.codec import definition_text
from tickbird.domain.schedules.schedule import SYNC_ACTOR

How = Literal["added", "removed", "changed"]
# Who makes revisions: code that is deployed, plain SQL, a calendar that was put anew, a token's holder, or a person.
RevisionOrigin = Literal["code", "sql", "calendar", "token", "person"]
_KINDS = (("trigger",), ("target",))
_TOKEN = re.compile(r".* \(token [a-z0-9]{8}\)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FieldDiff:
    """A field of a definition, by its path, before and after; what is added or removed had its default there."""

    path: tuple[str, ...]
    how: How
    before: Any
    after: Any

    @property
    def field(self) -> str:
        """The path as people write it."""
        return ".".join(self.path)


def differences(before: object, after: object) -> Sequence[FieldDiff]:
    """The fields that differ between two definitions in JSON, those within objects by path, in order of their names.

    Plain SQL can store what is no object, and has no fields then.
    """
    old, new = (each if isinstance(each, Mapping) else {} for each in (before, after))
    return list(_differences(old, new, ()))


def _differences(before: Mapping[str, Any], after: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[FieldDiff]:
    for name in sorted({*before, *after}, key=str):
        here = (*path, str(name))
        if here == ("v",):
            # The format goes by the fields.
            continue
        if name not in before or name not in after:
            how: How = "added" if name in after else "removed"
            yield FieldDiff(here, how, before.get(name), after.get(name))
            continue
        old, new = before[name], after[name]
        # Of a trigger that was exchanged for one of another kind, nothing is left to compare.
        both = isinstance(old, Mapping) and isinstance(new, Mapping)
        if both and not (here in _KINDS and not {*old} & {*new}):
            yield from _differences(old, new, here)
        elif not _same(old, new):
            yield FieldDiff(here, "changed", old, new)


def _same(one: Any, other: Any) -> bool:
    """By their texts, since 1, 1.0 and true are equal and yet not the same."""
    return definition_text({"": one}) == definition_text({"": other})


def revision_origin(action: str, actor: str, detail: Mapping[str, Any]) -> RevisionOrigin:
    """Where a revision came from."""
    if action == "calendar":
        return "calendar"
    if actor == SYNC_ACTOR:
        return "code"
    # Every command tells what it did; the database's own trigger does not.
    if action in ("create", "update") and not detail:
        return "sql"
    return "token" if _TOKEN.fullmatch(actor) else "person"
