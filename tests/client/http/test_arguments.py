"""Arguments of the wrong type: both clients refuse them, in the same words."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest

from tests.client.http.conftest import Both
from tickbird import NewEvent
from tickbird.client import NOUNS
from tickbird.domain.errors import InvalidError
from tickbird.wire.operations import Operation, operations_of

THEN = datetime(2100, 1, 1, tzinfo=UTC)
NAIVE = datetime(2100, 1, 1)
# Valid arguments by parameter, for those that have no default.
VALID: Mapping[str, Any] = {
    "name": "report",
    "definition": {"trigger": {"every": {"hours": 1}}, "target": {"task": "report"}},
    "actor": "ana",
    "at": THEN,
    "to": THEN,
    "tick": THEN,
    "first": THEN,
    "last": THEN + timedelta(days=1),
    "since": THEN,
    "task": "report",
    "run_id": 1,
    "backfill_id": 1,
    "key": "a",
    "max_running": 1,
    "queue": "mail",
    "rate": "1/s",
    "document": {"app": "shop"},
    "worker_id": "w",
    "role": "viewer",
    "token_id": "a" * 8,
    "session_id": "a" * 16,
    "topic": "orders",
    "type": "Paid",
    "event_id": "00000000-0000-0000-0000-000000000001",
    "group": "billing",
    "scratch": "billing-test",
    "letter_id": 1,
    "data": {"total": 1},
    "effect": "yes",
    "is_required": True,
    "schedule_name": "sync",
    "frequency_unit": "minutes",
    "frequency_time": 5,
    "start_ts": THEN,
    "event_topic": "portal-event",
    "event_type": "SyncDue",
    "events": [NewEvent(topic="orders", type="Paid")],
}
# Arguments whose type is another one for these operations.
OTHERS: Mapping[str, Mapping[str, Any]] = {
    "revisions.roll_back": {"to": 1},
    "calendars.put": {"definition": {"weekdays": ["sat"]}},
    "calendars.preview": {"definition": {"weekdays": ["sat"]}},
}
WRONG: Mapping[Any, Sequence[Any]] = {
    int: ["5", True, 1.5, THEN, [1]],
    float: ["5", True, float("nan"), float("inf"), THEN],
    str: [5, True, b"text", THEN, "a\0b", "\ud800", ["text"]],
    bool: ["yes", 1, 0, "false"],
    datetime: ["text", "2100-01-01T00:00:00Z", NAIVE, date(2100, 1, 1), 5, True, datetime.max.replace(tzinfo=UTC)],
    timedelta: ["soon", True, 1.5, -1, THEN, timedelta(seconds=1.5), timedelta(seconds=-1)],
    Literal: ["nothing", 5, True, ["now"]],
    Mapping: ["text", 5, [], True],
    Collection: ["text", 5, [5], {"retries": 1}, True, ["a\0b"]],
    Callable: ["text", 5],
    # Every JSON value.
    Any: [THEN, b"text", float("nan")],
}
# Numbers and texts that are out of range: refused or not, but by both.
EXTREME: Mapping[Any, Sequence[Any]] = {
    int: [0, -1, 10**6, 10**12, 2**70],
    float: [0, -1, 1e300],
    str: ["", "a/b", "..", "x" * 5_000],
    Collection: [(), ["nothing"], ["x" * 5_000]],
    timedelta: ["", "9999999w", 10**12],
}


def kinds_of(hint: Any) -> set[Any]:
    """The kinds of values that a type allows, as keys of WRONG."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return kinds_of(inner[0])
    if origin in (Union, types.UnionType):
        kinds = {kind for one in inner for kind in kinds_of(one)}
        return {*kinds} - {int, str} if timedelta in kinds else kinds
    if origin is Literal:
        return {Literal}
    if origin is not None:
        return {{Mapping: Mapping, Callable: Callable}.get(origin, Collection)}
    return {hint}


def operations() -> Iterator[tuple[str, str, Operation]]:
    for noun, kind in NOUNS.items():
        for name, operation in operations_of(kind).items():
            yield noun, name, operation


PARAMETERS = [
    pytest.param(noun, name, parameter, id=f"{noun}.{name}-{parameter}")
    for noun, name, operation in operations()
    for parameter in operation.signature.parameters
    if parameter != "self"
]


def wrong_values(hint: Any) -> list[Any]:
    """Values that no type of the hint allows."""
    kinds = kinds_of(hint)
    values = [value for kind in kinds - {type(None)} for value in WRONG.get(kind, [5, True])]
    if str in kinds:
        values = [value for value in values if not isinstance(value, str) or not value.isprintable()]
    if int in kinds:
        values = [value for value in values if type(value) is not int]
    if datetime in kinds:
        values = [value for value in values if value is not THEN]
    if Mapping in kinds:
        values = [value for value in values if not isinstance(value, dict)]
    return values if {type(None), Any} & kinds else [*values, None]


async def refusal(call: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    try:
        await call(**arguments)
    except Exception as error:
        return type(error), str(error), getattr(error, "field", None)
    return None


def valid_arguments(noun: str, operation: Operation) -> dict[str, Any]:
    required = [
        name
        for name, parameter in operation.signature.parameters.items()
        if parameter.default is inspect.Parameter.empty and name != "self"
    ]
    return {**{name: VALID[name] for name in required}, **OTHERS.get(f"{noun}.{operation.name}", {})}


@pytest.mark.parametrize("noun, name, parameter", PARAMETERS)
async def test_both_clients_refuse_an_argument_of_the_wrong_type(
    both: Both, noun: str, name: str, parameter: str
) -> None:
    await both.create("report")
    operation = operations_of(NOUNS[noun])[name]
    local, remote = (getattr(getattr(client, noun), name) for client in (both.local, both.remote))
    for value in wrong_values(operation.hints[parameter]):
        arguments = {**valid_arguments(noun, operation), parameter: value}
        here, there = await refusal(local, arguments), await refusal(remote, arguments)
        assert here == there, value
        assert here is not None, value
        assert issubclass(here[0], InvalidError), (value, here)
        assert here[2].partition(".")[0] == parameter, (value, here)
        assert here[1].startswith((f"{here[2]}: ", f"{here[2]} ")), (value, here)


@pytest.mark.parametrize("noun, name, parameter", PARAMETERS)
async def test_both_clients_treat_an_argument_out_of_range_alike(
    both: Both, noun: str, name: str, parameter: str
) -> None:
    if parameter == "within":
        return  # the server fills it in
    await both.create("report")
    operation = operations_of(NOUNS[noun])[name]
    local, remote = (getattr(getattr(client, noun), name) for client in (both.local, both.remote))
    for value in [value for kind in kinds_of(operation.hints[parameter]) for value in EXTREME.get(kind, ())]:
        arguments = {**valid_arguments(noun, operation), parameter: value}
        here, there = await refusal(local, arguments), await refusal(remote, arguments)
        if here is None or not issubclass(here[0], InvalidError):
            # The first call may have changed the store.
            assert there is None or not issubclass(there[0], InvalidError), (value, there)
        else:
            assert here == there, value
