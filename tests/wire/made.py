"""Any record that its types allow, for properties."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from tickbird.domain.time.instants import to_datetime

Strategy = st.SearchStrategy[Any]
NUMBERS = st.integers(0, 2**53)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=10)
INSTANTS = st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))
SECONDS = st.integers(0, 4_000_000_000)
WHOLE = SECONDS.map(to_datetime)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
_PLAIN: dict[Any, Strategy] = {
    int: NUMBERS,
    str: TEXTS,
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    datetime: INSTANTS,
    Any: JSON,
    type(None): st.none(),
}


def any_of_type(kind: Any) -> Strategy:
    """Values of a type."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    if is_dataclass(kind):
        return records(kind)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return st.sampled_from(inner)
    if origin in (Union, types.UnionType):
        return st.one_of(*map(any_of_type, inner))
    if origin is tuple and inner[1:] == (...,):
        return st.lists(any_of_type(inner[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*map(any_of_type, inner))
    if origin is Sequence:
        return st.lists(any_of_type(inner[0]), max_size=3)
    if origin is Mapping:
        return st.dictionaries(any_of_type(inner[0]), any_of_type(inner[1]), max_size=3)
    raise AssertionError(f"{kind} is no type that these records have")


def records(kind: Any, **given: Strategy) -> Strategy:
    """Records of a kind: each field as its type allows, or as given."""
    hints = get_type_hints(kind)
    made = {
        each.name: given[each.name] if each.name in given else any_of_type(hints[each.name]) for each in fields(kind)
    }
    assert given.keys() <= made.keys()
    return st.builds(kind, **made)
