"""Values and errors of user code can be stored by every store, and are bounded."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.hostile import ERRORS, LARGE, VALUES, random_values
from tickbird.engine.result_encoding import MAX_RESULT, encode_value
from tickbird.engine.task_errors import MAX_ERROR, encode_error


def check(encoded: Any) -> None:
    """True if PostgreSQL and SQLite accept the JSON, and every process can read it."""
    text = json.dumps(encoded, allow_nan=False)
    assert json.loads(text) == encoded
    assert len(json.dumps(encoded, allow_nan=False, ensure_ascii=False)) <= 2 * MAX_RESULT + 200
    assert "\\u0000" not in text.replace("\\\\u0000", "")
    assert not any(f"\\ud{digit}" in text for digit in "89abcdef")


@pytest.mark.parametrize("name", VALUES)
def test_each_value_is_encoded(name: str) -> None:
    check(encode_value(VALUES[name]()))


@pytest.mark.parametrize("seed", range(20))
def test_random_values_are_encoded(seed: int) -> None:
    for value in random_values(seed, 50):
        check(encode_value(value))


@pytest.mark.parametrize(
    "value, encoded",
    [
        ({"a": (1, 2.5, None, True)}, {"a": [1, 2.5, None, True]}),
        ({1: "a", None: "b", (1, 2): "c"}, {"1": "a", "None": "b", "1,2": "c"}),
        ([float("inf"), "a\0b", "\ud800"], ["Infinity", "ab", "?"]),
        (10**4_000, 10**4_000),
    ],
    ids=["containers", "keys", "texts", "integer"],
)
def test_valid_values_are_unchanged(value: Any, encoded: Any) -> None:
    assert encode_value(value) == encoded


@pytest.mark.parametrize("value", [LARGE, {"a": LARGE}, {LARGE: 1}], ids=["alone", "member", "key"])
def test_an_integer_that_is_too_long_is_named(value: Any) -> None:
    assert "an integer of 19,053 bits is too long" in encode_value(value)["unreadable"]


@pytest.mark.parametrize("make", ERRORS.values(), ids=ERRORS)
def test_each_error_has_a_text(make: Callable[[], BaseException]) -> None:
    try:
        raise make()
    except BaseException as error:
        text = encode_error(error).text
    assert text.strip()
    assert len(text) <= 2 * MAX_ERROR
    assert "\0" not in text
    assert text.encode()
