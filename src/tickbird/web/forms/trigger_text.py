"""Triggers as people type them: cron, `every 15m`, `rrule FREQ=…`, `at 2026-03-29T03:00`, one to a line; or JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from tickbird.domain.errors import TickbirdError, TriggerError
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import Every, read_step
from tickbird.domain.triggers.rrule.rrule import rrule
from tickbird.domain.triggers.trigger import AnyOf, Trigger, at, trigger_from_json
from tickbird.web.forms.instants import read_instant

_UNITS: Final = {"weeks": 604_800, "days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}


def read_trigger(text: str, tz: str) -> Trigger:
    """The trigger of what was typed; times without a zone are in `tz`."""
    stripped = text.strip()
    if not stripped:
        raise TriggerError("Say when: a cron expression such as 0 9 * * 1-5, or every 15m.", field="when")
    if stripped.startswith(("{", "[")):
        return _from_json(stripped, tz)
    lines = [line.strip() for line in stripped.splitlines() if line.strip()]
    found = [_line(line, tz) for line in lines]
    return found[0] if len(found) == 1 else AnyOf(*found)


def _line(line: str, tz: str) -> Trigger:
    word, _, rest = line.partition(" ")
    if word.lower() == "every":
        return Every(read_step("".join(rest.split())), None, tz)
    if word.lower() == "rrule" or word.upper().startswith(("RRULE:", "FREQ=")):
        return rrule(rest if word.lower() == "rrule" else line, tz=tz)
    if word.lower() == "at":
        return at(read_instant("T".join(rest.split()), tz, "at").at)
    return cron(line, tz)


def clock_notes(text: str, tz: str) -> list[str]:
    """What clocks do at the times of day that one-shots are typed by, where that is unusual."""
    told = []
    for line in text.splitlines():
        word, _, rest = line.strip().partition(" ")
        if word.lower() == "at":
            with suppress(TickbirdError):
                told.append(read_instant("T".join(rest.split()), tz, "at").note)
    return [each for each in told if each]


def _from_json(text: str, tz: str) -> Trigger:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TriggerError(f"This is not JSON: {str(error)[:200]}.", field="when") from None
    if isinstance(value, list):
        value = {"any_of": value}
    return trigger_from_json(_zoned(value, tz))


def _zoned(value: Any, tz: str) -> Any:
    """The zone of the form, where the trigger does not say its own."""
    if not isinstance(value, Mapping) or tz == "UTC":
        return value
    if isinstance(value.get("any_of"), list):
        return {**value, "any_of": [_zoned(each, tz) for each in value["any_of"]]}
    return value if "tz" in value or "at" in value else {**value, "tz": tz}


def trigger_texts(encoded: Any) -> tuple[str, str]:
    """What stands for a stored trigger in the form: the text and the zone; JSON for what nothing else says."""
    tz = _zone(encoded)
    text = _short(encoded)
    if text is not None:
        try:
            if read_trigger(text, tz).to_json() == trigger_from_json(encoded).to_json():
                return text, tz
        except TickbirdError:
            if isinstance(encoded, Mapping) and isinstance(encoded.get("cron"), str):
                # Broken, and to be repaired.
                return text, tz
    return json.dumps(encoded, ensure_ascii=False, indent=1), tz


def _zone(encoded: Any) -> str:
    if isinstance(encoded, Mapping):
        if isinstance(encoded.get("tz"), str):
            return str(encoded["tz"])
        members = encoded.get("any_of")
        if isinstance(members, list) and members:
            return next((zone for zone in map(_zone, members) if zone != "UTC"), "UTC")
    return "UTC"


def _short(encoded: Any) -> str | None:
    if not isinstance(encoded, Mapping):
        return None
    if isinstance(encoded.get("cron"), str):
        return str(encoded["cron"])
    if isinstance(encoded.get("at"), str):
        return f"at {encoded['at']}"
    if isinstance(encoded.get("rrule"), str) and encoded.keys() <= {"rrule", "tz"}:
        return f"rrule {encoded['rrule']}"
    units = encoded.get("every")
    if isinstance(units, Mapping) and "anchor" not in encoded and units.keys() <= _UNITS.keys():
        if all(isinstance(number, int) for number in units.values()):
            letters = "".join(f"{units[unit]}{unit[0]}" for unit in _UNITS if unit in units)
            return f"every {letters or 0}"
        return None
    if isinstance(members := encoded.get("any_of"), list):
        lines = [_short(each) for each in members]
        return None if None in lines else "\n".join(line or "" for line in lines)
    return None
