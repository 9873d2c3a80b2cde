"""Parsing of the field=value arguments of `set`."""

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

# Short forms of the trigger's JSON. The kinds of targets are short forms of the target.
TRIGGERS = tuple(FORMS)
SHORT = (*TRIGGERS, "tz")


def settable() -> tuple[str, ...]:
    return (*(name for name in FIELDS if name != "target"), *SHORT, *target_names())


def split_fields(given: Sequence[str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for argument in given:
        name, equals, text = argument.partition("=")
        if not equals:
            raise InvalidError(
                f"{argument[:60]!r} is not field=value.", field=name[:60], hint="Write, for example, retries=3."
            )
        if name not in SHORT and not is_target_kind(name):
            check_fields([name])
        if name in fields:
            raise InvalidError(f"{name}: is given twice.", field=name)
        fields[name] = text
    if "target" in fields:
        raise InvalidError(
            "target: cannot be set directly.",
            field="target",
            hint=f"Set {' or '.join(f'{kind}=…' for kind in target_names())}.",
        )
    if several := [name for name in ("trigger", *TRIGGERS) if name in fields][1:]:
        raise InvalidError(
            f"{several[0]}: a schedule has only one trigger.", field=several[0], hint="Give one of them."
        )
    return fields


def read_fields(texts: Mapping[str, str], before: Trigger | None, read: InstantParser) -> dict[str, Any]:
    """Parse the values. `before` is the current trigger: its time zone stays unless `tz` is given."""
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
    # Only tz is given: keep the trigger and change its time zone.
    same = given or before
    stored = {} if same is None or form is not None else same.to_json()
    if not any(name in stored and known.has_zone for name, known in FORMS.items()):
        raise InvalidError("tz: this trigger has no time zone.", field="tz", hint="Set cron=EXPR with tz=ZONE.")
    return trigger_from_json({**stored, "tz": tz})
