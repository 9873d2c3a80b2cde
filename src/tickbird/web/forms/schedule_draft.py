"""A draft of a definition: the input of the form, the changed fields, and errors by field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from tickbird.domain.errors import InvalidError, TickbirdError, TriggerError
from tickbird.domain.schedules.codec import decode_field, encode_field
from tickbird.domain.schedules.definition import FIELDS, Target
from tickbird.web.forms import payload_form, policy_fields
from tickbird.web.forms.field_errors import without_field
from tickbird.web.forms.payload_form import PayloadForm
from tickbird.web.forms.target_fields import TargetForm, target_forms
from tickbird.web.forms.trigger_text import read_trigger, trigger_texts
from tickbird.web.page_request import PageRequest

# The input for errors of a field with another name.
_SHOWN_AT: Final = {"target": "task", "schedule": "name"}
_INPUTS: Final = ("name", "when", "tz", "task", "payload", *(field.name for field in policy_fields.INPUTS))


@dataclass(slots=True, kw_only=True)
class Draft:
    """The input of the schedule form, the stored definition that it is based on, and errors by input."""

    base: Mapping[str, Any]
    texts: dict[str, str]
    payload: PayloadForm
    # Decoded fields that differ from the base.
    touched: dict[str, Any] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)

    def refuse(self, error: InvalidError) -> None:
        """Record an error at the input that shows it."""
        at = _SHOWN_AT.get(error.field, error.field)
        if at not in _INPUTS and not any(at in form.inputs for form in target_forms()):
            at = "when" if isinstance(error, TriggerError) else ""
        self.wrong.setdefault(at, without_field(error, error.field))

    @property
    def target_form(self) -> TargetForm | None:
        """The form of the stored kind of target; None for a task."""
        return next((form for form in target_forms() if _spec(self.base, form.kind) is not None), None)

    @property
    def fields(self) -> dict[str, Any]:
        """All decoded fields; an InvalidError if the base cannot be read."""
        stated = {name: value for name, value in self.base.items() if name in FIELDS and name not in self.touched}
        return {**{name: decode_field(name, value) for name, value in stated.items()}, **self.touched}

    @property
    def encoded(self) -> dict[str, Any]:
        """All fields as JSON, for the diff."""
        stored = {name: value for name, value in self.base.items() if name in FIELDS}
        return {**stored, **{name: encode_field(name, value) for name, value in self.touched.items()}}


def base_texts(base: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of the inputs for a stored definition; for a new schedule, pass an empty one."""
    when, tz = trigger_texts(base["trigger"]) if "trigger" in base else ("", "UTC")
    target = base.get("target")
    task = target.get("task") if isinstance(target, Mapping) else None
    return {
        **policy_fields.texts_of(base),
        "when": when,
        "tz": tz,
        "task": task if isinstance(task, str) else "",
        **{name: text for form in target_forms() for name, text in form.texts_of(_spec(base, form.kind)).items()},
    }


def _spec(base: Mapping[str, Any], kind: str) -> Any:
    """Return the stored JSON of the target; None if it has another kind."""
    target = base.get("target")
    return target.get(kind) if isinstance(target, Mapping) else None


async def drawn(visit: PageRequest, base: Mapping[str, Any], texts: Mapping[str, str] | None = None) -> Draft:
    """Create a draft from a stored definition, with some texts replaced."""
    shown = {**base_texts(base), **(texts or {})}
    payload = base.get("payload")
    schema = await payload_form.published_schema(visit.client, Target(shown["task"]))
    values = payload if isinstance(payload, Mapping) else {}
    draft = Draft(base=base, texts=shown, payload=await payload_form.draw_in_thread(schema, values))
    _parse_changes(visit, draft, base_texts(base))
    # The form was not sent yet, so an empty input is not an error.
    draft.wrong = {name: why for name, why in draft.wrong.items() if shown[name].strip()}
    return draft


async def sent(visit: PageRequest, base: Mapping[str, Any]) -> Draft:
    """Create a draft from a submitted form; missing inputs keep their stored values."""
    before, form = base_texts(base), visit.form
    texts = {name: raw for name in before if (raw := form.raw(name)) is not None}
    shown = {**before, "name": form.text("name"), **texts}
    task = shown["task"].strip()
    schema = await payload_form.published_schema(visit.client, Target(task)) if task else None
    read = await payload_form.read_in_thread(form, schema)
    draft = Draft(base=base, texts=shown, payload=read.form)
    _parse_changes(visit, draft, before)
    if any(name.startswith("payload.") for name in form.names()):
        if read.payload != base.get("payload", {}) or (read.wrong and "payload" not in base):
            draft.touched["payload"] = read.payload
            if read.wrong:
                draft.wrong["payload"] = "See the fields below."
    elif isinstance(base.get("payload"), Mapping):
        draft.payload = await payload_form.draw_in_thread(schema, base["payload"])
    return draft


def _parse_changes(visit: PageRequest, draft: Draft, before: Mapping[str, str]) -> None:
    """Parse the inputs that differ from `before`."""
    shown = draft.texts
    if shown["when"] != before["when"] or shown["tz"] != before["tz"] or "trigger" not in draft.base:
        _parse(draft, "trigger", lambda: read_trigger(shown["when"], _zone(shown), draft.base.get("trigger")))
    _target(visit, draft, before)
    for policy in policy_fields.INPUTS:
        if shown[policy.name] != before[policy.name]:
            _parse(draft, policy.name, partial(policy.read, shown[policy.name], _zone(shown)))


def _zone(shown: Mapping[str, str]) -> str:
    return shown["tz"].strip() or "UTC"


def _target(visit: PageRequest, draft: Draft, before: Mapping[str, str]) -> None:
    shown = draft.texts
    task = shown["task"].strip()
    # Labels by input, of the task and of each kind that has a text.
    filled = {"task": "Task"} if task else {}
    edited: list[TargetForm] = []
    for form in target_forms():
        labels = {name: label for name, label in form.labels.items() if shown[name].strip()}
        is_edited = any(shown[name] != before[name] for name in form.inputs)
        if labels and is_edited and not visit.may(form.role):
            draft.wrong[form.inputs[0]] = form.refusal
            return
        # The page has no inputs for a kind that the visitor may not define, so the visitor cannot clear them.
        if labels and visit.may(form.role):
            filled |= dict([*labels.items()][:1])
            edited += [form] if is_edited else []
    is_task_edited = task != before["task"]
    if len(filled) > 1 and (edited or is_task_edited):
        (_, first), (second_input, second), *_ = filled.items()
        draft.wrong[second_input] = f"{first} and {second}: a schedule has one target. Clear one of them."
    elif edited:
        [form] = edited
        _parse(draft, "target", partial(form.read, shown, _spec(draft.base, form.kind)), form.inputs)
    elif is_task_edited or "target" not in draft.base:
        if not task:
            draft.wrong["task"] = "Enter a task."
            return
        draft.touched["target"] = Target(task)


def _parse(draft: Draft, name: str, make: Any, inputs: Sequence[str] = ()) -> None:
    at = inputs[0] if inputs else "when" if name == "trigger" else name
    try:
        draft.touched[name] = make()
    except InvalidError as error:
        at = error.field if error.field in ("tz", *inputs) else at
        draft.wrong.setdefault(at, without_field(error, error.field))
    except (TickbirdError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
        draft.wrong.setdefault(at, "This value is not valid here.")


async def merged(visit: PageRequest, mine: Draft, theirs: Mapping[str, Any]) -> Draft:
    """Apply the changed inputs of a draft to a newer definition."""
    before, now = base_texts(mine.base), base_texts(theirs)
    changed = {name: text for name, text in mine.texts.items() if text != before.get(name)}
    draft = await drawn(visit, theirs, {**now, **changed})
    if "payload" in mine.touched:
        draft.payload = mine.payload
    return draft
