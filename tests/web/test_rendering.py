"""Filters of the templates."""

from __future__ import annotations

from tickbird.web.rendering import code_spans


def test_backticks_become_code() -> None:
    assert code_spans("`tickbird ls` lists <them>.") == "<bdi><code>tickbird ls</code> lists &lt;them&gt;.</bdi>"


def test_an_unpaired_backtick_is_shown_as_text() -> None:
    assert code_spans("a ` b") == "<bdi>a ` b</bdi>"


def test_code_is_escaped() -> None:
    assert code_spans("`<b>`") == "<bdi><code>&lt;b&gt;</code></bdi>"
