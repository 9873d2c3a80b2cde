"""Writer of documents as TOML, YAML or JSON. Reading the text returns an equal document."""

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

# Comment lines above each schedule, by name, without `#`. JSON has no comments.
Remarks = Mapping[str, Iterable[str]]

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*", re.ASCII)
# Words that some YAML parsers do not read as text.
_RESERVED: Final = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))
# Control characters, and characters that some parsers read as a line break.
_ESCAPED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
# Deeper payloads and longer keys are written as one string of JSON.
_DEEPEST: Final = 20
_MAX_KEY_LENGTH: Final = 200
_WIDTH: Final = 100


def write(document: Document, spelling: Format, *, head: Iterable[str] = (), remarks: Remarks | None = None) -> str:
    """Return the text of a document, with comments at its head and above its schedules."""
    plain = to_plain(document, spelling)
    if spelling == "json":
        return json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    lines = [_remark(line) for line in head]
    writer = _toml if spelling == "toml" else _yaml
    return "\n".join([*lines, *([""] if lines else []), *writer(plain, remarks or {})]).rstrip("\n") + "\n"


def to_plain(document: Document, spelling: Format = "json") -> Plain:
    """Convert a document to JSON values, without defaults."""
    plain: Plain = {"app": document.app}
    if document.namespace is not None:
        plain["namespace"] = document.namespace
    parts: dict[str, Mapping[str, Any]] = {
        "schedules": {name: fields_of(definition, spelling) for name, definition in document.schedules.items()},
        "calendars": document.calendars,
        "limits": document.limits,
        "queues": {name: str(rate) for name, rate in document.queues.items()},
        "state": {name: _state(state, spelling) for name, state in document.state.items()},
    }
    return plain | {name: dict(part) for name, part in parts.items() if part}


def _state(state: ExportedState, spelling: Format) -> Plain:
    plain: Plain = {} if state.app is None else {"app": state.app}
    if state.overrides:
        plain["overrides"] = _json(dict(state.overrides), spelling)
    if (pause := state.pause) is not None:
        plain["paused"] = {"by": pause.by, "note": pause.note}
        if pause.until is not None:
            plain["paused"]["until"] = iso(pause.until)
    return plain


def fields_of(definition: Definition, spelling: Format = "json") -> Plain:
    """Return the fields of a definition in a file, without defaults."""
    fields = _trigger(definition.trigger)
    fields |= encode_field("target", definition.target)
    for name, policy in POLICIES.items():
        value = getattr(definition, name)
        if value != policy.default or name in definition.stated:
            fields[name] = _json(value, spelling) if name == "payload" else policy.to_file(value)
    return fields


def _trigger(trigger: Trigger) -> Plain:
    plain = dict(trigger.to_json())
    if isinstance(members := plain.get(ANY_OF), list):
        return {ANY_OF: [_as_written(dict(member)) for member in members]}
    return _as_written(plain)


def _as_written(plain: Plain) -> Plain:
    """Convert values to the form that people write, if it is equivalent."""
    return {name: FORMS[name].write_value(value) if name in FORMS else value for name, value in plain.items()}


def _json(value: Any, spelling: Format) -> Any:
    """Return the value, or a string of JSON if the format cannot represent it."""
    fits = _fits(value, spelling != "toml", 0)
    return value if fits else json.dumps(value, ensure_ascii=False, allow_nan=False)


def _fits(value: Any, nulls: bool, depth: int) -> bool:
    """Return True if all parsers of the format can read the value."""
    if depth > _DEEPEST:
        return False
    if isinstance(value, dict):
        return all(len(key) <= _MAX_KEY_LENGTH and _fits(item, nulls, depth + 1) for key, item in value.items())
    if isinstance(value, list | tuple):
        return all(_fits(item, nulls, depth + 1) for item in value)
    return nulls or value is not None


def quoted(text: str) -> str:
    """Quote a text in a form that TOML, YAML and JSON all read."""
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))


def _scalar(value: Any) -> str:
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def _remark(line: str) -> str:
    """Return a comment line. Unprintable characters, such as line breaks, become spaces."""
    shown = "".join(character if character.isprintable() else " " for character in line)
    return f"# {shown}".rstrip()


# TOML


def _toml(plain: Plain, remarks: Remarks) -> Iterator[str]:
    for name in ("app", "namespace"):
        if name in plain:
            yield f"{name} = {_inline(plain[name])}"
    for part in ("schedules", "calendars", "state"):
        for name, fields in plain.get(part, {}).items():
            yield ""
            if part == "schedules":
                yield from map(_remark, remarks.get(name, ()))
            yield f"[{part}.{_toml_key(name)}]"
            for key, value in fields.items():
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
    """Write a value on one line. Only a list that is too long takes several."""
    if isinstance(value, dict):
        pairs = ", ".join(f"{_toml_key(key)} = {_inline(item)}" for key, item in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, list | tuple):
        items = [_inline(item) for item in value]
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
        for number, (name, value) in enumerate(plain[part].items()):
            if number and isinstance(value, dict):
                yield ""
            if part == "schedules":
                yield from (f"  {_remark(line)}" for line in remarks.get(name, ()))
            yield from _block(name, value, 1)


def _block(key: str, value: Any, depth: int) -> Iterator[str]:
    start = f"{'  ' * depth}{_yaml_key(key)}:"
    if isinstance(value, dict) and value:
        yield start
        for name, item in value.items():
            yield from _block(name, item, depth + 1)
    else:
        yield f"{start} {_flow(value)}"


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_yaml_key(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_flow, value))}]"
    return _scalar(value)


def _yaml_key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) and key.lower() not in _RESERVED else quoted(key)
