"""A cron trigger is a value."""

from __future__ import annotations

import pickle

import pytest

from tickbird.domain.triggers.cron.cron import Cron, cron
from tickbird.domain.triggers.every import every


def test_is_a_value() -> None:
    one, two = cron("0  9 * * 1-5", "America/New_York"), cron("0 9 * * 1-5", tz="America/New_York")
    assert one == two
    assert hash(one) == hash(two)
    assert one != cron("0 9 * * 1-5")
    assert one != cron("1 9 * * 1-5", "America/New_York")
    assert one != "0 9 * * 1-5"
    assert len({one, two}) == 1
    assert repr(one) == "cron('0 9 * * 1-5', tz='America/New_York')"
    assert eval(repr(one)) == one
    assert eval(repr(cron("@daily"))) == cron("@daily")
    assert pickle.loads(pickle.dumps(one)) == one
    assert one.tz == "America/New_York"
    assert isinstance(one, Cron)
    with pytest.raises(AttributeError):
        one.expr = "* * * * *"


def test_every_macro_is_an_interval() -> None:
    assert cron("@every 1h30m") == every(hours=1, minutes=30)
    assert cron("@EVERY  90s", "Asia/Kolkata") == every(seconds=90, tz="Asia/Kolkata")
