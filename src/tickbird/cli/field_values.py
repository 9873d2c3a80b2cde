"""The fields of a definition as `set` takes them: name=value, with the types of a definition."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tickbird.cli.params import read_payload
from tickbird.cli.time_input import InstantParser
from tickbird.domain.errors import InvalidError
from tickbird.domain.schedules.definition import FIELDS
from tickbird.domain.schedules.fields import POLICIES
from tickbird.domain.schedules.policy_input import check_fields
from tickbird.domain.schedules.target_input import is_target_kind
from tickbird.domain.targets.registry import read_spec
from tickbird.domain.triggers.trigger import FORMS, Trigger, trigger_from_json
from tickbird.files.fields import target_names

# What a person may write instead of the trigger's JSON; the kinds of targets are short for the target.
TRIGGERS = tuple(FORMS)
SHORT = (*TRIGGERS, "tz")


def settable() -> tuple[str, ...]:
    """All fields that can be set."""
    return (*(name for name in FIELDS if name != "target"), *SHORT, *target_names())


def split_fields(given: Sequence[str]) -> dict[str, str]:
    """The names and texts of name=value arguments."""
    found: dict[str, str] = {}
    for each in given:
        name, equals, text = each.partition("=")
        if not equals:
            raise InvalidError(
                f"{each[:60]!r} is not of the form field=value;", field=name[:60], hint="write, for example, retries=3."
            )
        if name not in SHORT and not is_target_kind(name):
            check_fields([name])
        if name in found:
            raise InvalidError(f"{name}: is given twice.", field=name)
        found[name] = text
    if "target" in found:
        raise InvalidError(
            "target: cannot be set here;",
            field="target",
            hint=f"set {' or '.join(f'{kind}=…' for kind in target_names())}.",
        )
    if several := [name for name in ("trigger", *TRIGGERS) if name in found][1:]:
        raise InvalidError(f"{several[0]}: a schedule has one trigger; give one of them.", field=several[0])
    return found


def read_fields(texts: Mapping[str, str], before: Trigger | None, read: InstantParser) -> dict[str, Any]:
    """The values of such texts; `before` is the trigger so far, whose zone stays unless another is given."""
    values = {name: _value(name, text, read) for name, text in texts.items() if name not in ("tz", *TRIGGERS)}
    if any(name in texts for name in ("tz", *TRIGGERS)):
        values["trigger"] = _trigger(texts, values.get("trigger"), before, read)
    return values


def _value(name: str, text: str, read: InstantParser) -> Any:
    if name == "payload":
        return read_payload(text)
    if name in POLICIES:
        return POLICIES[name].parse(text, lambda text, field: read(text, field, ahead=True).at)
    if name == "task":
        return text
    value = _json(name, text)
    if is_target_kind(name):
        return read_spec(name, value).spec
    return trigger_from_json(value) if name == "trigger" else value


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidError(f"{name}: {text[:60]!r} is not JSON ({error}).", field=name) from None


def _trigger(texts: Mapping[str, str], given: Trigger | None, before: Trigger | None, read: InstantParser) -> Trigger:
    tz = texts.get("tz", before.tz if before else "UTC")
    form = next((form for form in FORMS.values() if form.name in texts), None)
    if form is not None and (form.has_zone or "tz" not in texts):
        document = form.parse_text(texts[form.name], lambda text: read(text, form.name, ahead=True).at)
        return form.read(document, tz)
    # Only the zone: the same trigger on another clock.
    same = given or before
    stored = {} if same is None or form is not None else same.to_json()
    if not any(name in stored and known.has_zone for name, known in FORMS.items()):
        raise InvalidError("tz: this trigger has no zone of its own;", field="tz", hint="set cron=EXPR with tz=ZONE.")
    return trigger_from_json({**stored, "tz": tz})
