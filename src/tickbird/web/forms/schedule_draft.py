"""A definition as somebody types it: what was touched, what it says, and what is wrong with it, at each field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from tickbird.domain.errors import InvalidError, TickbirdError, TriggerError
from tickbird.domain.schedules.codec import decode_field, encode_field
from tickbird.domain.schedules.definition import FIELDS, Target, command_target
from tickbird.domain.targets.command import program_from_json
from tickbird.web.forms import payload_form, policy_fields
from tickbird.web.forms.payload_form import PayloadForm
from tickbird.web.forms.trigger_text import read_trigger, trigger_texts
from tickbird.web.page_request import PageRequest

# Where a form shows what is wrong with something that errors know by another name.
_SHOWN_AT: Final = {"target": "task", "schedule": "name", "command": "command"}
_INPUTS: Final = ("name", "when", "tz", "task", "command", "payload", *(field.name for field in policy_fields.INPUTS))


@dataclass(slots=True, kw_only=True)
class Draft:
    """What stands in the form."""

    base: Mapping[str, Any]
    texts: dict[str, str]
    payload: PayloadForm
    # Fields of the definition that differ from the base, as a definition takes them.
    touched: dict[str, Any] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)

    def refuse(self, error: InvalidError) -> None:
        """Note what is wrong, where it is shown."""
        at = _SHOWN_AT.get(error.field, error.field)
        if at not in _INPUTS:
            at = "when" if isinstance(error, TriggerError) else ""
        self.wrong.setdefault(at, str(error).removeprefix(f"{error.field}: "))

    @property
    def has_command(self) -> bool:
        """Does it run a command so far?"""
        target = self.base.get("target")
        return isinstance(target, Mapping) and "command" in target

    @property
    def fields(self) -> dict[str, Any]:
        """All fields that are stated, as a definition takes them; an InvalidError where the base cannot be read."""
        stated = {name: value for name, value in self.base.items() if name in FIELDS and name not in self.touched}
        return {**{name: decode_field(name, value) for name, value in stated.items()}, **self.touched}

    @property
    def encoded(self) -> dict[str, Any]:
        """The same as JSON, for people to compare."""
        kept = {name: value for name, value in self.base.items() if name in FIELDS}
        return {**kept, **{name: encode_field(name, value) for name, value in self.touched.items()}}


def base_texts(base: Mapping[str, Any]) -> dict[str, str]:
    """The texts of a stored definition; those of an empty one where there is none yet."""
    when, tz = trigger_texts(base["trigger"]) if "trigger" in base else ("", "UTC")
    target = base.get("target")
    task = target.get("task") if isinstance(target, Mapping) else None
    program = target.get("command") if isinstance(target, Mapping) else None
    return {
        **policy_fields.texts_of(base),
        "when": when,
        "tz": tz,
        "task": task if isinstance(task, str) else "",
        "command": "" if program is None else json.dumps(program, ensure_ascii=False, indent=1),
    }


async def drawn(visit: PageRequest, base: Mapping[str, Any], texts: Mapping[str, str] | None = None) -> Draft:
    """The form of a stored definition, with some texts in place of its own."""
    shown = {**base_texts(base), **(texts or {})}
    payload = base.get("payload")
    schema = await payload_form.published_schema(visit.client, Target(shown["task"]))
    kept = payload if isinstance(payload, Mapping) else {}
    draft = Draft(base=base, texts=shown, payload=await payload_form.draw_in_thread(schema, kept))
    _understand(visit, draft, base_texts(base))
    # Nobody has sent it yet.
    draft.wrong = {name: why for name, why in draft.wrong.items() if shown[name].strip()}
    return draft


async def sent(visit: PageRequest, base: Mapping[str, Any]) -> Draft:
    """What was typed over a definition; what is not in the form is as it was."""
    before, form = base_texts(base), visit.form
    texts = {name: raw for name in before if (raw := form.raw(name)) is not None}
    shown = {**before, "name": form.text("name"), **texts}
    task = shown["task"].strip()
    schema = await payload_form.published_schema(visit.client, Target(task)) if task else None
    read = await payload_form.read_in_thread(form, schema)
    draft = Draft(base=base, texts=shown, payload=read.form)
    _understand(visit, draft, before)
    if any(name.startswith("payload.") for name in form.names()):
        if read.payload != base.get("payload", {}) or (read.wrong and "payload" not in base):
            draft.touched["payload"] = read.payload
            if read.wrong:
                draft.wrong["payload"] = "look at its fields"
    elif isinstance(base.get("payload"), Mapping):
        draft.payload = await payload_form.draw_in_thread(schema, base["payload"])
    return draft


def _understand(visit: PageRequest, draft: Draft, before: Mapping[str, str]) -> None:
    """Read what differs from what was there before."""
    shown = draft.texts
    if shown["when"] != before["when"] or shown["tz"] != before["tz"] or "trigger" not in draft.base:
        _take(draft, "trigger", lambda: read_trigger(shown["when"], _zone(shown)))
    _target(visit, draft, before)
    for policy in policy_fields.INPUTS:
        if shown[policy.name] != before[policy.name]:
            _take(draft, policy.name, partial(policy.read, shown[policy.name], _zone(shown)))


def _zone(shown: Mapping[str, str]) -> str:
    return shown["tz"].strip() or "UTC"


def _target(visit: PageRequest, draft: Draft, before: Mapping[str, str]) -> None:
    shown = draft.texts
    task, program = shown["task"].strip(), shown["command"].strip()
    if shown["command"] != before["command"] and program:
        if not visit.may("admin"):
            draft.wrong["command"] = "What workers start on their machines is for admins to say."
            return
        _take(draft, "target", lambda: command_target(program_from_json(_object(program))))
    elif task != before["task"] or "target" not in draft.base:
        if not task:
            draft.wrong["task"] = "Say which task it runs."
            return
        draft.touched["target"] = Target(task)


def _object(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidError(f"This is not JSON: {str(error)[:200]}.", field="command") from None


def _take(draft: Draft, name: str, make: Any) -> None:
    try:
        draft.touched[name] = make()
    except InvalidError as error:
        at = error.field if error.field in ("tz", "command") else {"trigger": "when", "target": "task"}.get(name, name)
        draft.wrong.setdefault(at, str(error).removeprefix(f"{error.field}: "))
    except (TickbirdError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
        at = {"trigger": "when", "target": "command"}.get(name, name)
        draft.wrong.setdefault(at, "This is not what a schedule has there.")


async def merged(visit: PageRequest, mine: Draft, theirs: Mapping[str, Any]) -> Draft:
    """What somebody typed, over what another has saved meanwhile: only what they touched stays theirs."""
    before, now = base_texts(mine.base), base_texts(theirs)
    changed = {name: text for name, text in mine.texts.items() if text != before.get(name)}
    draft = await drawn(visit, theirs, {**now, **changed})
    if "payload" in mine.touched:
        draft.payload = mine.payload
    return draft
