"""Tokens at the door: what they open, for how long, and what a look-up costs."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from tests.api.conftest import Api, refused
from tickbird.api.auth.auth import TTL_SECONDS, Authority
from tickbird.api.problems import Problem
from tickbird.client import StoreClient
from tickbird.domain.access.tokens import TokenRecord
from tickbird.domain.errors import StoreUnavailableError


class Clock:
    """A monotonic clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Counting(StoreClient):
    """A client that counts look-ups."""

    looked = noted = 0

    @property
    def store(self) -> Any:
        return SimpleNamespace(tokens=CountingTokens(self), sessions=self._store.sessions)


class CountingTokens:
    """Counts in its client."""

    def __init__(self, client: Counting) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client._store.tokens, name)

    async def find(self, token_id: str) -> TokenRecord | None:
        self._client.looked += 1
        return await self._client._store.tokens.find(token_id)

    async def touch(self, token_id: str) -> None:
        self._client.noted += 1
        await self._client._store.tokens.touch(token_id)


async def test_a_token_opens_until_it_is_revoked_and_a_second_more(api: Api) -> None:
    clock, client = Clock(), Counting(api.store)
    authority = Authority(client, clock)
    made, text = await client.tokens.create("ci", "operator", actor="ada")
    header = f"Bearer {text}"
    caller, *_ = [await authority.caller(header) for _ in range(5)]
    assert (caller.name, caller.role, caller.namespaces) == ("ci", "operator", ("default",))
    assert caller.actor == f"ci (token {made.id})"
    assert client.looked == 1
    await client.tokens.revoke(made.id, actor="ada")
    clock.now += TTL_SECONDS - 0.01
    await authority.caller(header)
    clock.now += 0.02
    with pytest.raises(Problem):
        await authority.caller(header)
    assert client.looked == 2
    await authority.settle()


async def test_its_use_is_noted_once_a_minute_beside_the_request(api: Api) -> None:
    clock, client = Clock(), Counting(api.store)
    authority = Authority(client, clock)
    made, text = await client.tokens.create("ci", "viewer", actor="ada")
    for seconds in (0, 30, 29, 2):
        clock.now += seconds
        await authority.caller(f"bearer  {text}")
    await authority.settle()
    assert client.noted == 2
    found = await client.store.tokens.find(made.id)
    assert found is not None
    assert found.last_used_at is not None


async def test_an_expired_token_opens_nothing(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    client = api.client()
    end = await client.system.now() + timedelta(days=1)
    made, text = await client.tokens.create("ci", "viewer", actor="ada", expires_at=end)
    assert (await api.ask("GET", "/api/v1/schedules", token=text)).status_code == 200

    monkeypatch.setattr(api.store.tokens, "find", partial(api.store.tokens.find, now=end))
    other = Api(api.store)
    refused(await other.ask("GET", "/api/v1/schedules", token=text), 401, "unauthorized")
    assert made.expires_at is not None
    await other.app.state.authority.settle()


async def test_two_headers_are_as_none(api: Api) -> None:
    text = await api.token("viewer")
    headers = [("Authorization", f"Bearer {text}"), ("Authorization", f"Bearer {text}")]
    refused(await api.plain("GET", "/api/v1/schedules", headers=headers), 401, "unauthorized")


async def test_a_store_that_is_away_is_told_as_such_and_not_where_it_is(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    text = await api.token("viewer")

    async def away(*_: Any, **__: Any) -> Any:
        raise StoreUnavailableError("the database at 10.0.0.7 does not answer;", hint="look whether it runs.")

    monkeypatch.setattr(type(api.store.tokens), "find", away)
    answer = await api.ask("GET", "/api/v1/schedules", token=text)
    assert "10.0.0.7" not in refused(answer, 503, "store-unavailable")
    assert "the database at 10.0.0.7 does not answer; look whether it runs." in caplog.text
    assert answer.headers["retry-after"] == "2"


async def test_namespaces_are_apart(api: Api) -> None:
    for namespace in ("a", "b", "c"):
        await api.create("same", namespace)
        await api.create(f"only-{namespace}", namespace)
    listed = await api.get("/schedules", "viewer", "a")
    assert [each["name"] for each in listed["items"]] == ["only-a", "same"]
    both = await api.get("/schedules?namespace=b", "viewer", "a", "b")
    assert [each["name"] for each in both["items"]] == ["only-b", "same"]
    every = await api.get("/schedules?namespace=c&contains=only", "viewer", "*")
    assert [each["name"] for each in every["items"]] == ["only-c"]
    # What is elsewhere is told of in the same words as what is nowhere, and not offered as a likely name.
    elsewhere = await api.ask("GET", "/api/v1/schedules/only-b", "viewer", "a")
    nowhere = await api.ask("GET", "/api/v1/schedules/only-z", "viewer", "a")
    words = refused(elsewhere, 404, "not-found")
    assert words.replace("only-b", "only-z") == refused(nowhere, 404, "not-found")
    assert "only-b" not in words.replace("'only-b'", "")
    closed = [await api.ask("GET", f"/api/v1/schedules?namespace={name}", "viewer", "a") for name in ("b", "z")]
    said = [refused(answer, 403, "closed-namespace") for answer in closed]
    assert said[0].replace("'b'", "'z'") == said[1]


@pytest.mark.parametrize("wrong", ["a b", "", "x" * 300, "a/b", "é"])
async def test_what_is_no_namespace_is_refused(api: Api, wrong: str) -> None:
    answer = await api.ask("GET", "/api/v1/schedules", "viewer", "*", params={"namespace": wrong})
    assert "is not a valid name" in refused(answer, 422, "invalid")
    assert answer.json()["field"] == "namespace"
