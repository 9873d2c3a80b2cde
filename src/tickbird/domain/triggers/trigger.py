"""All trigger forms: a new one is a file and a line in `_FORMS`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tickbird.domain.errors import TriggerError, name_field
from tickbird.domain.triggers import at as _at
from tickbird.domain.triggers import custom as _custom
from tickbird.domain.triggers import every as _every
from tickbird.domain.triggers.any_of import MAX_MEMBERS, AnyOf, any_of, refuse
from tickbird.domain.triggers.at import At, at
from tickbird.domain.triggers.base import Trigger
from tickbird.domain.triggers.cron import cron as _cron
from tickbird.domain.triggers.form import ReadInstant, TriggerForm
from tickbird.domain.triggers.rrule import rrule as _rrule

__all__ = [
    "ANY_OF",
    "FORMS",
    "FORM_NAMES",
    "MAX_MEMBERS",
    "AnyOf",
    "At",
    "Trigger",
    "any_of",
    "at",
    "custom_names",
    "first_format",
    "kept_options",
    "read_trigger_line",
    "trigger_from_json",
    "trigger_text",
    "unregistered_customs",
]

_FORMS = (
    _cron.FORM,
    _every.FORM,
    _rrule.FORM,
    _at.FORM,
    _custom.FORM,
)
FORMS: Final[Mapping[str, TriggerForm]] = {form.name: form for form in _FORMS}
# A list of other forms, not a form.
ANY_OF: Final = "any_of"
FORM_NAMES: Final = (*FORMS, ANY_OF)
_MAX_DEPTH: Final = 8


def trigger_from_json(value: object) -> Trigger:
    """Return the trigger of `to_json`, or raise TriggerError."""
    return _from_json(value, 0)


def _from_json(value: object, depth: int) -> Trigger:
    if depth > _MAX_DEPTH:
        raise refuse(f"is nested more than {_MAX_DEPTH} deep")
    if not isinstance(value, dict):
        raise _refuse(f"must be an object, not {type(value).__name__}")
    names = [name for name in FORM_NAMES if name in value]
    if len(names) != 1:
        raise _refuse(f"needs exactly one of {', '.join(FORM_NAMES)}")
    [name] = names
    form = FORMS.get(name)
    options = () if form is None else form.keys
    if unknown := [key for key in value if key != name and key not in options]:
        raise _refuse(f"{str(unknown[0])[:40]!r} is not an option of {name}")
    if form is not None:
        return form.read(value, value.get("tz", "UTC"))
    members = value[name]
    if not isinstance(members, list) or len(members) > MAX_MEMBERS:
        raise refuse(f"must be a list of 1 to {MAX_MEMBERS} triggers")
    if depth and any(isinstance(member, dict) and _custom.FORM.name in member for member in members):
        # The SQL query for unknown triggers does not search deeper.
        raise refuse("has a custom trigger within an inner any_of")
    return AnyOf(*(_from_json(member, depth + 1) for member in members))


def first_format(encoded: Any) -> int:
    """Return the first format of definitions that supports all forms of a trigger's JSON."""
    return max(
        (FORMS[name].format_of(document) for document in _members(encoded) for name in document if name in FORMS),
        default=1,
    )


def custom_names(encoded: Any) -> list[str]:
    """Return the names of the custom triggers in a trigger's JSON."""
    names = (document.get(_custom.FORM.name) for document in _members(encoded))
    return [name for name in names if isinstance(name, str)]


def _members(encoded: Any) -> list[Mapping[str, Any]]:
    members = encoded.get(ANY_OF) if isinstance(encoded, Mapping) else None
    documents = [encoded, *(members if isinstance(members, list) else ())]
    return [document for document in documents if isinstance(document, Mapping)]


def unregistered_customs(encoded: Any) -> list[str]:
    """Return the names of custom triggers that are not registered in this process."""
    return [name for name in custom_names(encoded) if _custom.find_custom(name) is None]


def kept_options(form: TriggerForm, stored: Any) -> dict[str, Any]:
    """Return the options of a trigger's JSON that stay if only its value is set; none if it has another form."""
    if not isinstance(stored, Mapping) or form.name not in stored:
        return {}
    return {option.name: stored[option.name] for option in form.options if option.name in stored}


def read_trigger_line(line: str, tz: str, read_instant: ReadInstant, stored: Any = None) -> Trigger:
    """Parse a typed line: the name of a form and its text, or a cron expression.

    Options of `stored`, the JSON of the trigger that the line replaces, stay if the form is the same.
    """
    word, _, rest = line.partition(" ")
    form, text = FORMS.get(word.lower()), rest
    if form is None:
        prefixed = (form for form in FORMS.values() if form.prefixes and line.upper().startswith(form.prefixes))
        form, text = next(prefixed, _cron.FORM), line
    return form.read({**kept_options(form, stored), **form.parse_text(text, read_instant)}, tz)


def trigger_text(encoded: Any) -> str | None:
    """Return the typed lines of a trigger's JSON, without its zone; None if lines cannot express it."""
    if not isinstance(encoded, Mapping):
        return None
    if isinstance(members := encoded.get(ANY_OF), list):
        lines = [trigger_text(member) for member in members]
        return None if None in lines else "\n".join(line or "" for line in lines)
    for form in FORMS.values():
        if form.name in encoded and (text := form.write_text(encoded)) is not None:
            return text if form is _cron.FORM else f"{form.name} {text}"
    return None


def _refuse(reason: str) -> TriggerError:
    return TriggerError(name_field("trigger", reason), field="trigger", reason=reason)
