"""A Celery beat settings file moves over."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.importers.conftest import Origins, check, made_of
from tickbird.domain.errors import InvalidError
from tickbird.importers.celery_beat import execute_settings, read_settings

SETTINGS = """
from datetime import timedelta

from celery.schedules import crontab, schedule

timezone = "{zone}"
HOURLY = crontab(minute=0)
MINUTE = 60

beat_schedule = {{
    "gap": {{"task": "shop.tasks.gap", "schedule": crontab(minute=30, hour=2)}},
    "repeated": {{"task": "shop.tasks.repeated", "schedule": crontab(minute="30", hour="1")}},
    "quarters": {{"task": "shop.tasks.quarters", "schedule": crontab("*/15", day_of_week="sun"), "args": (16, 16)}},
    "hourly": {{"task": "shop.tasks.hourly", "schedule": HOURLY, "kwargs": {{"full": True}}}},
    "steps": {{"task": "shop.tasks.steps", "schedule": crontab(minute="5", hour="*/2")}},
    "office": {{"task": "shop.tasks.office", "schedule": crontab(minute=0, hour="8-17", day_of_week="mon-fri")}},
    "both-days": {{"task": "shop.tasks.both", "schedule": crontab(0, 4, day_of_week="mon,thu", day_of_month="1-15")}},
    "month-end": {{"task": "shop.tasks.end", "schedule": crontab(0, 3, day_of_month=[28, 31], month_of_year="*/3")}},
    "wrapped": {{"task": "shop.tasks.wrapped", "schedule": crontab(minute=15, hour="22-2")}},
    "odd-days": {{"task": "shop.tasks.odd", "schedule": crontab(0, 1, "*", "*/2", "*")}},
    "sunday": {{"task": "shop.sunday", "schedule": crontab(minute="0,20,40", hour=range(0, 6, 2), day_of_week=0)}},
    "often": {{"task": "shop.tasks.often", "schedule": 30.0, "options": {{"queue": "quick", "expires": 20}}}},
    "slowly": {{"task": "shop.tasks.slowly", "schedule": timedelta(hours=6) + timedelta(minutes=MINUTE / 2)}},
    "third": {{"task": "shop.tasks.third", "schedule": schedule(run_every=3 * MINUTE)}},
}}
"""
ZONES = ("America/New_York", "Europe/Berlin", "Australia/Lord_Howe")


@pytest.mark.parametrize("zone", ZONES)
def test_a_settings_file_ticks_on_the_same_instants(origins: Origins, zone: str) -> None:
    text = SETTINGS.format(zone=zone)
    made = made_of(read_settings(text, "settings.py"))
    assert not made.not_imported
    assert len(made.document.schedules) == 14
    check(made, origins.ask("celery", text=text))


def test_dst_differences_are_listed_with_times() -> None:
    made = made_of(read_settings(SETTINGS.format(zone="America/New_York"), "settings.py"))
    words = [each.description("Celery") for each in made.differences["gap"]]
    assert words == [
        "2027-03-14: Celery at 03:30 EDT, Tickbird at 03:00 EDT",
        "2028-03-12: Celery at 03:30 EDT, Tickbird at 03:00 EDT",
    ]
    # Beat goes by the clock on the wall, and leaves out an hour of work when that goes back.
    assert made.differences["quarters"][0].description("Celery") == (
        "2027-11-07: Celery does not, Tickbird at 01:00 EST, 01:15 EST, 01:30 EST and 1 times more"
    )
    assert "repeated" not in made.differences
    assert not made_of(read_settings(SETTINGS.format(zone="UTC"), "settings.py")).differences


def test_arguments_and_options_come_along() -> None:
    made = made_of(read_settings(SETTINGS.format(zone="UTC"), "settings.py"))
    schedules = made.document.schedules
    assert schedules["hourly"].payload == {"full": True}
    assert schedules["quarters"].payload == {"args": [16, 16]}
    assert (schedules["often"].queue, schedules["often"].start_within) == ("quick", 20)
    assert schedules["slowly"].trigger.to_json()["every"] == {"seconds": 23_400}
    assert {each.overlap for each in schedules.values()} == {"allow"}
    notes = {entry.name: " ".join(entry.notes) for entry in made.imported.entries}
    assert "args have no names" in notes["quarters"]
    assert "counts an interval from its last run" in notes["third"]


LEFT = """
app.conf.update(timezone="Europe/Rome", beat_schedule={"dusk": {"task": "t", "schedule": solar("sunset", 1.0, 2.0)}})
app.conf.beat_schedule["later"] = {"task": "t", "schedule": crontab(hour=settings.HOUR)}
app.conf.beat_schedule["fine"] = {"task": "t", "schedule": crontab(hour=3, minute=0)}
app.conf.beat_schedule["never"] = {"task": "t", "schedule": crontab(hour=0, minute=0, day_of_month=30, month_of_year=2)}
app.conf.beat_schedule["half"] = {"task": "t", "schedule": 0.5}
app.conf.beat_schedule["wrong"] = {"task": "t", "schedule": crontab(hour=25)}
app.conf.beat_schedule[NAME] = {"task": "t", "schedule": 5}
app.conf.beat_schedule["no-task"] = {"schedule": 5}


@app.on_after_configure.connect
def setup(sender, **kwargs):
    sender.add_periodic_task(10.0, test.s("hello"), name="add every 10")
"""


def test_not_imported_entries_have_a_reason() -> None:
    made = made_of(read_settings(LEFT, "celery.py"))
    assert list(made.document.schedules) == ["fine"]
    assert made.document.schedules["fine"].trigger.tz == "Europe/Rome"
    told = "\n".join(map(str, made.not_imported))
    for words in (
        "line 2: dusk",
        "solar schedules are not supported",
        "`settings.HOUR` is not a literal, and the file is not executed",
        "ticks are whole seconds",
        "hour: 25 is not from 0 to 23",
        "its name is not a literal",
        "it has no task",
        "tasks that are added by code are only known at run time",
    ):
        assert words in told
    assert "never" in told
    with pytest.raises(InvalidError, match="is not a Python file"):
        read_settings("def (", "broken.py")
    assert "it sets none of beat_schedule" in str(read_settings("x = 1", "empty.py").not_imported[0])


# The ways in which people write settings, beside one name and one dictionary.
WAYS = """
from celery.schedules import crontab

TIME_ZONE = "Europe/Rome"
CELERY_TIMEZONE = TIME_ZONE
OFTEN = 5
OFTEN += 7
MORE = {"more": {"task": "t", "schedule": crontab(minute=1, nowfun=lambda: NOW)}}
CELERY_BEAT_SCHEDULE = {"twice": {"task": "a", "schedule": 60}, "twice": {"task": "b", "schedule": 61}, **MORE}
CELERY_BEAT_SCHEDULE |= {"merged": {"task": "t", "schedule": 62, "options": {"expires": timedelta(minutes=2)}}}
app.conf["beat_schedule"] = {"item": {"task": "t", "schedule": 63, "kwargs": dict(a=1), "options": {"expires": 0.5}}}
app.conf.update({"beat_schedule": {"updated": {"task": "t", "schedule": 64}}})
beat_schedule = {"vague": {"task": "t", "schedule": OFTEN}, "step": {"task": "t", "schedule": crontab(minute="5/15")}}
LOOP = LOOP
beat_schedule["loop"] = {"task": "t", "schedule": LOOP}
"""


def test_settings_are_read_in_all_forms() -> None:
    made = made_of(read_settings(WAYS, "settings.py"))
    found = made.document.schedules
    assert list(found) == ["twice", "more", "merged", "item", "updated"]
    assert (found["more"].trigger.tz, found["twice"].target.name) == ("Europe/Rome", "b")
    assert (found["merged"].start_within, found["item"].start_within, found["item"].payload) == (120, 1, {"a": 1})
    [more] = [each for each in made.imported.entries if each.name == "more"]
    assert "its own clock (nowfun)" in more.notes[0]
    told = "\n".join(map(str, made.not_imported))
    for words in (
        "line 9: twice: line 9 defines it again and overrides this",
        "`OFTEN` is not a literal",
        "'5/15' has a step after a single number, which Celery refuses",
        "it is nested too deeply or contains itself",
    ):
        assert words in told
    assert len(made.not_imported) == 4


@pytest.mark.parametrize(
    "text,zone,words",
    [
        ('timezone = ZoneInfo("Europe/Rome")', "Europe/Rome", ""),
        ("timezone = os.environ['TZ']", "UTC", "`os.environ['TZ']` is not a literal. Give the time zone with --tz"),
        ("enable_utc = False", "UTC", "beat uses the time zone of its machine. Give it with --tz"),
        ("timezone = None", "UTC", ""),
    ],
)
def test_a_zone_is_never_guessed_in_silence(text: str, zone: str, words: str) -> None:
    made = made_of(read_settings(f'{text}\nbeat_schedule = {{"a": {{"task": "t", "schedule": crontab()}}}}', "s.py"))
    assert made.document.schedules["a"].trigger.tz == zone
    assert [words in str(each) for each in made.not_imported] == ([True] if words else [])


COMPUTED = """
import os

from celery import Celery
from celery.schedules import BaseSchedule, crontab


class Tides(BaseSchedule):
    pass


app = Celery("shop", set_as_current=False)


@app.on_after_configure.connect
def setup(sender, **kwargs):
    sender.add_periodic_task(int(os.environ.get("STEP", 10)), app.signature("work", (1,)), name="added")


app.conf.timezone = "Europe/Berlin"
app.conf.beat_schedule = {f"shard-{number}": {"task": "work", "schedule": crontab(minute=number)} for number in (1, 2)}
app.conf.beat_schedule["flood"] = {"task": "work", "schedule": Tides()}
app.conf.beat_schedule["odd"] = {"task": "work", "schedule": crontab(minute={3, 1}), "kwargs": {"at": object()}}
print("noise")
"""


def test_trusted_file_computed_values_are_imported(origins: Origins, tmp_path: Path) -> None:
    file = tmp_path / "computed.py"
    file.write_text(COMPUTED)
    made = made_of(execute_settings(str(file), "computed.py", python=str(origins.python)))
    assert sorted(made.document.schedules) == ["added", "odd", "shard-1", "shard-2"]
    assert made.document.schedules["shard-2"].trigger.to_json() == {"cron": "2 * * * *", "tz": "Europe/Berlin"}
    assert made.document.schedules["odd"].trigger.to_json()["cron"] == "1,3 * * * *"
    assert "flood: work: its schedule is a Tides, which has no equivalent" in str(made.not_imported[0])
    [odd] = [each for each in made.imported.entries if each.name == "odd"]
    assert "kwargs are not JSON and not imported" in odd.notes[-1]
    file.write_text("raise RuntimeError('no')")
    with pytest.raises(
        InvalidError, match="the child process that executes the settings failed with exit code 1: RuntimeError: no"
    ):
        execute_settings(str(file), "computed.py", python=str(origins.python))


MONSTERS = """
beat_schedule = {
    "power": {"task": "t", "schedule": NINES * NINES},
    "range": {"task": "t", "schedule": crontab(hour=range(1000000000000))},
    "span": {"task": "t", "schedule": crontab(minute="0-99999999999")},
    "days": {"task": "t", "schedule": timedelta(days=10**30)},
    "deep": {"task": "t", "schedule": [DEEP]},
}
"""


def test_huge_values_are_not_imported() -> None:
    text = MONSTERS.replace("NINES", "9" * 4_000).replace("DEEP", "[" * 90 + "]" * 90)
    made = made_of(read_settings(text, "monsters.py"))
    assert not made.document.schedules
    assert [each.line for each in made.not_imported] == [3, 4, 5, 6, 7]
    with pytest.raises(InvalidError, match="is nested too deeply"):
        read_settings(f"a = {'-' * 200_000}1", "deep.py")


def test_unknown_zone_is_reported() -> None:
    made = made_of(
        read_settings('timezone = "No/Where"\nbeat_schedule = {"a": {"task": "t", "schedule": crontab()}}', "s.py")
    )
    assert not made.document.schedules
    assert "there is no time zone 'No/Where'" in str(made.not_imported[0])
