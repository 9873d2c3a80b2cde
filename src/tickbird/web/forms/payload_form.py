"""A payload as a form, built from the schema of its task. Invalid input stays in the form."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Final

from tickbird.client import StoreClient
from tickbird.domain.errors import TickbirdError
from tickbird.domain.schedules.definition import Target, check_payload
from tickbird.domain.schedules.payload_schema import payload_errors
from tickbird.domain.targets.target import TASK
from tickbird.files.parse.json import read_json
from tickbird.files.parse.nodes import Unreadable
from tickbird.web.forms.payload_schema import PayloadFieldSpec, as_json, is_plain, payload_fields, takes_others
from tickbird.web.page_request import Form

# The name of an input has the syntax of its text and its field. A form can be parsed without a schema, because a deploy
# may change the schema while the form is open.
_INPUT: Final = re.compile(r"payload\.(text|integer|number|choice|date|instant|json):(.*)", re.DOTALL)
_EMPTY: Final = "payload.empty:"
_OTHERS: Final = "payload.others"
_JSON_FIELD: Final = "payload.whole"
LEFT_OUT, NULL, EMPTY_TEXT = "left out", "null", "empty text"
_LONG: Final = 80
_MISSING: Final = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadField:
    """An input with its text, and the meaning of an empty input."""

    wanted: PayloadFieldSpec
    # The syntax of the text; JSON if the value does not have the type of the schema.
    kind: str
    text: str
    # Possible meanings of an empty input, the selected one first.
    empties: tuple[str, ...] = ()
    wrong: str = ""

    @property
    def input(self) -> str:
        return f"payload.{self.kind}:{self.wanted.name}"

    @property
    def empty_input(self) -> str:
        """The name of the input that selects the meaning of an empty input."""
        return f"{_EMPTY}{self.wanted.name}"

    @property
    def label(self) -> str:
        """The name of the field, as in code and on the command line."""
        return self.wanted.name

    @property
    def long(self) -> bool:
        return self.kind == "json" or "\n" in self.text or len(self.text) > _LONG


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadForm:
    """The inputs of a payload: fields plus JSON for other keys, or one JSON text."""

    fields: tuple[PayloadField, ...] = ()
    # JSON texts; None if the form has no such input.
    others: str | None = None
    whole: str | None = None
    others_wrong: str = ""
    # The error of the complete payload.
    wrong: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentPayload:
    """The submitted payload, errors by field ("" for the complete payload), and the form with its input."""

    payload: dict[str, Any]
    wrong: dict[str, str]
    form: PayloadForm


async def published_schema(client: StoreClient, target: Target) -> Mapping[str, Any] | None:
    """Return the payload schema that a live worker publishes; None if there is none."""
    if target.kind != TASK:
        return None
    for worker in await client.workers.list():
        published = worker.published(target.key)
        schema = None if published is None else published.get("schema")
        if isinstance(schema, Mapping):
            return schema
    return None


def draw(schema: Mapping[str, Any] | None, payload: Mapping[str, Any], *, as_text: bool = False) -> PayloadForm:
    """Build the form of a payload; one JSON text without a schema, or with `as_text`."""
    wanted = None if as_text else payload_fields(schema)
    if wanted is None:
        return PayloadForm(whole=as_json(dict(payload), 2))
    named = {spec.name for spec in wanted}
    others = {name: value for name, value in payload.items() if name not in named}
    fields = tuple(_drawn(spec, payload.get(spec.name, _MISSING)) for spec in wanted)
    return PayloadForm(fields=fields, others=_others(others, schema))


def read(form: Form, schema: Mapping[str, Any] | None) -> SentPayload:
    """Parse and validate a submitted payload."""
    if _JSON_FIELD in form:
        text = form.raw(_JSON_FIELD) or ""
        payload, why = read_object(text)
        wrong = {"": why} if why else _errors(payload, schema)
        return SentPayload(
            payload=payload, wrong=wrong, form=PayloadForm(whole=text, wrong="; ".join(_messages(wrong)))
        )
    payload, wrong, sent = {}, {}, dict[str, tuple[str, str, str]]()
    for key in form.names():
        if (match := _INPUT.fullmatch(key)) is not None:
            kind, name = match[1], match[2]
            text, empty = form.raw(key) or "", form.text(f"{_EMPTY}{name}")
            sent[name] = kind, text, empty
            try:
                value = _value(kind, text, empty)
            except ValueError as error:
                wrong[name] = str(error)
            else:
                if value is not _MISSING:
                    payload[name] = value
    others_text, others_wrong = form.raw(_OTHERS), ""
    if others_text is not None and others_text.strip():
        others, others_wrong = read_object(others_text)
        if twice := sorted(others.keys() & sent.keys()):
            others_wrong = f"{twice[0][:60]!r} already has a field above."
        payload = {**others, **payload}
    if not others_wrong:
        # Syntax errors come first. Otherwise, show all schema errors at once.
        errors = _errors(payload, schema)
        wrong = {**{name: why for name, why in errors.items() if not wrong or name in sent}, **wrong}
    shown = _again(schema, sent, wrong, others_text, others_wrong)
    if others_wrong:
        wrong = {**wrong, "": others_wrong}
    return SentPayload(payload=payload, wrong=wrong, form=shown)


async def draw_in_thread(
    schema: Mapping[str, Any] | None, payload: Mapping[str, Any], *, as_text: bool = False
) -> PayloadForm:
    """Run `draw` in a thread, because a payload may have 100,000 values."""
    return await asyncio.to_thread(draw, schema, payload, as_text=as_text)


async def read_in_thread(form: Form, schema: Mapping[str, Any] | None) -> SentPayload:
    """Run `read` in a thread, because a payload may have 100,000 values."""
    return await asyncio.to_thread(read, form, schema)


def _drawn(wanted: PayloadFieldSpec, value: Any) -> PayloadField:
    empties = _empties(wanted)
    if value is _MISSING or value is None or (value == "" and wanted.kind != "choice"):
        chosen = LEFT_OUT if value is _MISSING else NULL if value is None else EMPTY_TEXT
        if value is _MISSING and wanted.required:
            # A required field has no default: the user must choose.
            return PayloadField(wanted=wanted, kind=wanted.kind, text="", empties=empties)
        rest = tuple(empty for empty in empties if empty != chosen)
        return PayloadField(wanted=wanted, kind=wanted.kind, text="", empties=(chosen, *rest))
    kind, text = wanted.kind, as_json(value)
    if kind == "choice":
        # A value that the schema does not allow is shown, and refused when it is sent.
        if text not in wanted.choices:
            wanted = replace(wanted, choices=(*wanted.choices, text))
    elif isinstance(value, str) and kind in ("text", "date", "instant"):
        kind, text = (kind, value) if is_plain(value) else ("json", text)
    elif not _is_number(value, kind):
        kind, text = "json", as_json(value, 2)
    return PayloadField(wanted=wanted, kind=kind, text=text, empties=empties)


def _empties(wanted: PayloadFieldSpec) -> tuple[str, ...]:
    """Return the possible meanings of an empty input."""
    text = (EMPTY_TEXT,) if wanted.kind == "text" else ()
    return (() if wanted.required else (LEFT_OUT,)) + ((NULL,) if wanted.nullable else ()) + text


def _is_number(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) if kind == "integer" else kind == "number" and isinstance(value, int | float)


def _others(others: Mapping[str, Any], schema: Mapping[str, Any] | None) -> str | None:
    """Return the keys without a field as JSON; None if the schema allows none."""
    return as_json(dict(others), 2) if others else "" if takes_others(schema) else None


def _value(kind: str, text: str, empty: str) -> Any:
    """Parse the text of an input; a ValueError has the message for the user."""
    if text == "" or (kind != "text" and not text.strip()):
        if empty == LEFT_OUT:
            return _MISSING
        if empty == NULL:
            return None
        if kind == "text" or empty == EMPTY_TEXT:
            return ""
        raise ValueError("Enter a value.")
    if kind == "text":
        return text
    stripped = text.strip()
    if kind in ("integer", "number"):
        return _number(kind, stripped)
    if kind in ("date", "instant"):
        return _time(kind, stripped)
    return read_json_text(text)


def _number(kind: str, text: str) -> int | float:
    if re.fullmatch(r"[+-]?[0-9]{1,1000}", text):
        return int(text)
    if kind == "integer":
        raise ValueError(f"{text[:60]!r} is not a whole number.")
    try:
        number = float(text) if "_" not in text else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{text[:60]!r} is not a number.")
    return number


def _time(kind: str, text: str) -> str:
    """Check a date or an instant, and return the text unchanged."""
    try:
        if kind == "date":
            date.fromisoformat(text)
            ok = len(text) == 10
        else:
            datetime.fromisoformat(text)
            ok = len(text) > 10
    except ValueError:
        ok = False
    if not ok and kind == "date":
        raise ValueError(f"{text[:60]!r} is not a date. Write, for example, 2026-03-29.")
    if not ok:
        raise ValueError(f"{text[:60]!r} is not a date and time. Write, for example, 2026-03-29T03:00:00Z.")
    return text


def read_json_text(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError):
        pass
    # This parser is slower, but reports the position of the error.
    try:
        _, remarks = read_json(text)
    except Unreadable as error:
        where = f" (line {error.at[0]}, column {error.at[1]})" if error.at else ""
        raise ValueError(f"This is not JSON: {error.reason}{where}.") from None
    raise ValueError(remarks[0][1] if remarks else "This is not JSON.")


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError("too large")
    return number


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("duplicate key")
    return values


def read_object(text: str) -> tuple[dict[str, Any], str]:
    """Parse a payload from JSON; return it and an error message."""
    try:
        value = read_json_text(text) if text.strip() else {}
    except ValueError as error:
        return {}, str(error)
    return (value, "") if isinstance(value, dict) else ({}, 'Write an object such as {"limit": 5}.')


def _errors(payload: Mapping[str, Any], schema: Mapping[str, Any] | None) -> dict[str, str]:
    """Validate a payload; return errors by field."""
    wrong: dict[str, str] = {}
    try:
        check_payload(payload)
    except TickbirdError as error:
        return {"": str(error)}
    missing = {f"{field.name!r} is a required property": field.name for field in payload_fields(schema) or ()}
    for path, why in payload_errors(payload, schema or {}):
        inner = ".".join(str(part) for part in path[1:])
        name = str(path[0]) if path else missing.get(why, "")
        wrong.setdefault(name, "Enter a value." if why in missing and not path else f"{inner and f'{inner}: '}{why}.")
    return wrong


def _again(
    schema: Mapping[str, Any] | None,
    sent: Mapping[str, tuple[str, str, str]],
    wrong: Mapping[str, str],
    others: str | None,
    others_wrong: str,
) -> PayloadForm:
    """Rebuild the form from its input and errors, also if the schema has changed since."""
    wanted = {field.name: field for field in payload_fields(schema) or ()}
    fields = []
    for name, (kind, text, empty) in sent.items():
        field = wanted.get(name, PayloadFieldSpec(name=name))
        if kind == "choice" and text not in ("", "null", *field.choices):
            field = replace(field, choices=(*field.choices, text))
        empties = _empties(field)
        empties = (
            (empty, *(other for other in empties if other != empty))
            if empty in (LEFT_OUT, NULL, EMPTY_TEXT)
            else empties
        )
        fields.append(PayloadField(wanted=field, kind=kind, text=text, empties=empties, wrong=wrong.get(name, "")))
    fields += [
        replace(_drawn(field, _MISSING), wrong=wrong.get(name, ""))
        for name, field in wanted.items()
        if name not in sent
    ]
    named = {field.wanted.name for field in fields}
    rest = {name: why for name, why in wrong.items() if name not in named}
    return PayloadForm(fields=tuple(fields), others=others, others_wrong=others_wrong, wrong="; ".join(_messages(rest)))


def _messages(wrong: Mapping[str, str]) -> list[str]:
    return [f"{name[:60]}: {why}" if name else why for name, why in wrong.items()]
