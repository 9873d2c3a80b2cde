"""Operations: what each declares, and that both clients have it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from tickbird.client import NOUNS, StoreClient
from tickbird.client.base import ClientBase
from tickbird.client.http import HttpClient, Transport
from tickbird.client.http.operations import HttpBase
from tickbird.domain.errors import InvalidError
from tickbird.domain.schedules.definition import Target
from tickbird.domain.triggers.every import every
from tickbird.stores import open_store
from tickbird.wire.operations import Operation, operations_of

# They change nothing, or only what is not audited.
# An event has its own record, with its actor.
UNAUDITED = {
    "preview_backfill",
    "preview_calendar",
    "diff",
    "preview",
    "simulate",
    "ping",
    "publish_event",
    "publish_events",
}


def operations() -> Iterator[tuple[str, Operation]]:
    """Each operation with its noun."""
    for noun, kind in NOUNS.items():
        for operation in operations_of(kind).values():
            yield noun, operation


def test_every_noun_has_operations() -> None:
    assert {"schedules", "runs", "limits", "tokens", "calendars"} < set(NOUNS)
    for noun, kind in NOUNS.items():
        assert issubclass(kind, ClientBase), noun
        assert operations_of(kind), noun


def test_routes_and_operation_ids_are_unique() -> None:
    routed = [operation for _, operation in operations() if operation.routed]
    assert len({operation.id for operation in routed}) == len(routed) > 70
    assert len({(operation.method, operation.path) for operation in routed}) == len(routed)


def test_whatever_changes_something_names_its_action_in_the_audit_log() -> None:
    for _, operation in operations():
        if operation.method == "GET":
            assert operation.audit is None, operation.id
        else:
            assert (operation.audit is None) == (operation.id in UNAUDITED), operation.id
            assert operation.has("actor") or operation.id in UNAUDITED, operation.id


def test_every_parameter_and_result_can_be_sent() -> None:
    from tickbird.wire.schema import Components

    components = Components()
    for _, operation in operations():
        for parameter in operation.parameters:
            components.schema(parameter.hint)
        if operation.result is not type(None):
            components.schema(operation.result)
        assert operation.description, operation.id


@pytest.mark.parametrize("noun", NOUNS)
def test_the_http_client_reaches_no_store(noun: str) -> None:
    """Each public method is derived, written by hand for HTTP, or built on such methods."""
    client = HttpClient(Transport("http://127.0.0.1:1"))
    remote: Any = getattr(client, noun)
    assert isinstance(remote, HttpBase)
    for name, method in inspect.getmembers(type(remote), inspect.isfunction):
        if name.startswith("_") or not inspect.iscoroutinefunction(method):
            continue
        assert "_store" not in inspect.unwrap(method).__code__.co_names, f"{noun}.{name} reads the store"


async def test_both_clients_have_the_same_signatures() -> None:
    store = open_store("sqlite://:memory:")
    await store.open()
    local, remote = StoreClient(store), HttpClient(Transport("http://127.0.0.1:1"))
    for noun in NOUNS:
        ours, theirs = getattr(local, noun), getattr(remote, noun)
        assert isinstance(theirs, type(ours))
        assert isinstance(ours, ClientBase)
        for name in operations_of(type(ours)):
            assert callable(getattr(theirs, name))
    await store.close()


async def test_a_target_can_be_set_in_every_form() -> None:
    store = open_store("sqlite://:memory:")
    await store.open()
    client = StoreClient(store)
    await client.schedules.create("a", every(hours=1), "work", actor="ana", unknown_task_ok=True)
    for target in ("other", {"task": "other"}, Target("other")):
        changed = await client.schedules.update("a", target=target, actor="ana")
        assert changed.definition is not None
        assert changed.definition.target == Target("other")
    await store.close()


async def test_a_key_that_no_header_can_hold_is_refused_before_anything_is_sent() -> None:
    client = HttpClient(Transport("http://127.0.0.1:1"))
    for key in ("é", "a\nb"):
        with pytest.raises(InvalidError, match=r"idempotency_key: .* cannot be sent in a header"):
            await client.schedules.trigger("a", actor="ana", idempotency_key=key)
