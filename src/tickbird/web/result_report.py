"""The result of a run as a message and a table, if it is a report such as SQL functions return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

MAX_ROWS: Final = 100
_MAX_COLUMNS: Final = 12
_KEYS: Final = frozenset(("success", "message", "details", "again"))


@dataclass(frozen=True, slots=True)
class ResultTable:
    """Rows of JSON values; None is an empty cell."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    # Columns with numbers only, by place.
    numeric: Sequence[bool]
    # The number of rows of the result, which may be more than those shown.
    total: int


@dataclass(frozen=True, slots=True)
class ResultReport:
    """{"success": …, "message": …, "details": …}. Details that are not a table are shown as JSON."""

    message: str
    details: Any = None
    table: ResultTable | None = None


def read_report(result: Any) -> ResultReport | None:
    """Return None if the result has other fields or types: it is then shown as JSON."""
    if not isinstance(result, Mapping) or not result.keys() <= _KEYS:
        return None
    message, details = result.get("message", ""), result.get("details")
    if not isinstance(result.get("success"), bool) or not isinstance(message, str):
        return None
    return ResultReport(message, details, as_table(details))


def as_table(details: Any) -> ResultTable | None:
    """One row per field of an object, or per object of a list."""
    if isinstance(details, Mapping) and details:
        return _make_table(("name", "value"), list(details.items())[:MAX_ROWS], len(details))
    if not isinstance(details, list | tuple) or not details or not all(isinstance(row, Mapping) for row in details):
        return None
    columns = list(dict.fromkeys(str(name) for row in details[:MAX_ROWS] for name in row))
    if not 1 <= len(columns) <= _MAX_COLUMNS:
        return None
    rows = [[row.get(name) for name in columns] for row in details[:MAX_ROWS]]
    return _make_table(columns, rows, len(details))


def _make_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], total: int) -> ResultTable:
    numeric = [all(cell is None or type(cell) in (int, float) for cell in cells) for cells in zip(*rows, strict=True)]
    return ResultTable(columns, rows, numeric, total)
