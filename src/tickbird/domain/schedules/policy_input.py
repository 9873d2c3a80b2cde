"""Input forms of policies, in code and on the command line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from tickbird.domain.errors import DefinitionError
from tickbird.domain.schedules.definition import FIELDS
from tickbird.domain.schedules.fields import POLICIES
from tickbird.domain.triggers.trigger import FORMS


def check_fields(names: Iterable[str], known: Collection[str] = FIELDS) -> None:
    """Raise DefinitionError for an unknown field, with the most similar name, or the trigger that it is a part of."""
    for name in names:
        if name not in known:
            from difflib import get_close_matches

            close = get_close_matches(name, known, 1)
            hint = f"Did you mean {close[0]}?" if close else f"Options: {', '.join(known)}."
            if form := next((form for form in FORMS.values() if name in (form.name, *form.keys)), None):
                part = "…" if name == form.name else f"…, {name}=…"
                hint = f"It is a part of the trigger: {form.name}({part})."
            raise DefinitionError(f"{name[:60]!r} is not an option of a schedule.", field=name, hint=hint)


def policies(values: Mapping[str, Any]) -> dict[str, Any]:
    """Convert policies from their input forms ("10m", a list of tags, exclude=["sat"]) for a definition."""
    check_fields(values)
    return {name: POLICIES[name].read(value) if name in POLICIES else value for name, value in values.items()}
