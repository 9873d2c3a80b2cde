"""Fields of cron expressions, and how many of them are tried."""

from __future__ import annotations

import os

from hypothesis import settings
from hypothesis import strategies as st

thorough = settings(deadline=None, max_examples=100 * int(os.environ.get("TICKBIRD_FUZZ", "1")))


FIELD = st.sampled_from(["*", "*/3", "1", "2-5", "1,4", "3/2", "*/40"])
DAYS = (
    FIELD
    | st.sampled_from(["L", "LW", "15W", "31W", "1W", "29", "30", "31", "L,1", "?"])
    | st.builds("L-{}{}".format, st.integers(1, 30), st.sampled_from(["", "W", ",LW", "W,L-2"]))
)
WEEKDAYS = FIELD | st.sampled_from(
    ["0", "7", "5#3", "1#5", "5L", "0L", "MON-FRI", "6/3", "?", "1#1,3L", "5#L", "7#L,1"]
)
