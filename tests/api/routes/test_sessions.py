"""Sessions: at the door of a browser, and as admins see and close them."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import pytest

from tests.api.auth.test_auth import Clock
from tests.api.conftest import Api, keys, refused
from tickbird.api.auth.auth import TTL_SECONDS, Authority, Caller
from tickbird.api.auth.local import LocalAuthority
from tickbird.api.middleware.guard import RequestLimits
from tickbird.api.problems import Problem
from tickbird.api.streams.sse import SseConnections
from tickbird.client import StoreClient
from tickbird.client.sessions import open_session
from tickbird.domain.access.sessions import SessionRecord


class Counting(StoreClient):
    """A client that counts look-ups."""

    looked = noted = 0

    @property
    def store(self) -> Any:
        return SimpleNamespace(tokens=self._store.tokens, sessions=CountingSessions(self))


class CountingSessions:
    """Counts in its client."""

    def __init__(self, client: Counting) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client._store.sessions, name)

    async def find(self, session_id: str) -> SessionRecord | None:
        self._client.looked += 1
        return await self._client._store.sessions.find(session_id)

    async def touch(self, session_id: str) -> None:
        self._client.noted += 1
        await self._client._store.sessions.touch(session_id)


async def opened(api: Api, *namespaces: str, name: str = "ana", **options: Any) -> tuple[SessionRecord, str, str]:
    """A session, its text, and that of its token."""
    token, text = await api.client().tokens.create(name, "operator", actor="ada", namespaces=namespaces or None)
    return *await open_session(api.client().store, token.id, **options), text


async def turned_away(authority: Authority, text: str | None) -> str:
    """What is said to whoever has no session."""
    with pytest.raises(Problem) as refusal:
        await authority.session(text)
    answer = refusal.value.response()
    assert (answer.status_code, b'"logged-out"' in answer.body) == (401, True)
    return str(bytes(answer.body))


async def test_who_comes_at_the_same_time_shares_a_look_up_and_who_listens_needs_none(api: Api) -> None:
    clock, client = Clock(), Counting(api.store)
    authority = Authority(client, clock)
    session, text, _ = await opened(api)
    for looked in (1, 2):
        await asyncio.gather(*(authority.session(text) for _ in range(50)))
        assert client.looked == looked
        clock.now += TTL_SECONDS + 0.01
    await authority.session(text)
    # Asked about together with all others who listen, every second.
    for _ in range(3):
        assert await authority.live([session.id, "other"]) == {session.id}
        clock.now += TTL_SECONDS + 0.3
        await authority.session(text)
    assert client.looked == 3
    await client.sessions.close(session.id, actor="ana")
    assert await authority.live([session.id]) == frozenset()
    await turned_away(authority, text)
    await authority.settle()


async def test_a_session_opens_until_it_is_closed_and_a_second_more(api: Api) -> None:
    clock, client = Clock(), Counting(api.store)
    authority = Authority(client, clock)
    session, text, _ = await opened(api)
    assert not authority.remembers_session(text)
    caller, *_ = [await authority.session(text) for _ in range(5)]
    assert authority.remembers_session(text)
    assert caller == Caller(session.token_id, "ana", "operator", ("default",), session.id)
    # It is the person who does something, whatever they hold.
    assert caller.actor == f"ana (token {session.token_id})"
    assert (client.looked, caller.held) == (1, session.id)
    await client.sessions.close(session.id, actor="ana")
    clock.now += TTL_SECONDS - 0.01
    await authority.session(text)
    clock.now += 0.02
    await turned_away(authority, text)
    assert client.looked == 2
    for seconds in (30, 29, 2):
        clock.now += seconds
        await turned_away(authority, text)
    await authority.settle()
    # What is refused is not used.
    assert client.noted == 1


async def test_what_is_no_live_session_is_refused_in_the_same_words(api: Api) -> None:
    authority = Authority(api.client(), Clock())
    _, live, token = await opened(api)
    closed, closed_text, _ = await opened(api)
    await api.client().sessions.close(closed.id, actor="ana")
    orphan, orphan_text, _ = await opened(api)
    await api.client().tokens.revoke(orphan.token_id, actor="ada")
    forged = f"{live[:-43]}{'a' * 43}"
    wrong = (None, "", "x", token, token.replace("tbk_", "tbs_"), closed_text, orphan_text, forged, f"Bearer {live}")
    assert len({await turned_away(authority, each) for each in wrong}) == 1
    await authority.session(live)
    await authority.settle()


async def test_neither_is_taken_for_the_other(api: Api) -> None:
    session, text, token = await opened(api)
    for each in (text, text.replace("tbs_", "tbk_"), f"tbk_{session.token_id}_{text[-43:]}"):
        refused(await api.ask("GET", "/api/v1/schedules", token=each), 401, "unauthorized")
    for name in ("session", "tickbird", "token"):
        answer = await api.plain("GET", "/api/v1/schedules", headers={"Cookie": f"{name}={text}"})
        refused(answer, 401, "unauthorized")
    await turned_away(api.app.state.authority, token)
    assert (await api.ask("GET", "/api/v1/schedules", token=token)).status_code == 200


async def test_this_server_refuses_at_once_what_it_ended_itself(api: Api) -> None:
    authority = api.app.state.authority
    session, text, _ = await opened(api)
    await authority.session(text)
    answer = await api.ask("DELETE", f"/api/v1/sessions/{session.id}")
    assert (answer.status_code, answer.json()["state"]) == (200, "closed")
    assert answer.json()["closed_by"].startswith("admin (token ")
    await turned_away(authority, text)
    again = await api.ask("DELETE", f"/api/v1/sessions/{session.id}")
    assert again.json() == answer.json()
    left, text, _ = await opened(api)
    await authority.close(await authority.session(text))
    await turned_away(authority, text)
    assert (await api.get(f"/sessions/{left.id}"))["closed_by"] == f"ana (token {left.token_id})"
    for end, said in (("/sessions", {"closed": 1}), ("", None)):
        other, text, _ = await opened(api)
        await authority.session(text)
        answer = await api.ask("DELETE", f"/api/v1/tokens/{other.token_id}{end}")
        assert answer.status_code == 200
        assert said in (None, answer.json())
        await turned_away(authority, text)


async def test_sessions_are_seen_by_admins_of_their_namespaces(api: Api) -> None:
    mine, text, _ = await opened(api, user_agent="<b>Firefox</b>")
    second, _ = await open_session(api.client().store, mine.token_id)
    wide, *_ = await opened(api, "default", "shop")
    found = await api.get("/sessions")
    ids = sorted([mine.id, second.id])
    assert [each["id"] for each in found["items"]] == ids
    assert set(found["items"][0]) == keys(SessionRecord)
    assert text[-43:] not in str(found)
    assert mine.digest not in str(found)
    path = f"/tokens/{mine.token_id}/sessions"
    first = await api.get(path, params={"limit": 1})
    rest = await api.get(path, params={"after": first["next"]})
    assert first["items"] + rest["items"] == found["items"]
    assert (await api.get(f"/sessions/{mine.id}"))["user_agent"] == "<b>Firefox</b>"
    assert (await api.get(f"/tokens/{mine.token_id}"))["sessions"] == 2
    assert len((await api.get("/sessions", "admin", "*"))["items"]) == 3
    for method, closed in (("GET", f"sessions/{wide.id}"), ("DELETE", f"sessions/{wide.id}")):
        refused(await api.ask(method, f"/api/v1/{closed}"), 404, "not-found")
        refused(await api.ask(method, f"/api/v1/tokens/{wide.token_id}/sessions"), 404, "not-found")
    assert (await api.get(f"/sessions/{wide.id}", "admin", "*"))["state"] == "live"
    await api.ask("DELETE", f"/api/v1/sessions/{mine.id}")
    assert [each["id"] for each in (await api.get(path, params={"live": True}))["items"]] == [second.id]


async def test_what_somebody_listens_to_ends_with_the_session(memory: Api) -> None:
    streams = SseConnections(memory.app.state.authority, RequestLimits(tokens_every=0.01))
    held = [(await opened(memory))[0] for _ in range(2)]
    endings = [asyncio.get_running_loop().create_future() for _ in held]
    with ExitStack() as stack:
        for session, ending in zip(held, endings, strict=True):
            caller = Caller(session.token_id, "ana", "operator", None, session.id)
            stack.enter_context(streams._listening(ending, caller))
        await memory.client().sessions.close(held[0].id, actor="ana")
        await endings[0]
        assert not endings[1].done()
        await memory.client().tokens.revoke(held[1].token_id, actor="ada")
        await endings[1]


async def test_at_this_machine_nobody_needs_one(memory: Api) -> None:
    person = LocalAuthority(memory.client(), "shop")
    assert person.remembers_session(None)
    assert await person.session(None) == await person.caller(None)
    await person.close(await person.session(None))
