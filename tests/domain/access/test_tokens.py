"""Tokens as values: creation, parsing, and the permissions of roles."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.steps import T0
from tickbird.domain.access.tokens import (
    NOISE,
    ROLES,
    NewToken,
    Role,
    TokenRecord,
    allows,
    check_namespaces,
    check_role,
    covers,
    digest,
    is_token_id,
    make_token,
    parse_token,
    state_at,
)
from tickbird.domain.errors import InvalidError

TEXT = make_token(bytes(range(NOISE)))[2]


@given(st.binary(min_size=NOISE, max_size=NOISE))
def test_created_token_is_parsed(noise: bytes) -> None:
    token_id, secret, text = make_token(noise)
    assert parse_token(text) == (token_id, secret)
    assert is_token_id(token_id)
    assert (len(token_id), len(secret)) == (8, 43)
    # An id never looks like an option of the command line.
    assert token_id.isalnum()


def test_a_token_needs_all_its_random_bytes() -> None:
    with pytest.raises(ValueError, match="37 random bytes, not 36"):
        make_token(bytes(NOISE - 1))


@pytest.mark.parametrize(
    "text",
    ["", "tbk_", TEXT[:-1], TEXT + "a", TEXT + "\n", " " + TEXT, TEXT.upper(), TEXT.replace("tbk", "tbx"), "é" * 56],
)
def test_invalid_token_is_not_parsed(text: str) -> None:
    assert parse_token(text) is None


def a_token(secret: str) -> TokenRecord:
    return TokenRecord(
        id="aaaaaaaa",
        digest=digest(secret),
        name="ci",
        role="viewer",
        namespaces=("a",),
        created_at=T0,
        created_by="ada",
    )


def test_only_its_own_secret_matches_and_neither_shows_itself() -> None:
    _, secret, _ = make_token(bytes(NOISE))
    _, other, _ = make_token(bytes([*bytes(NOISE - 1), 1]))
    token = a_token(secret)
    assert token.matches(secret)
    assert not token.matches(other)
    assert not token.matches("")
    for value in (token, NewToken("aaaaaaaa", digest(secret), "ci", "viewer", None)):
        assert digest(secret) not in repr(value)
    assert (token.opens("a"), token.opens("b")) == (True, False)


def test_each_role_includes_lower_roles() -> None:
    table = [[allows(role, needed) for needed in ROLES] for role in ROLES]
    assert table == [[needed <= role for needed in range(4)] for role in range(4)]


def test_token_expires() -> None:
    before, after = T0 - timedelta(seconds=1), T0 + timedelta(seconds=1)
    assert state_at(None, None, T0) == "live"
    assert state_at(None, after, T0) == "live"
    assert state_at(None, T0, T0) == "expired"
    assert state_at(before, after, T0) == "revoked"


def test_new_token_cannot_exceed_its_creator() -> None:
    assert covers(None, None)
    assert covers(None, ("a",))
    assert covers(("a", "b"), ("b",))
    assert not covers(("a",), None)
    assert not covers(("a",), ("a", "b"))


@pytest.mark.parametrize("wrong", ["", "root", "Admin", None, 3])
def test_a_role_is_checked(wrong: Any) -> None:
    with pytest.raises(InvalidError, match=r"role: .* is not one of viewer, operator, editor, admin"):
        check_role(wrong)


@pytest.mark.parametrize("wrong", [[], "shop", [""], ["a b"], ["a"] * 101, [3]])
def test_namespaces_are_checked(wrong: Any) -> None:
    with pytest.raises(InvalidError, match="namespace"):
        check_namespaces(wrong)


def test_namespaces_are_sorted_without_duplicates() -> None:
    assert check_namespaces(["b", "a", "b"]) == ("a", "b")
    assert check_namespaces(None) is None
    roles: tuple[Role, ...] = ROLES
    assert [check_role(role) for role in roles] == list(roles)
