"""Cron expressions in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.cron.description import _field
from tickbird.domain.triggers.cron.parser import parse


@pytest.mark.parametrize(
    "expr, tz, words",
    [
        ("0 9 * * 1-5", "UTC", "At 09:00, Monday through Friday"),
        ("0 9 * * 1-5", "Europe/Berlin", "At 09:00, Monday through Friday (Europe/Berlin)"),
        ("*/5 * * * *", "UTC", "Every 5 minutes"),
        ("0 0 13 * 5", "UTC", "At 00:00, on day 13 of the month, or on Friday"),
        ("@daily", "UTC", "At 00:00"),
        ("0 0 * * 7", "UTC", "At 00:00, only on Sunday"),
        ("0 9,17 * * *", "UTC", "At 09:00 and 17:00"),
        ("*/5 9-17 * * MON-FRI", "UTC", "Every 5 minutes, between 09:00 and 17:59, Monday through Friday"),
        ("5/20 * * * *", "UTC", "Every 20 minutes, starting at 5 minutes past the hour"),
        ("*/30 * * * * *", "UTC", "Every 30 seconds"),
        ("0 */6 * * *", "UTC", "Every 6 hours"),
        ("0 0 1 */3 *", "UTC", "At 00:00, on day 1 of the month, every 3 months"),
        ("0 0 * * FRI-SUN", "UTC", "At 00:00, Friday through Sunday"),
        ("0 0 1 1 *", "UTC", "At 00:00, on day 1 of the month, only in January"),
        ("0 0 L * *", "UTC", "At 00:00, on the last day of the month"),
        ("0 0 * * 5#3", "UTC", "At 00:00, on the third Friday of the month"),
        ("0 0 * * FRI#L", "UTC", "At 00:00, on the last Friday of the month"),
        ("0 0 * * 5#1,5#l", "UTC", "At 00:00, on the first Friday of the month and on the last Friday of the month"),
        ("0 0 L-3 * *", "UTC", "At 00:00, 3 days before the last day of the month"),
        ("0 0 L-1 * *", "UTC", "At 00:00, 1 day before the last day of the month"),
        ("0 0 LW * *", "UTC", "At 00:00, on the last weekday of the month"),
        ("0 0 l-3w * *", "UTC", "At 00:00, on the weekday nearest 3 days before the last day of the month"),
        (
            "0 0 L-5,L * 1",
            "UTC",
            "At 00:00, on the last day of the month or 5 days before the last day of the month, or on Monday",
        ),
        # Steps that do not divide what they step through.
        ("*/90 * * * *", "UTC", "Every hour"),
        ("*/45 * * * *", "UTC", "At 0 and 45 minutes past the hour"),
        ("59/100 * * * *", "UTC", "At 59 minutes past the hour"),
        ("10/25 * * * *", "UTC", "At 10 and 35 minutes past the hour"),
        ("*/45 * * * * *", "UTC", "At 0 and 45 seconds past the minute"),
        ("0 */7 * * *", "UTC", "At 00:00, 07:00, 14:00 and 21:00"),
        ("0 9-17/4 * * *", "UTC", "Every 4 hours, between 09:00 and 17:59"),
        ("0 9-17/5 * * *", "UTC", "At 09:00 and 14:00"),
        ("0 0 * * 5/2", "UTC", "At 00:00, only on Friday"),
        ("0 0 * * */2", "UTC", "At 00:00, only on Tuesday, Thursday, Saturday, and Sunday"),
        ("0 0 */15 * *", "UTC", "At 00:00, on day 1, 16, and 31 of the month"),
        ("0 0 1 */5 *", "UTC", "At 00:00, on day 1 of the month, only in January, June, and November"),
        # Unusual texts.
        ("*,5 * * * *", "UTC", "Every minute"),
        ("0-59 * * * *", "UTC", "Every minute"),
        ("0000005 * * * *", "UTC", "At 5 minutes past the hour"),
        ("5-5,5 * * * *", "UTC", "At 5 minutes past the hour"),
        ("10-20/5,58 * * * *", "UTC", "At 10, 15, 20, and 58 minutes past the hour"),
        ("0 9-11,15 * * *", "UTC", "At 09:00, 10:00, 11:00 and 15:00"),
        ("0 0 * * 0-7", "UTC", "At 00:00"),
        ("0 0 * * SUN-SUN", "UTC", "At 00:00, only on Sunday"),
        ("0 0 * 1-12 *", "UTC", "At 00:00"),
        # Two day fields: either, or both where one starts with a star.
        ("0 0 13 * 1-5", "UTC", "At 00:00, on day 13 of the month, or on Monday through Friday"),
        ("0 0 13 * 5L", "UTC", "At 00:00, on day 13 of the month, or on the last Friday of the month"),
        ("0 0 13 * 0-7", "UTC", "At 00:00"),
        ("0 0 1-31 * 1", "UTC", "At 00:00"),
        ("0 0 */15 * 1", "UTC", "At 00:00, on day 1, 16, and 31 of the month, but only on Monday"),
        ("0 0 ? * 1", "UTC", "At 00:00, only on Monday"),
        ("0 0 13 * ?", "UTC", "At 00:00, on day 13 of the month"),
        ("0 0 L,1 * *", "UTC", "At 00:00, on day 1 of the month and on the last day of the month"),
        ("0 0 15W,20 * *", "UTC", "At 00:00, on day 20 of the month and on the weekday nearest day 15 of the month"),
        (
            "0 0 * * 1#1,3L",
            "UTC",
            "At 00:00, on the first Monday of the month and on the last Wednesday of the month",
        ),
    ],
)
def test_describe(expr: str, tz: str, words: str) -> None:
    assert cron(expr, tz).describe() == words


@given(
    st.sets(st.integers(0, 23), min_size=1),
    st.sampled_from(["", "/", "-/", ",/"]),
    st.sampled_from([60, 24]),
    st.booleans(),
)
def test_description_matches_the_same_times(numbers: set[int], text: str, size: int, mixed: bool) -> None:
    mask = sum(1 << n for n in numbers)
    found = _field(mask, 0, size, text, mixed=mixed)
    fields = parse(f"{found} * * * *" if size == 60 else f"0 {found} * * *")
    assert (fields.minutes if size == 60 else fields.hours) == mask
