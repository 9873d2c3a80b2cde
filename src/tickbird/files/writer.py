"""Documents as TOML, YAML or JSON: what is read back from them is the same document."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from tickbird.domain.schedules.codec import encode_field
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.fields import POLICIES
from tickbird.domain.time.instants import iso
from tickbird.domain.triggers.trigger import ANY_OF, FORMS, Trigger
from tickbird.files.document import Document
from tickbird.files.fields import Plain
from tickbird.files.loader import Format
from tickbird.files.schedule_state import ExportedState

# Above each schedule, by its name: lines of remarks, without their marks. JSON has no place for them.
Remarks = Mapping[str, Iterable[str]]

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*", re.ASCII)
# What some reader takes for something else than a text.
_RESERVED: Final = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))
# Controls, and what some reader takes for the end of a line.
_ESCAPED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
# Beyond these, a payload is written as one text of JSON.
_DEEPEST: Final = 20
_MAX_KEY_LENGTH: Final = 200
_WIDTH: Final = 100


def write(document: Document, spelling: Format, *, head: Iterable[str] = (), remarks: Remarks | None = None) -> str:
    """The text of a document, with remarks at its head and above its schedules."""
    plain = to_plain(document, spelling)
    if spelling == "json":
        return json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    lines = [_remark(line) for line in head]
    writer = _toml if spelling == "toml" else _yaml
    return "\n".join([*lines, *([""] if lines else []), *writer(plain, remarks or {})]).rstrip("\n") + "\n"


def to_plain(document: Document, spelling: Format = "json") -> Plain:
    """A document as plain values, as JSON has them; what is the default is left out."""
    made: Plain = {"app": document.app}
    if document.namespace is not None:
        made["namespace"] = document.namespace
    parts: dict[str, Mapping[str, Any]] = {
        "schedules": {name: fields_of(one, spelling) for name, one in document.schedules.items()},
        "calendars": document.calendars,
        "limits": document.limits,
        "queues": {name: str(rate) for name, rate in document.queues.items()},
        "state": {name: _state(one, spelling) for name, one in document.state.items()},
    }
    return made | {name: dict(part) for name, part in parts.items() if part}


def _state(state: ExportedState, spelling: Format) -> Plain:
    made: Plain = {} if state.app is None else {"app": state.app}
    if state.overrides:
        made["overrides"] = _json(dict(state.overrides), spelling)
    if (pause := state.pause) is not None:
        made["paused"] = {"by": pause.by, "note": pause.note}
        if pause.until is not None:
            made["paused"]["until"] = iso(pause.until)
    return made


def fields_of(definition: Definition, spelling: Format = "json") -> Plain:
    """A definition as a file has it."""
    made = _trigger(definition.trigger)
    made |= encode_field("target", definition.target)
    for name, policy in POLICIES.items():
        value = getattr(definition, name)
        if value != policy.default or name in definition.stated:
            made[name] = _json(value, spelling) if name == "payload" else policy.to_file(value)
    return made


def _trigger(trigger: Trigger) -> Plain:
    plain = dict(trigger.to_json())
    if isinstance(members := plain.get(ANY_OF), list):
        return {ANY_OF: [_as_written(dict(member)) for member in members]}
    return _as_written(plain)


def _as_written(plain: Plain) -> Plain:
    """Values as people write them, where that says the same."""
    return {name: FORMS[name].write_value(value) if name in FORMS else value for name, value in plain.items()}


def _json(value: Any, spelling: Format) -> Any:
    """JSON values as such, or as a text if the format cannot hold them."""
    fits = _fits(value, spelling != "toml", 0)
    return value if fits else json.dumps(value, ensure_ascii=False, allow_nan=False)


def _fits(value: Any, nulls: bool, depth: int) -> bool:
    """Can every reader of a format read it, nothing (null) included?"""
    if depth > _DEEPEST:
        return False
    if isinstance(value, dict):
        return all(len(key) <= _MAX_KEY_LENGTH and _fits(each, nulls, depth + 1) for key, each in value.items())
    if isinstance(value, list | tuple):
        return all(_fits(each, nulls, depth + 1) for each in value)
    return nulls or value is not None


def quoted(text: str) -> str:
    """A text in double quotes, as all three formats read it."""
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def _scalar(value: Any) -> str:
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def _remark(line: str) -> str:
    """A line that says nothing to a program, whatever it holds."""
    shown = "".join(each if each.isprintable() else " " for each in line)
    return f"# {shown}".rstrip()


# TOML


def _toml(plain: Plain, remarks: Remarks) -> Iterator[str]:
    for name in ("app", "namespace"):
        if name in plain:
            yield f"{name} = {_inline(plain[name])}"
    for part in ("schedules", "calendars", "state"):
        for name, each in plain.get(part, {}).items():
            yield ""
            if part == "schedules":
                yield from map(_remark, remarks.get(name, ()))
            yield f"[{part}.{_toml_key(name)}]"
            for key, value in each.items():
                yield f"{_toml_key(key)} = {_inline(value, len(key) + 3)}"
    for part in ("limits", "queues"):
        if part in plain:
            yield ""
            yield f"[{part}]"
            for name, value in plain[part].items():
                yield f"{_toml_key(name)} = {_inline(value)}"


def _toml_key(key: str) -> str:
    return key if _BARE.fullmatch(key) else quoted(key)


def _inline(value: Any, indent: int | None = None) -> str:
    """A value on one line; a list that is too long for one, on several."""
    if isinstance(value, dict):
        pairs = ", ".join(f"{_toml_key(key)} = {_inline(each)}" for key, each in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, list | tuple):
        items = [_inline(each) for each in value]
        line = f"[{', '.join(items)}]"
        if indent is None or len(line) + indent <= _WIDTH:
            return line
        return "[\n" + "".join(f"  {item},\n" for item in items) + "]"
    return _scalar(value)


# YAML


def _yaml(plain: Plain, remarks: Remarks) -> Iterator[str]:
    for name in ("app", "namespace"):
        if name in plain:
            yield f"{name}: {_scalar(plain[name])}"
    for part in ("schedules", "calendars", "limits", "queues", "state"):
        if part not in plain:
            continue
        yield ""
        yield f"{part}:"
        for number, (name, each) in enumerate(plain[part].items()):
            if number and isinstance(each, dict):
                yield ""
            if part == "schedules":
                yield from (f"  {_remark(line)}" for line in remarks.get(name, ()))
            yield from _block(name, each, 1)


def _block(key: str, value: Any, depth: int) -> Iterator[str]:
    start = f"{'  ' * depth}{_yaml_key(key)}:"
    if isinstance(value, dict) and value:
        yield start
        for name, each in value.items():
            yield from _block(name, each, depth + 1)
    else:
        yield f"{start} {_flow(value)}"


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_yaml_key(key)}: {_flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_flow, value))}]"
    return _scalar(value)


def _yaml_key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) and key.lower() not in _RESERVED else quoted(key)
