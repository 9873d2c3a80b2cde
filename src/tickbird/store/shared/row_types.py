"""Rows as named tuples, by the names of their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

R = TypeVar("R", bound=NamedTuple)


def as_rows(row_type: type[R], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[R]:
    """Convert each row to a named tuple with the columns of the same names; drops other columns."""
    order, make = _order(row_type, tuple(columns)), row_type._make
    return list(map(make, rows if order is None else map(order, rows)))


@cache
def _order(row_type: type[NamedTuple], columns: tuple[str, ...]) -> Callable[[Sequence[Any]], Any] | None:
    fields = row_type._fields
    if columns == fields:
        return None
    indexes = [columns.index(name) for name in fields]
    return itemgetter(*indexes) if len(indexes) > 1 else lambda row: (row[indexes[0]],)
