"""Results as a message and a table."""

from __future__ import annotations

from typing import Any

import pytest

from tickbird.web.result_report import MAX_ROWS, read_report


def test_objects_and_lists_of_objects_are_tables() -> None:
    report = read_report({"success": True, "message": "done", "details": {"rows": 3, "tables": ["a"]}})
    assert report is not None
    assert report.table is not None
    assert (report.message, report.table.columns) == ("done", ("name", "value"))
    assert report.table.rows == [("rows", 3), ("tables", ["a"])]
    assert report.table.numeric == [False, False]
    report = read_report({"success": False, "details": [{"a": 1}, {"a": None}] + [{"a": 2.5}] * MAX_ROWS})
    assert report is not None
    assert report.table is not None
    assert report.table.numeric == [True]
    assert (report.table.columns, len(report.table.rows), report.table.total) == (["a"], MAX_ROWS, MAX_ROWS + 2)


@pytest.mark.parametrize("details", [None, [], {}, 3, "text", [1, {"a": 1}], [{}], [{f"c{i}": i for i in range(50)}]])
def test_other_details_are_json(details: Any) -> None:
    report = read_report({"success": True, "message": "done", "details": details})
    assert report is not None
    assert (report.table, report.details) == (None, details)


@pytest.mark.parametrize(
    "result",
    [
        None,
        7,
        "done",
        ["a"],
        {},
        {"message": "done"},
        {"success": 1},
        {"success": True, "message": 3},
        {"success": True, "a": 1},
    ],
)
def test_other_results_are_no_report(result: Any) -> None:
    assert read_report(result) is None
