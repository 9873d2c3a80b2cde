"""Rows by the names of their columns, as named tuples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

R = TypeVar("R", bound=NamedTuple)


def as_rows(row_type: type[R], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[R]:
    """Each row as a named tuple whose fields are columns of the same name; other columns are left out."""
    order, make = _order(row_type, tuple(columns)), row_type._make
    return list(map(make, rows if order is None else map(order, rows)))


@cache
def _order(row_type: type[NamedTuple], columns: tuple[str, ...]) -> Callable[[Sequence[Any]], Any] | None:
    fields = row_type._fields
    if columns == fields:
        return None
    places = [columns.index(name) for name in fields]
    return itemgetter(*places) if len(places) > 1 else lambda row: (row[places[0]],)
