"""SQL targets: functions and registered statements."""

from __future__ import annotations

from typing import Any

import pytest

from tickbird import DefinitionError, sql
from tickbird.domain.runs.sql_calls import ContractError, read_result
from tickbird.domain.targets.registry import read_target, write_target
from tickbird.domain.targets.sql import SqlSpec


@pytest.mark.parametrize(
    "value, name, line",
    [
        ({"function": "public.daily_cleanup"}, "store", "public.daily_cleanup()"),
        ({"function": "daily_cleanup", "role": "reporting"}, "store", "daily_cleanup() as reporting"),
        ({"statement": "vacuum", "connection": "warehouse"}, "warehouse.vacuum", "vacuum on warehouse"),
    ],
)
def test_json_is_read_and_written(value: dict[str, Any], name: str, line: str) -> None:
    target = read_target({"sql": value})
    assert isinstance(target.spec, SqlSpec)
    assert (target.kind, target.name, target.spec.line) == ("sql", name, line)
    assert write_target(target) == {"sql": value}


def test_the_name_of_a_function_is_enough() -> None:
    assert read_target({"sql": "public.daily_cleanup"}).spec == sql("public.daily_cleanup")


def test_only_admins_define_it() -> None:
    assert SqlSpec.role == "admin"


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        {"function": "f(); drop table x"},
        {"function": "f()"},
        {"function": "a.b.c"},
        {"function": 'public."f"g"'},
        {"function": "f", "statement": "s", "connection": "c"},
        {"function": "f", "connection": "c"},
        {"function": "f", "role": ""},
        {"function": "f", "role": 1},
        {"statement": "s"},
        {"statement": "s", "connection": "a.b"},
        {"statement": "s", "connection": "c", "role": "reporting"},
        {"function": "f", "user": "x"},
    ],
)
def test_anything_else_is_refused(value: Any) -> None:
    with pytest.raises(DefinitionError, match=r"^sql: ") as refused:
        read_target({"sql": value})
    assert refused.value.field == "sql"


@pytest.mark.parametrize("text", [None, "null", "[]", '"x"', "{}", '{"success": 1}', '{"success": true, "message": 1}'])
def test_a_result_needs_success_and_a_message(text: str | None) -> None:
    with pytest.raises(ContractError, match="the function "):
        read_result(text, len(text or ""))


def test_a_result_may_have_other_fields() -> None:
    assert read_result('{"success": false, "n": 1}', 26) == {"success": False, "n": 1}
