"""Triggers as text: cron, `every 15m`, `rrule FREQ=…`, `at 2026-03-29T03:00`, one per line; or JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from tickbird.domain.errors import TickbirdError, TriggerError
from tickbird.domain.triggers.trigger import (
    ANY_OF,
    FORMS,
    AnyOf,
    Trigger,
    read_trigger_line,
    trigger_from_json,
    trigger_text,
)
from tickbird.web.forms.instants import Picked, read_instant


def read_trigger(text: str, tz: str, stored: Any = None) -> Trigger:
    """The trigger of a typed text; times without a zone are in `tz`.

    `stored` is the JSON of the trigger that it replaces. Its options stay if the text cannot express them.
    """
    stripped = text.strip()
    if not stripped:
        raise TriggerError("Enter a trigger: a cron expression such as 0 9 * * 1-5, or every 15m.", field="when")
    if stripped.startswith(("{", "[")):
        return _from_json(stripped, tz)
    lines = [line.strip() for line in stripped.splitlines() if line.strip()]
    hidden = stored if len(lines) == 1 and trigger_text(stored) is None else None
    triggers = [_line(line, tz, hidden) for line in lines]
    return triggers[0] if len(triggers) == 1 else AnyOf(*triggers)


def kept_note(text: str, tz: str, stored: Any) -> list[str]:
    """A note about the options of the stored trigger that stay although the text does not have them."""
    typed, whole = _json_of(text, tz), _json_of(text, tz, stored)
    names = [option.name for form in FORMS.values() for option in form.options if option.name in whole.keys() - typed]
    if not names:
        return []
    verb = "stays" if len(names) == 1 else "stay"
    return [f"{' and '.join(names)} {verb} unchanged. To change or remove options, write the trigger as JSON."]


def _json_of(text: str, tz: str, stored: Any = None) -> dict[str, object]:
    try:
        return read_trigger(text, tz, stored).to_json()
    except TickbirdError:
        # Without its start, a rule with COUNT is not valid.
        return {}


def _line(line: str, tz: str, stored: Any) -> Trigger:
    return read_trigger_line(line, tz, lambda text: _instant(text, tz).at, stored)


def _instant(text: str, tz: str) -> Picked:
    return read_instant("T".join(text.split()), tz, "at")


def clock_notes(text: str, tz: str) -> list[str]:
    """Return notes about instants that a DST change skips or repeats."""
    notes: list[str] = []

    def read(instant: str) -> datetime:
        picked = _instant(instant, tz)
        notes.append(picked.note)
        return picked.at

    for line in text.splitlines():
        with suppress(TickbirdError):
            read_trigger_line(line.strip(), tz, read)
    return [note for note in notes if note]


def _from_json(text: str, tz: str) -> Trigger:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TriggerError(f"This is not JSON: {str(error)[:200]}.", field="when") from None
    if isinstance(value, list):
        value = {"any_of": value}
    return trigger_from_json(_zoned(value, tz))


def _zoned(value: Any, tz: str) -> Any:
    """Add the zone of the form to triggers without a zone."""
    if not isinstance(value, Mapping) or tz == "UTC":
        return value
    if isinstance(value.get(ANY_OF), list):
        return {**value, ANY_OF: [_zoned(member, tz) for member in value[ANY_OF]]}
    zoned = any(name in value and form.has_zone for name, form in FORMS.items())
    return {**value, "tz": tz} if zoned and "tz" not in value else value


def trigger_texts(encoded: Any) -> tuple[str, str]:
    """Return text and zone of a stored trigger; JSON if it has no text form."""
    tz = _zone(encoded)
    text = trigger_text(encoded)
    if text is not None:
        try:
            if read_trigger(text, tz).to_json() == trigger_from_json(encoded).to_json():
                return text, tz
        except TickbirdError:
            if isinstance(encoded, Mapping) and isinstance(encoded.get("cron"), str):
                # Show a broken expression as it is, so that the user can fix it.
                return text, tz
    return json.dumps(encoded, ensure_ascii=False, indent=1), tz


def _zone(encoded: Any) -> str:
    if isinstance(encoded, Mapping):
        if isinstance(encoded.get("tz"), str):
            return str(encoded["tz"])
        members = encoded.get(ANY_OF)
        if isinstance(members, list) and members:
            return next((zone for zone in map(_zone, members) if zone != "UTC"), "UTC")
    return "UTC"
