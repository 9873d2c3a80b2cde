"""Tokens through the client: made, used, listed, revoked; bad input."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from tickbird.client import StoreClient
from tickbird.domain.access.tokens import parse_token
from tickbird.domain.errors import InvalidError, NotFoundError
from tickbird.store.sqlite import SqliteStore


@pytest.fixture
async def client() -> AsyncIterator[StoreClient]:
    store = SqliteStore(":memory:")
    await store.open()
    yield StoreClient(store, "shop")
    await store.close()


async def test_a_token_is_made_for_the_namespace_and_its_secret_is_kept_nowhere(client: StoreClient) -> None:
    made, text = await client.tokens.create("ci", "operator", actor="ada")
    parsed = parse_token(text)
    assert parsed is not None
    found = await client.store.tokens.find(parsed[0])
    assert found == made
    assert (found.namespaces, found.role, found.expires_at) == (("shop",), "operator", None)
    assert found.matches(parsed[1])
    assert parsed[1] not in str([*await client.audit.list(), *await client.tokens.list()])
    assert (await client.tokens.create("ci", "viewer", actor="ada"))[1] != text


async def test_a_token_may_open_some_namespaces_or_all(client: StoreClient) -> None:
    some, _ = await client.tokens.create("ci", "viewer", actor="ada", namespaces=["b", "a"])
    every, _ = await client.tokens.create("root", "admin", actor="ada", all_namespaces=True)
    assert (some.namespaces, every.namespaces) == (("a", "b"), None)
    assert {each.id for each in await client.tokens.list(within=["a", "b", "c"])} == {some.id}


async def test_a_revoked_token_is_no_longer_live(client: StoreClient) -> None:
    end = await client.system.now() + timedelta(days=1)
    made, _ = await client.tokens.create("ci", "viewer", actor="ada", expires_at=end)
    assert [each.id for each in await client.tokens.list(live=True)] == [made.id]
    await client.store.tokens.touch(made.id)
    assert (await client.tokens.revoke(made.id, actor="bo")).state == "revoked"
    assert await client.tokens.list(live=True) == []
    [listed] = await client.tokens.list()
    assert listed.last_used_at is not None
    assert [(each.action, each.actor) for each in await client.audit.list()] == [
        ("revoke_token", "bo"),
        ("create_token", "ada"),
    ]


@pytest.mark.parametrize(
    "wrong, why",
    [
        ({"name": ""}, "name must have 1 to 100"),
        ({"name": "x" * 101}, "name must have 1 to 100"),
        ({"name": "a\0"}, "name: .* cannot be stored as text"),
        ({"role": "root"}, "role: 'root' is not one of"),
        ({"namespaces": ["a/b"]}, "namespace: 'a/b' is not a valid name"),
        ({"namespaces": "shop"}, "namespaces must be a list"),
        ({"actor": ""}, "actor must have"),
    ],
)
async def test_bad_input_is_refused_and_nothing_is_made(client: StoreClient, wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidError, match=why):
        await client.tokens.create(**{"name": "ci", "role": "viewer", "actor": "ada", **wrong})
    assert await client.tokens.list() == []


async def test_a_token_cannot_be_made_for_the_past_or_without_a_zone(client: StoreClient) -> None:
    now = await client.system.now()
    for wrong in (now - timedelta(seconds=1), now.replace(tzinfo=None) + timedelta(days=1)):
        with pytest.raises(InvalidError):
            await client.tokens.create("ci", "viewer", actor="ada", expires_at=wrong)
    assert await client.tokens.list() == []


@pytest.mark.parametrize("wrong", ["", "aaaaaaaa", "AAAAAAAA", "' OR 1=1", "x" * 10_000])
async def test_what_is_no_token_cannot_be_revoked(client: StoreClient, wrong: str) -> None:
    with pytest.raises(NotFoundError, match="there is no token"):
        await client.tokens.revoke(wrong, actor="ada")
    assert await client.store.tokens.find(wrong) is None
    assert await client.audit.list() == []
