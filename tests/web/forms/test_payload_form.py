"""A payload as a form: values round-trip, and errors are at their fields."""

from __future__ import annotations

import json
from functools import cache
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tickbird.web.forms.payload_form import EMPTY_TEXT, LEFT_OUT, NULL, PayloadForm, draw, read
from tickbird.web.page_request import Form, read_form
from tickbird.web.rendering import _environment

SCHEMA: dict[str, Any] = {
    "$defs": {
        "Colour": {"enum": ["red", "blue"], "type": "string", "description": "of the report"},
        "Tree": {"type": "object", "properties": {"child": {"$ref": "#/$defs/Tree"}}},
        "Loop": {"$ref": "#/$defs/Loop"},
    },
    "type": "object",
    "additionalProperties": False,
    "required": ["limit", "who"],
    "properties": {
        "who": {"type": "string", "minLength": 1, "title": "Who"},
        "note": {"type": "string", "default": "none"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "how many rows"},
        "share": {"anyOf": [{"type": "number", "maximum": 1}, {"type": "null"}], "default": None},
        "dry": {"type": "boolean", "default": True},
        "colour": {"$ref": "#/$defs/Colour", "default": "red"},
        "version": {"const": 2},
        "day": {"type": "string", "format": "date"},
        "since": {"type": ["string", "null"], "format": "date-time"},
        "tree": {"$ref": "#/$defs/Tree"},
        "loop": {"$ref": "#/$defs/Loop"},
        "rows": {"type": "array", "items": {"type": "integer"}},
    },
}


class Inputs(HTMLParser):
    """Return the fields that a browser sends for an unchanged form."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[tuple[str, str]] = []
        self.tags: set[str] = set()
        self._select: str | None = None
        self._options: list[tuple[str, bool]] = []
        self._area: tuple[str, list[str]] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {key: value or "" for key, value in attrs}
        self.tags.add(tag)
        if tag == "input":
            self.sent.append((named["name"], named.get("value", "")))
        elif tag == "select":
            self._select, self._options = named["name"], []
        elif tag == "option":
            self._options.append((named["value"], "selected" in named))
        elif tag == "textarea":
            self._area = (named["name"], [])

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self._area[1].append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "select" and self._select is not None:
            chosen = [value for value, is_chosen in self._options if is_chosen] or [self._options[0][0]]
            self.sent.append((self._select, chosen[-1]))
        elif tag == "textarea" and self._area is not None:
            name, parts = self._area
            self.sent.append((name, "".join(parts).removeprefix("\n")))
            self._area = None


def drawn(form: PayloadForm) -> Inputs:
    """The form as it is on a page."""
    inputs = Inputs()
    inputs.feed(page().render(form=form))
    return inputs


@cache
def page() -> Any:
    """A page that has nothing but the form."""
    return _environment().from_string('{% from "payload_form.html" import payload_inputs %}{{ payload_inputs(form) }}')


def sent(form: PayloadForm, **changed: str) -> Form:
    """The form once it was sent, with some inputs changed: by the end of their name."""
    pairs = [
        (key, next((new for name, new in changed.items() if key.split(":")[-1] == name and "empty" not in key), value))
        for key, value in drawn(form).sent
    ]
    return read_form(urlencode(pairs).encode())


def test_every_kind_is_read_as_it_was_drawn() -> None:
    """Of all kinds, with values and without."""
    payload = {
        "who": "ana\nand bo",
        "limit": 5,
        "share": 0.25,
        "dry": False,
        "colour": "blue",
        "version": 2,
        "day": "2026-03-29",
        "since": "2026-03-29T03:00:00+02:00",
        "tree": {"child": {"child": {}}},
        "loop": [1, "x"],
        "rows": [1, 2],
    }
    form = draw(SCHEMA, payload)
    kinds = {field.wanted.name: field.kind for field in form.fields}
    assert kinds == {
        "who": "text",
        "limit": "integer",
        "note": "text",
        "share": "number",
        "dry": "choice",
        "colour": "choice",
        "version": "choice",
        "day": "date",
        "since": "instant",
        "tree": "json",
        "loop": "json",
        "rows": "json",
    }
    assert [field.wanted.name for field in form.fields[:2]] == ["who", "limit"]
    back = read(sent(form), SCHEMA)
    assert (back.payload, back.wrong) == (payload, {})
    # Nothing is made up where nothing was given, and null is not the same as left out.
    small = {"who": "x", "limit": 1, "share": None, "since": None, "note": ""}
    back = read(sent(draw(SCHEMA, small)), SCHEMA)
    assert (back.payload, back.wrong) == (small, {})
    assert back.form.others is None


def test_payload_errors_are_at_their_fields_and_keep_the_input() -> None:
    """A message for each field; all texts as they were typed."""
    form = draw(SCHEMA, {"who": "ana", "limit": 5})
    typed = {"limit": "five", "share": "1e999", "day": "29.3.2026", "since": "2026-03-29", "rows": "[1,", "note": "<b>"}
    back = read(sent(form, **typed), SCHEMA)
    assert back.wrong["limit"] == "'five' is not a whole number."
    assert back.wrong["share"] == "'1e999' is not a number."
    assert "Write, for example, 2026-03-29." in back.wrong["day"]
    assert "date and time. Write" in back.wrong["since"]
    assert "line 1, column 4" in back.wrong["rows"]
    shown = {field.wanted.name: (field.text, field.wrong) for field in back.form.fields}
    assert {name: text for name, (text, _) in shown.items() if name in typed} == typed
    assert all(shown[name][1] == why for name, why in back.wrong.items())
    # What only the schema knows.
    back = read(sent(form, limit="0", who="", share="3"), SCHEMA)
    assert back.wrong["limit"].startswith("0 is less than the minimum")
    assert "share" in back.wrong
    assert "who" in back.wrong
    assert "maximum of 1" in back.wrong["share"]
    back = read(Form([("payload.integer:limit", "5")]), SCHEMA)
    assert back.wrong == {"who": "Enter a value."}
    assert {field.wanted.name: field.wrong for field in back.form.fields}["who"] == "Enter a value."
    # A field that the task no longer has is kept and told of.
    before = sent(form)
    pairs = [(name, value) for name in before.names() for value in before.all(name)]
    back = read(Form([*pairs, ("payload.text:gone", "kept")]), SCHEMA)
    assert back.payload["gone"] == "kept"
    assert "gone" in back.form.wrong
    assert next(field.text for field in back.form.fields if field.wanted.name == "gone") == "kept"


def test_json_comes_with_its_shape_and_an_example() -> None:
    """In words and as a value to write over; schemas that lead into themselves end somewhere."""
    person = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "boss": {"$ref": "#/$defs/person"}},
        "required": ["name"],
    }
    schema = {
        "properties": {
            "who": {"$ref": "#/$defs/person"},
            "to": {"type": "array", "items": {"type": "string"}, "default": ["a@b.c"]},
            "either": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
            "loop": {"$ref": "#/$defs/loop"},
            "any": {},
        },
        "$defs": {"person": person, "loop": {"anyOf": [{"$ref": "#/$defs/loop"}, {"$ref": "#/$defs/loop"}]}},
    }
    fields = {each.wanted.name: each.wanted for each in draw(schema, {}).fields}
    assert fields["who"].shape == "object with name (required), age, boss"
    assert json.loads(fields["who"].example)["boss"]["name"] == "text"
    assert (fields["to"].shape, fields["to"].example) == ("list of text", '["a@b.c"]')
    assert (fields["either"].shape, fields["either"].example) == ("text or whole number", '"text"')
    assert (fields["loop"].shape, fields["any"].shape, fields["any"].example) == ("", "", "")


def test_payload_shows_all_errors_at_once() -> None:
    """Syntax errors, and schema errors of the other fields."""
    form = draw(SCHEMA, {"who": "ana", "limit": 5})
    back = read(sent(form, limit="0", day="soon"), SCHEMA)
    assert back.wrong.keys() == {"limit", "day"}


def test_payload_keys_without_field_are_json() -> None:
    """Without a schema, the complete payload; with a schema, the keys that it does not define."""
    payload = {"a": [1, {"b": None}], "weird\nname": 1, "bidi\u202e": "\u202e", "nbsp": "a b"}
    for schema in (None, {}, {"type": "array"}, {"properties": "?"}, {"$ref": "#"}, {"$ref": "https://else/where"}):
        form = draw(schema, payload)
        assert form.whole is not None
        assert "\u202e" not in form.whole
        back = read(sent(form), schema)
        assert back.payload == payload
    back = read(Form([("payload.whole", '{"a": 1, "a": 2}')]), None)
    assert "twice" in back.wrong[""]
    assert back.form.whole == '{"a": 1, "a": 2}'
    for text in ("[1]", "{", "NaN", '{"a": NaN}', '{"a": 1e999}', "[" * 100_000):
        back = read(Form([("payload.whole", text)]), None)
        assert back.wrong[""]
        assert back.form.whole == text
        assert back.form.wrong
    assert read(Form([("payload.whole", " ")]), None).payload == {}

    open_schema = {"properties": {"n": {"type": "integer"}, "odd\nname": {"type": "integer"}}}
    form = draw(open_schema, {"n": 1, "odd\nname": 2, "more": 3})
    assert json.loads(form.others or "") == {"odd\nname": 2, "more": 3}
    assert read(sent(form), open_schema).payload == {"n": 1, "odd\nname": 2, "more": 3}
    back = read(Form([("payload.integer:n", "1"), ("payload.others", '{"n": 2}')]), open_schema)
    assert back.form.others_wrong == "'n' already has a field above."
    assert back.wrong


@pytest.mark.parametrize(
    "value", ["x", 5, 1.5, True, None, [1], {"a": 1}, "", "a\tb", "\r\n", "\x00", " x ", 10**30, "\u202e"]
)
def test_payload_values_of_another_type_round_trip(value: Any) -> None:
    """A payload from before a change of the task is shown."""
    payload = {"who": value, "limit": value, "dry": value, "day": value, "rows": value}
    back = read(sent(draw(SCHEMA, payload)), SCHEMA)
    told = {field.wanted.name: field.text for field in back.form.fields}
    for name in payload:
        if name in back.payload:
            assert back.payload[name] == value
            assert type(back.payload[name]) is type(value)
        else:
            # No date, and shown as it is.
            assert (name, told[name]) == ("day", value)
            assert back.wrong["day"]


def test_hostile_schemas_draw_and_nothing_runs() -> None:
    """Names, titles, defaults and choices full of markup are text; schemas that cannot be gone by refuse nothing."""
    bad = '"><script>alert(1)</script>'
    schema = {
        "properties": {
            bad: {"type": "string", "description": bad, "default": bad, "pattern": bad},
            "choice": {"enum": [bad, 1, None, {"x": [bad]}]},
            "broken": {"type": "string", "pattern": "["},
            "wrong": 5,
            "type": {"type": {"type": "string"}},
            "any": {"anyOf": "x", "allOf": [{"allOf": [{}]}]},
        },
        "required": "who",
    }
    form = draw(schema, {bad: "x", "choice": {"x": [bad]}, "broken": "x"})
    inputs = drawn(form)
    assert "script" not in inputs.tags
    back = read(sent(form), schema)
    assert back.payload == {bad: "x", "choice": {"x": [bad]}, "broken": "x"}
    many = {"properties": {f"n{each}": {"type": "integer"} for each in range(1_000)}}
    form = draw(many, {"n1": 1, "n999": 9})
    assert len(form.fields) == 200
    assert json.loads(form.others or "") == {"n999": 9}


names = st.text(max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
parts = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer"},
        {"type": "number"},
        {"type": "boolean"},
        {"enum": ["a", 1, None]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"type": "object"},
        {},
    ]
)


@given(st.dictionaries(names, values, max_size=5), st.dictionaries(names, parts, max_size=5))
def test_payload_round_trips_through_any_form(payload: dict[str, Any], properties: dict[str, Any]) -> None:
    """An unchanged form sends the same payload."""
    schema = {"properties": properties}
    back = read(sent(draw(schema, payload)), schema)
    assert back.payload == payload or back.wrong


def test_empty_has_the_meaning_that_was_chosen() -> None:
    """Left out, null or an empty text."""
    for empty, expected in ((LEFT_OUT, {}), (NULL, {"x": None}), (EMPTY_TEXT, {"x": ""})):
        schema = {"properties": {"x": {"type": ["string", "null"]}}}
        back = read(Form([("payload.text:x", ""), ("payload.empty:x", empty)]), schema)
        assert (back.payload, back.wrong) == (expected, {})
        again = next(iter(back.form.fields))
        assert again.empties[0] == empty
