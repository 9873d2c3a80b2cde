"""Tokens: stored as a hash, found by id, ended by revocation or expiry."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from conformance.steps import NAMESPACE, later
from tickbird.domain.access.tokens import NewToken, TokenRecord
from tickbird.domain.errors import ConflictError, NotFoundError
from tickbird.store.protocol.store import Store


async def make(store: Store, token_id: str = "aaaaaaaa", at: float = 0, **fields: Any) -> TokenRecord:
    """A token created by Ada (default: a viewer in the default namespace)."""
    given: dict[str, Any] = {"name": "ci", "role": "viewer", "namespaces": (NAMESPACE,), **fields}
    return await store.tokens.create(NAMESPACE, NewToken(token_id, "d1ge57", **given), "ada", now=later(at))


async def ids(store: Store, **options: Any) -> list[str]:
    """The ids that are listed an hour after T0."""
    return [each.id for each in await store.tokens.list(**{"now": later(3_600), **options})]


async def audited(store: Store, namespace: str) -> list[tuple[str, str, Any]]:
    """Audit entries of tokens, oldest first."""
    records = await store.ledger.list_audit(namespace)
    return [(each.action, each.actor, each.detail["token"]) for each in reversed(records)]


class Tokens:
    """Tokens of the API, and their lifetime."""

    async def test_token_is_read_back(self, store: Store, other: Store) -> None:
        end: datetime = later(3_600)
        made = await make(store, role="editor", namespaces=("a", 'b"'), name="Zoë’s laptop", expires_at=end)
        assert made == TokenRecord(
            id="aaaaaaaa",
            digest="d1ge57",
            name="Zoë’s laptop",
            role="editor",
            namespaces=("a", 'b"'),
            created_at=later(0),
            created_by="ada",
            expires_at=end,
        )
        assert await other.tokens.find("aaaaaaaa", now=later(1)) == made
        assert await store.tokens.find("bbbbbbbb") is None
        assert (await make(store, "cccccccc", namespaces=None)).namespaces is None
        assert (await store.tokens.find("cccccccc", now=later(10**9))) == await make_read(store, "cccccccc")

    async def test_a_token_expires_by_the_clock_of_the_store(self, store: Store) -> None:
        await make(store, expires_at=later(60))
        states = [await store.tokens.find("aaaaaaaa", now=later(second)) for second in (59, 60, 61)]
        assert [each and each.state for each in states] == ["live", "expired", "expired"]
        await make(store, "bbbbbbbb", expires_at=datetime.fromisoformat("2000-01-01T00:00:00+00:00"))
        found = await store.tokens.find("bbbbbbbb")
        assert found is not None
        assert found.state == "expired"

    async def test_a_revoked_token_stays_so(self, store: Store, other: Store) -> None:
        await make(store, expires_at=later(60))
        ended = await store.tokens.revoke(NAMESPACE, "aaaaaaaa", "bo", now=later(5))
        assert (ended.state, ended.revoked_at, ended.revoked_by) == ("revoked", later(5), "bo")
        again = await other.tokens.revoke(NAMESPACE, "aaaaaaaa", "cy", now=later(9))
        assert again == ended
        found = await other.tokens.find("aaaaaaaa", now=later(100))
        assert found == ended
        with pytest.raises(NotFoundError, match="no token 'bbbbbbbb'"):
            await store.tokens.revoke(NAMESPACE, "bbbbbbbb", "bo")

    async def test_an_id_is_given_once(self, store: Store) -> None:
        first = await make(store)
        with pytest.raises(ConflictError, match="another token has this id"):
            await make(store, at=5, role="admin")
        assert await store.tokens.find("aaaaaaaa", now=later(1)) == first
        assert len(await audited(store, NAMESPACE)) == 1

    async def test_tokens_are_listed_by_page_and_by_what_they_open(self, store: Store) -> None:
        await make(store, "aaaaaaaa", namespaces=("x",))
        await make(store, "bbbbbbbb", namespaces=("x", "y"))
        await make(store, "cccccccc", namespaces=None)
        await make(store, "dddddddd", namespaces=("x",), expires_at=later(60))
        await make(store, "eeeeeeee", namespaces=("z",))
        await store.tokens.revoke(NAMESPACE, "eeeeeeee", "bo")
        assert await ids(store, limit=2) == ["aaaaaaaa", "bbbbbbbb"]
        assert await ids(store, after="bbbbbbbb", limit=2) == ["cccccccc", "dddddddd"]
        assert await ids(store, after="eeeeeeee") == []
        assert await ids(store, live=True) == ["aaaaaaaa", "bbbbbbbb", "cccccccc"]
        assert await ids(store, within=["x"]) == ["aaaaaaaa", "dddddddd"]
        assert await ids(store, within=["x", "y", "z"], live=True) == ["aaaaaaaa", "bbbbbbbb"]
        assert await ids(store, within=[]) == []

    async def test_its_use_is_written_at_most_once_a_minute(self, store: Store) -> None:
        await make(store)
        await make(store, "bbbbbbbb")
        for second, used in ((10, 10), (69.9, 10), (70, 70), (20, 70)):
            await store.tokens.touch("aaaaaaaa", now=later(second))
            found = await store.tokens.find("aaaaaaaa", now=later(100))
            assert found is not None
            assert found.last_used_at == later(used)
        unused = await store.tokens.find("bbbbbbbb", now=later(100))
        assert unused is not None
        assert unused.last_used_at is None
        await store.tokens.touch("cccccccc")

    async def test_token_changes_are_audited_in_its_namespaces(self, store: Store) -> None:
        await make(store, "aaaaaaaa", namespaces=("x", "y"), role="operator", expires_at=later(60))
        await make(store, "bbbbbbbb", namespaces=None)
        for _ in range(2):
            await store.tokens.revoke(NAMESPACE, "aaaaaaaa", "bo", now=later(9))
        both = [("create_token", "ada", "aaaaaaaa"), ("revoke_token", "bo", "aaaaaaaa")]
        assert await audited(store, "x") == await audited(store, "y") == both
        assert await audited(store, NAMESPACE) == [("create_token", "ada", "bbbbbbbb")]
        [revoked, created] = await store.ledger.list_audit("x")
        assert (created.at, revoked.at) == (later(0), later(9))
        assert created.detail == {
            "token": "aaaaaaaa",
            "name": "ci",
            "role": "operator",
            "namespaces": ["x", "y"],
            "expires_at": "2026-01-01T00:01:00Z",
        }


async def make_read(store: Store, token_id: str) -> TokenRecord | None:
    """The token as it reads right after T0."""
    return await store.tokens.find(token_id, now=later(0))
