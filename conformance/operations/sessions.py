"""Sessions: opened with a token, ended with it, by time, or by being closed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from conformance.operations.tokens import make
from conformance.steps import NAMESPACE, later
from tickbird.domain.access.sessions import MAX_SESSIONS, SESSION_KEPT, USUAL_SECONDS, NewSession, SessionRecord
from tickbird.domain.errors import ConflictError, NotFoundError
from tickbird.store.protocol.store import Store

ACTOR = "ci (token aaaaaaaa)"


def named(letter: str) -> str:
    """The id of a session."""
    return letter * 16


async def begin(
    store: Store, letter: str = "s", at: float = 0, token_id: str = "aaaaaaaa", **fields: Any
) -> SessionRecord:
    """A session of a token, opened at these seconds after T0."""
    new = NewSession(named(letter), "d1ge57", token_id, **{"user_agent": "Firefox", **fields})
    return await store.sessions.open(NAMESPACE, new, now=later(at))


async def state(store: Store, at: float, letter: str = "s") -> str | None:
    """The state of a session at an instant; an open stream must see the same state."""
    found = await store.sessions.find(named(letter), now=later(at))
    live = await store.tokens.filter_live([named(letter)], now=later(at))
    listed = await store.sessions.list(live=True, limit=1_000, now=later(at))
    is_live = found is not None and found.state == "live"
    assert (live == {named(letter)}) == (named(letter) in [each.id for each in listed]) == is_live
    return None if found is None else found.state


async def ids(store: Store, **options: Any) -> list[str]:
    """The first letters of the ids that are listed an hour after T0."""
    return [each.id[0] for each in await store.sessions.list(**{"now": later(3_600), **options})]


async def audited(store: Store, namespace: str = NAMESPACE) -> list[tuple[str, str, Any]]:
    """Audit entries of sessions, oldest first."""
    records = [each for each in await store.ledger.list_audit(namespace, limit=1_000) if "session" in each.action]
    told = [(each.action, each.actor, each.detail.get("session", each.detail.get("closed"))) for each in records]
    return told[::-1]


class Sessions:
    """Sessions of browsers, and their lifetime."""

    async def test_session_is_read_back(self, store: Store, other: Store) -> None:
        await make(store, role="editor", namespaces=("a", 'b"'), name="Zoë")
        opened = await begin(store, at=5, user_agent="Mozilla/5.0 “x”")
        assert opened == SessionRecord(
            id=named("s"),
            digest="d1ge57",
            token_id="aaaaaaaa",
            name="Zoë",
            role="editor",
            namespaces=("a", 'b"'),
            user_agent="Mozilla/5.0 “x”",
            opened_at=later(5),
            expires_at=later(5 + USUAL_SECONDS),
        )
        assert await other.sessions.find(named("s"), now=later(6)) == opened
        assert await store.sessions.find(named("x")) is None
        # Neither is ever found as the other.
        assert await store.tokens.find(named("s")) is None
        assert await store.sessions.find("aaaaaaaa") is None
        assert await store.tokens.filter_live(["aaaaaaaa", named("s"), named("x")], now=later(6)) == {
            "aaaaaaaa",
            named("s"),
        }
        assert await store.tokens.list(after="aaaaaaaa") == []

    async def test_a_session_ends_by_itself_and_never_after_its_token(self, store: Store) -> None:
        await make(store)
        await begin(store, seconds=60)
        assert [await state(store, at) for at in (59, 60, 10**6)] == ["live", "expired", "expired"]
        await make(store, "bbbbbbbb", expires_at=later(30))
        assert (await begin(store, "t", token_id="bbbbbbbb", seconds=60)).expires_at == later(30)
        assert [await state(store, at, "t") for at in (29, 30)] == ["live", "expired"]

    async def test_a_session_dies_with_its_token_at_once(self, store: Store, other: Store) -> None:
        await make(store)
        await make(store, "bbbbbbbb")
        await begin(store)
        await begin(store, "t", token_id="bbbbbbbb")
        await other.tokens.revoke(NAMESPACE, "aaaaaaaa", "bo", now=later(9))
        assert await state(store, 9) == "revoked"
        assert await state(store, 9, "t") == "live"
        # It has ended already: closing it changes nothing, and tells nothing.
        closed = await store.sessions.close(NAMESPACE, named("s"), "cy", now=later(10))
        assert (closed.state, closed.closed_by) == ("revoked", None)
        assert await store.sessions.close_all(NAMESPACE, "aaaaaaaa", "cy", now=later(10)) == 0
        assert [each[0] for each in await audited(store)] == ["open_session", "open_session"]

    async def test_unusable_token_opens_no_session(self, store: Store) -> None:
        await make(store, expires_at=later(60))
        with pytest.raises(ConflictError, match=r"aaaaaaaa is expired and cannot open a session\. Use another token"):
            await begin(store, at=60)
        await store.tokens.revoke(NAMESPACE, "aaaaaaaa", "bo", now=later(9))
        with pytest.raises(ConflictError, match="is revoked"):
            await begin(store, at=10)
        with pytest.raises(NotFoundError, match="no token 'zzzzzzzz'"):
            await begin(store, token_id="zzzzzzzz")
        await make(store, "bbbbbbbb")
        await begin(store, token_id="bbbbbbbb")
        with pytest.raises(ConflictError, match="another session has this id"):
            await begin(store, token_id="bbbbbbbb")
        assert len(await audited(store)) == 1

    async def test_a_closed_session_stays_so(self, store: Store, other: Store) -> None:
        await make(store)
        await begin(store)
        closed = await store.sessions.close(NAMESPACE, named("s"), ACTOR, now=later(5))
        assert (closed.state, closed.closed_at, closed.closed_by) == ("closed", later(5), ACTOR)
        assert await other.sessions.close(NAMESPACE, named("s"), "cy", now=later(9)) == closed
        assert await state(store, 100) == "closed"
        await store.tokens.revoke(NAMESPACE, "aaaaaaaa", "bo", now=later(200))
        assert await state(store, 300) == "closed"
        for wrong in (named("x"), "aaaaaaaa"):
            with pytest.raises(NotFoundError, match="there is no session"):
                await store.sessions.close(NAMESPACE, wrong, "bo")

    async def test_all_sessions_of_a_token_are_closed_together(self, store: Store) -> None:
        await make(store)
        await make(store, "bbbbbbbb")
        for letter in "stu":
            await begin(store, letter)
        await begin(store, "v", seconds=60)
        await begin(store, "w", token_id="bbbbbbbb")
        await store.sessions.close(NAMESPACE, named("s"), ACTOR, now=later(5))
        assert await store.sessions.close_all(NAMESPACE, "aaaaaaaa", "bo", now=later(60)) == 2
        assert await store.sessions.close_all(NAMESPACE, "aaaaaaaa", "bo", now=later(61)) == 0
        assert [await state(store, 62, each) for each in "stuvw"] == ["closed", "closed", "closed", "expired", "live"]
        assert (await audited(store))[-1] == ("close_sessions", "bo", 2)
        with pytest.raises(NotFoundError, match="no token"):
            await store.sessions.close_all(NAMESPACE, "zzzzzzzz", "bo")
        # The token itself stays.
        assert await store.tokens.filter_live(["aaaaaaaa"], now=later(62)) == {"aaaaaaaa"}

    async def test_number_of_sessions_is_limited_and_the_oldest_is_closed(self, store: Store, other: Store) -> None:
        await make(store)
        await make(store, "bbbbbbbb")
        await begin(store, "z", token_id="bbbbbbbb")
        letters = "abcdefghijklmnopqrstuvwxyz234567"
        made = [f"{letters[n // 32]}{letters[n % 32]}" * 8 for n in range(MAX_SESSIONS + 6)]
        # The first of all has the last id, and several have the same age.
        made[0] = named("7")
        for number, session_id in enumerate(made[:MAX_SESSIONS]):
            new = NewSession(session_id, "d1ge57", "aaaaaaaa")
            await store.sessions.open(NAMESPACE, new, now=later(number // 5))
        assert await state(store, 50, "7") == "live"
        last = [NewSession(session_id, "d1ge57", "aaaaaaaa") for session_id in made[MAX_SESSIONS:]]
        await asyncio.gather(
            *(
                each.sessions.open(NAMESPACE, new, now=later(60))
                for each, new in zip((store, other) * 3, last, strict=True)
            )
        )
        live = {each.id for each in await store.sessions.list(live=True, token_id="aaaaaaaa", limit=999, now=later(61))}
        assert len(live) == MAX_SESSIONS
        assert {each.id for each in last} <= live
        # Five of the first second, and one of the next.
        assert not {*made[:5]} & live
        assert len({*made[5:10]} & live) == 4
        assert await state(store, 61, "z") == "live"
        closed = [told for told in await audited(store) if told[0] == "close_session"]
        assert {each[2] for each in closed} == {*made} - live
        assert {each[1] for each in closed} == {ACTOR}
        assert len(closed) == 6

    async def test_sessions_are_listed_by_page_token_and_namespace(self, store: Store) -> None:
        await make(store, "aaaaaaaa", namespaces=("x",))
        await make(store, "bbbbbbbb", namespaces=("x", "y"))
        await make(store, "cccccccc", namespaces=None)
        for letter, token_id in (("d", "aaaaaaaa"), ("b", "bbbbbbbb"), ("c", "cccccccc"), ("a", "aaaaaaaa")):
            await begin(store, letter, token_id=token_id)
        await begin(store, "e", token_id="aaaaaaaa", seconds=60)
        assert await ids(store, limit=2) == ["a", "b"]
        assert await ids(store, after=named("b"), limit=2) == ["c", "d"]
        assert await ids(store, token_id="aaaaaaaa") == ["a", "d", "e"]
        assert await ids(store, token_id="aaaaaaaa", live=True) == ["a", "d"]
        assert await ids(store, within=["x"]) == ["a", "d", "e"]
        assert await ids(store, within=["x", "y"], live=True) == ["a", "b", "d"]
        assert await ids(store, within=["y"]) == await ids(store, within=[]) == []
        assert await ids(store, token_id="cccccccc", within=["x"]) == []

    async def test_token_has_the_number_of_open_sessions(self, store: Store) -> None:
        await make(store)
        for letter in "st":
            await begin(store, letter)
        await begin(store, "u", seconds=60)

        async def told(at: float) -> list[int]:
            found = await store.tokens.find("aaaaaaaa", now=later(at))
            assert found is not None
            return [each.sessions for each in (found, *await store.tokens.list(now=later(at)))]

        assert (await told(59), await told(60)) == ([3, 3], [2, 2])
        await store.sessions.close(NAMESPACE, named("s"), ACTOR, now=later(61))
        assert await told(62) == [1, 1]
        assert (await store.tokens.revoke(NAMESPACE, "aaaaaaaa", "bo", now=later(63))).sessions == 0
        assert await told(64) == [0, 0]

    async def test_last_use_is_written_at_most_once_a_minute(self, store: Store) -> None:
        await make(store)
        await begin(store)
        for second, used in ((10, 10), (69.9, 10), (70, 70), (20, 70)):
            await store.sessions.touch(named("s"), now=later(second))
            found = await store.sessions.find(named("s"), now=later(100))
            assert found is not None
            assert found.last_used_at == later(used)
        await store.sessions.touch(named("x"))

    async def test_sessions_are_audited_where_their_token_opens(self, store: Store) -> None:
        await make(store, namespaces=("x", "y"))
        await begin(store, at=1, seconds=60)
        for _ in range(2):
            await store.sessions.close(NAMESPACE, named("s"), "bo", now=later(9))
        both = [("open_session", ACTOR, named("s")), ("close_session", "bo", named("s"))]
        assert await audited(store, "x") == await audited(store, "y") == both
        await make(store, "bbbbbbbb", namespaces=None)
        await begin(store, "t", token_id="bbbbbbbb")
        assert await audited(store) == [("open_session", "ci (token bbbbbbbb)", named("t"))]
        [closed, opened, _] = await store.ledger.list_audit("x")
        assert (opened.at, closed.at) == (later(1), later(9))
        assert opened.detail == {
            "session": named("s"),
            "token": "aaaaaaaa",
            "name": "ci",
            "user_agent": "Firefox",
            "expires_at": "2026-01-01T00:01:01Z",
        }

    async def test_sessions_are_pruned_some_days_after_their_end(self, store: Store) -> None:
        await make(store)
        await begin(store, "a", seconds=60)
        await begin(store, "b", seconds=10**6)
        await store.sessions.close(NAMESPACE, named("b"), ACTOR, now=later(30))
        await begin(store, "c", seconds=90)
        await begin(store, "d", seconds=10**6)

        async def prune(at: float) -> list[str]:
            await store.runs.prune(older_than=10**9, keep=1_000, limit=1, now=later(at))
            return await ids(store)

        assert await prune(SESSION_KEPT + 29) == ["a", "b", "c", "d"]
        assert await prune(SESSION_KEPT + 80) == ["a", "c", "d"]
        assert await prune(SESSION_KEPT + 80) == await prune(SESSION_KEPT + 80) == ["c", "d"]
