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
from tickbird.domain.triggers.form import FormOption
from tickbird.domain.triggers.trigger import FORMS, Trigger, kept_options, trigger_from_json
from tickbird.files.fields import target_names

# Short forms of the trigger's JSON. The kinds of targets are short forms of the target.
TRIGGERS = tuple(FORMS)
TRIGGER_OPTIONS = {option.name: option for form in FORMS.values() for option in form.options}
SHORT = (*TRIGGERS, *TRIGGER_OPTIONS, "tz")


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
        if not is_target_kind(name):
            check_fields([name], (*settable(), "target"))
        if name in fields:
            raise InvalidError(f"{name} is given twice.", field=name, hint="Remove one of them.")
        fields[name] = text
    if "target" in fields:
        raise InvalidError(
            "target cannot be set directly.",
            field="target",
            hint=f"Set {' or '.join(f'{kind}=…' for kind in target_names())}.",
        )
    triggers = [name for name in ("trigger", *TRIGGERS) if name in fields]
    if len(triggers) > 1:
        first, second, *_ = triggers
        raise InvalidError(
            f"{first} and {second}: a schedule has only one trigger.", field=second, hint="Give one of them."
        )
    return fields


def read_fields(texts: Mapping[str, str], before: Trigger | None, read: InstantParser) -> dict[str, Any]:
    """Parse the values. `before` is the current trigger: its time zone and options stay unless they are given."""
    values = {name: _value(name, text, read) for name, text in texts.items() if name not in SHORT}
    if any(name in texts for name in SHORT):
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
        raise InvalidError(
            f"{name}: {text[:60]!r} is not JSON ({error}).",
            field=name,
            hint=f"Write JSON in quotes, such as {name}='{{…}}'.",
        ) from None


def _trigger(texts: Mapping[str, str], given: Trigger | None, before: Trigger | None, read: InstantParser) -> Trigger:
    same = given or before
    stored = {} if same is None else same.to_json()
    tz = texts.get("tz", "UTC" if same is None else same.tz)
    form = next((form for form in FORMS.values() if form.name in texts), None)
    if form is not None:
        name = form.name
        value = form.parse_text(texts[name], lambda text: read(text, name, ahead=True).at)
        document = {**kept_options(form, stored), **value}
    else:
        form, document = next((form for form in FORMS.values() if form.name in stored), None), stored
    if "tz" in texts and not (form and form.has_zone):
        raise InvalidError("tz: this trigger has no time zone.", field="tz", hint="Set cron=EXPR with tz=ZONE.")
    for option in TRIGGER_OPTIONS.values():
        if option.name not in texts:
            continue
        if form is None or option not in form.options:
            owner = next(owner for owner in FORMS.values() if option in owner.options)
            hint = f"Set {owner.name}={owner.metavar} with {option.name}, or trigger=JSON."
            raise InvalidError(
                f"{option.name} is an option of `{owner.name}`, but the schedule has another trigger.",
                field=option.name,
                hint=hint,
            )
        # An empty text removes the option.
        document = {key: value for key, value in document.items() if key != option.name}
        if text := texts[option.name].strip():
            document[option.name] = _option(option, text)
    assert form is not None
    return form.read(document, tz)


def _option(option: FormOption, text: str) -> Any:
    if option.kind == "moment":
        return text
    if option.kind == "moments" and not text.startswith("["):
        return [moment.strip() for moment in text.split(",")]
    return _json(option.name, text)
