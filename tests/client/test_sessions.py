"""Sessions through the client: opened, listed, closed; bad input."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from tickbird.client import StoreClient
from tickbird.client.sessions import open_session
from tickbird.domain.access.sessions import parse_session
from tickbird.domain.errors import InvalidError, NotFoundError
from tickbird.store.sqlite import SqliteStore


@pytest.fixture
async def client() -> AsyncIterator[StoreClient]:
    store = SqliteStore(":memory:")
    await store.open()
    yield StoreClient(store, "shop")
    await store.close()


async def test_a_session_is_opened_used_and_closed(client: StoreClient) -> None:
    token, _ = await client.tokens.create("ana", "operator", actor="ada")
    session, text = await open_session(client.store, token.id, user_agent="Firefox\n" + "x" * 300)
    parsed = parse_session(text)
    assert parsed is not None
    assert parsed[0] == session.id
    assert session.matches(parsed[1])
    assert not session.matches(session.digest)
    assert (session.name, session.role, session.namespaces) == ("ana", "operator", ("shop",))
    assert session.user_agent == "Firefox " + "x" * 192
    assert session.expires_at - session.opened_at == timedelta(hours=12)
    assert await client.store.sessions.find(session.id) == session
    assert await client.sessions.list() == await client.sessions.list_for_token(token.id, within=["shop"]) == [session]
    assert await client.sessions.list(within=["bank"]) == []
    await client.store.sessions.touch(session.id)
    [used] = await client.sessions.list(live=True)
    assert used.last_used_at is not None
    closed = await client.sessions.close(session.id, actor="ana")
    assert (closed.state, closed.closed_by) == ("closed", "ana")
    await open_session(client.store, token.id, within="5m")
    assert await client.sessions.close_for_token(token.id, actor="bo") == 1
    told = [(each.action, each.actor) for each in await client.audit.list()]
    me = f"ana (token {token.id})"
    assert told[:4] == [("close_sessions", "bo"), ("open_session", me), ("close_session", "ana"), ("open_session", me)]
    assert parsed[1] not in str([*await client.audit.list(), *await client.sessions.list()])


async def test_a_session_never_outlives_its_token(client: StoreClient) -> None:
    end = (await client.system.now()).replace(microsecond=0) + timedelta(hours=1)
    token, _ = await client.tokens.create("ana", "viewer", actor="ada", expires_at=end)
    assert (await open_session(client.store, token.id))[0].expires_at == end
    assert (await open_session(client.store, token.id, within=60))[0].expires_at < end


@pytest.mark.parametrize("wrong", ["", "aaaaaaaa", "a" * 16, "' OR 1=1", "x" * 10_000])
async def test_what_is_not_there_is_said_so(client: StoreClient, wrong: Any) -> None:
    for asked in (
        open_session(client.store, wrong),
        client.sessions.close(wrong, actor="ada"),
        client.sessions.close_for_token(wrong, actor="ada"),
    ):
        with pytest.raises(NotFoundError, match=r"there is no (token|session)"):
            await asked
    assert await client.store.sessions.find(wrong) is None
    with pytest.raises(NotFoundError, match="there is no token"):
        await client.sessions.list_for_token(wrong)
    assert await client.audit.list() == []


async def test_bad_input_opens_nothing(client: StoreClient) -> None:
    token, _ = await client.tokens.create("ana", "viewer", actor="ada")
    for wrong in (0, "31d", "soon", -1):
        with pytest.raises(InvalidError, match="within: "):
            await open_session(client.store, token.id, within=wrong)
    with pytest.raises(InvalidError, match="actor must have"):
        await client.sessions.close_for_token(token.id, actor="")
    with pytest.raises(InvalidError, match="limit must be"):
        await client.sessions.list(limit=0)
    assert await client.sessions.list() == []
