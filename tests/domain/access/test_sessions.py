"""Sessions as values: creation, parsing, and validity."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.steps import T0
from tickbird.domain.access.sessions import (
    SESSION_NOISE,
    NewSession,
    check_length,
    clean_user_agent,
    is_session_id,
    make_session,
    parse_session,
    session_state,
)
from tickbird.domain.access.tokens import NOISE, is_token_id, make_token, parse_token
from tickbird.domain.errors import InvalidError

TEXT = make_session(bytes(range(SESSION_NOISE)))[2]


@given(st.binary(min_size=SESSION_NOISE, max_size=SESSION_NOISE))
def test_created_session_is_parsed_and_is_not_a_token(noise: bytes) -> None:
    session_id, secret, text = make_session(noise)
    assert parse_session(text) == (session_id, secret)
    assert (len(session_id), len(secret)) == (16, 43)
    assert (is_session_id(session_id), is_token_id(session_id)) == (True, False)
    assert parse_token(text) is parse_token(text.replace("tbs_", "tbk_")) is None
    token_id, _, token = make_token(noise[:NOISE])
    assert not is_session_id(token_id)
    assert parse_session(token) is parse_session(token.replace("tbk_", "tbs_")) is None


@pytest.mark.parametrize("text", ["", "tbs_", TEXT[:-1], TEXT + "a", TEXT + "\n", " " + TEXT, TEXT.upper(), "é" * 64])
def test_invalid_session_is_not_parsed(text: str) -> None:
    assert parse_session(text) is None


def test_repr_hides_the_digest() -> None:
    assert "d1ge57" not in repr(NewSession("a" * 16, "d1ge57", "aaaaaaaa"))
    with pytest.raises(ValueError, match="42 random bytes, not 3"):
        make_session(b"abc")


def test_a_session_lives_while_its_token_does() -> None:
    before, after = T0 - timedelta(seconds=1), T0 + timedelta(seconds=1)
    assert session_state(None, after, T0, "live") == "live"
    assert session_state(None, T0, T0, "live") == "expired"
    assert session_state(None, after, T0, "revoked") == "revoked"
    assert session_state(None, after, T0, "expired") == "expired"
    assert session_state(before, after, T0, "revoked") == "closed"


@pytest.mark.parametrize("wrong", [0, 59, "30d1s", -5, "soon", None, True, 10**12])
def test_session_duration_is_bounded(wrong: Any) -> None:
    with pytest.raises(InvalidError, match="within: "):
        check_length(wrong)
    assert (check_length("1m"), check_length("30d"), check_length(timedelta(hours=1))) == (60, 2_592_000, 3_600)


def test_user_agent_is_cleaned() -> None:
    assert clean_user_agent(" Mozilla/5.0\r\nX: é\0\udc80\x1b[31m ") == "Mozilla/5.0  X: é   [31m"
    assert clean_user_agent("x" * 10_000) == "x" * 200
