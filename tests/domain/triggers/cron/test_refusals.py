"""Expressions, zones and instants that are refused."""

from __future__ import annotations

import string
from datetime import date, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.domain.triggers.cron.strategies import thorough
from tickbird.domain.errors import TriggerError
from tickbird.domain.triggers.cron.cron import cron


@pytest.mark.parametrize(
    "expr, field, words",
    [
        ("", "expression", "empty"),
        (" \t ", "expression", "empty"),
        (None, "expression", "not NoneType"),
        (5, "expression", "not int"),
        (b"* * * * *", "expression", "not bytes"),
        (["*"], "expression", "not list"),
        ("* " * 600, "expression", "1000 characters"),
        ("9" * 100_000, "expression", "1000 characters"),
        ("* * * *", "expression", "4 fields"),
        ("* * * * * * *", "expression", "7 fields"),
        ("*", "expression", "1 field "),
        ("* * * * *\n", "expression", "ASCII"),
        ("*\n* * * *", "expression", "ASCII"),
        ("* * * *\x00*", "expression", "ASCII"),
        ("* * * * *\u00a0", "expression", "ASCII"),
        ("٣ * * * *", "expression", "ASCII"),
        ("² * * * *", "expression", "ASCII"),
        ("0 0 * ſep *", "expression", "ASCII"),
        ("@reboot", "expression", "not a time"),
        ("@fortnightly", "expression", "not a macro"),
        ("@daily 5", "expression", "not a macro"),
        ("@every", "expression", "needs hours"),
        ("@every 1d", "expression", "needs hours"),
        ("@every 1.5h", "expression", "needs hours"),
        ("@every 0s", "expression", "at least 1 s"),
        ("@every -5m", "expression", "needs hours"),
        ("@everything 5m", "expression", "needs hours"),
        ("60 * * * *", "minute", "0-59"),
        ("-1 * * * *", "minute", "missing"),
        ("5- * * * *", "minute", "missing"),
        ("1.5 * * * *", "minute", "not understood"),
        ("+5 * * * *", "minute", "not understood"),
        ("5,,6 * * * *", "minute", "missing"),
        (", * * * *", "minute", "missing"),
        ("*/ * * * *", "minute", "step is missing"),
        ("*/0 * * * *", "minute", "at least 1"),
        ("*/00 * * * *", "minute", "at least 1"),
        ("*/-1 * * * *", "minute", "whole number"),
        ("*/1000000 * * * *", "minute", "a step of 7 digits is too large"),
        ("0 5/99999999999999999999 * * *", "hour", "is too large"),
        ("*/1/2 * * * *", "minute", "whole number"),
        ("20-10 * * * *", "minute", "backwards"),
        ("1-2-3 * * * *", "minute", "not understood"),
        ("** * * * *", "minute", "not understood"),
        ("*5 * * * *", "minute", "not understood"),
        ("*-5 * * * *", "minute", "not understood"),
        ("5~9 * * * *", "minute", "not understood"),
        ("H * * * *", "minute", "not understood"),
        ("? * * * *", "minute", "not understood"),
        ("0 24 * * *", "hour", "0-23"),
        ("0 99999999999999999999 * * *", "hour", "0-23"),
        ("0 MON * * *", "hour", "not understood"),
        ("0 0 0 * *", "day of month", "1-31"),
        ("0 0 32 * *", "day of month", "1-31"),
        ("0 0 W * *", "day of month", "missing"),
        ("0 0 32W * *", "day of month", "1-31"),
        ("0 0 L- * *", "day of month", "not understood"),
        ("0 0 L3 * *", "day of month", "not understood"),
        ("0 0 L+3 * *", "day of month", "not understood"),
        ("0 0 L-W * *", "day of month", "not understood"),
        ("0 0 L-3-5 * *", "day of month", "not understood"),
        ("0 0 L-x * *", "day of month", "not understood"),
        ("0 0 LWW * *", "day of month", "not understood"),
        ("0 0 L-0 * *", "day of month", "1 to 30"),
        ("0 0 L-31 * *", "day of month", "1 to 30"),
        ("0 0 L-999999999999W * *", "day of month", "1 to 30"),
        ("0 0 L-29 2 *", "day of month", "never run"),
        ("0 0 L-30W 4,6 *", "day of month", "never run"),
        ("0 0 1-5W * *", "day of month", "not understood"),
        ("0 0 ?,1 * *", "day of month", "not understood"),
        ("0 0 * 0 *", "month", "1-12"),
        ("0 0 * 13 *", "month", "1-12"),
        ("0 0 * JANUARY *", "month", "not understood"),
        ("0 0 * L *", "month", "not understood"),
        ("0 0 * ? *", "month", "not understood"),
        ("0 0 * DEC-FEB *", "month", "backwards"),
        ("0 0 * * 8", "day of week", "0-7"),
        ("0 0 * * FRI-MON", "day of week", "backwards"),
        ("0 0 * * 5-0", "day of week", "backwards"),
        ("0 0 * * MONDAY", "day of week", "not understood"),
        ("0 0 * * L", "day of week", "needs a weekday"),
        ("0 0 * * #", "day of week", "1 to 5"),
        ("30 2 * * 1#6", "day of week", "1 to 5"),
        ("30 2 * * 1#0", "day of week", "1 to 5"),
        ("30 2 * * #1", "day of week", "missing"),
        ("30 2 * * #L", "day of week", "missing"),
        ("30 2 * * 8#L", "day of week", "0-7"),
        ("30 2 * * 5#L2", "day of week", "1 to 5 or L"),
        ("0 0 * * 1W", "day of week", "not understood"),
        ("60 * * * * *", "second", "0-59"),
        ("x * * * * *", "second", "not understood"),
        ("0 0 30 2 *", "day of month", "never run"),
        ("0 0 31 2 *", "day of month", "never run"),
        ("0 0 31 4,6,9,11 *", "day of month", "never run"),
        ("0 0 31 4 ?", "day of month", "never run"),
        ("0 0 31 2 */2", "day of month", "never run"),
        ("0 0 30W 2 *", "day of month", "never run"),
        ("0 0 */31 * 1#2", "day of month", "never run"),
    ],
)
def test_refused(expr: object, field: str, words: str) -> None:
    with pytest.raises(TriggerError) as caught:
        cron(expr)  # type: ignore[arg-type]
    assert caught.value.field == field
    assert words in caught.value.reason
    assert field in str(caught.value)
    assert caught.value.reason in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("tz", ["", "Nowhere/Land", "../etc/passwd", "a\x00b", None, 5, "x" * 10_000, "localtime", []])
def test_unknown_zone_refused(tz: object) -> None:
    with pytest.raises(TriggerError) as caught:
        cron("0 0 * * *", tz)  # type: ignore[arg-type]
    assert caught.value.field == "tz"


@thorough
@given(st.text(max_size=40) | st.text("0123456789*/-,LW#?@ \tAFJMNSUTVERDOHY", max_size=40))
@example("0 0 L-W * *")
@example("0 0 ,L * L#")
def test_any_text_is_a_trigger_or_refused(text: str) -> None:
    try:
        made = cron(text)
    except TriggerError:
        return
    assert made.next_tick(0) is not None
    assert made.describe()


@pytest.mark.parametrize("at", [datetime(2026, 1, 1), date(2026, 1, 1), None, 5, "2026-01-01"])
def test_only_aware_datetimes(at: datetime) -> None:
    for ask in (cron("* * * * *").next_after, cron("* * * * *").previous_before):
        with pytest.raises(TriggerError) as caught:
            ask(at)
        assert caught.value.field == "datetime"
    with pytest.raises(TriggerError, match="tzinfo=UTC"):
        cron("* * * * *").next_after(datetime(2026, 1, 1))


def test_long_garbage_is_quick_to_refuse() -> None:
    for text in (string.printable * 10, "," * 1_000, "1," * 499 + "x * * * *", "*/" * 500, "@" * 1_000):
        with pytest.raises(TriggerError):
            cron(text)
