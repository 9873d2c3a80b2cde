"""preview and why."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Cli
from tickbird.domain.triggers.cron.cron import cron

LATE = """
    from datetime import UTC, datetime

    from tickbird import Tickbird, at

    bird = Tickbird()


    @bird.task(schedule=at(datetime(2020, 1, 1, tzinfo=UTC)))
    def party() -> None: ...
"""


def test_preview_cron_expression_works_without_store(bare: Cli) -> None:
    out = bare.ok("preview", "--cron", "0 9 * * 1-5", "--tz", "Asia/Tokyo", "-c", "3", "--after", "2026-01-01").out
    title, head, *rows = out.splitlines()
    assert title == "0 9 * * 1-5 · At 09:00, Monday through Friday (Asia/Tokyo)"
    assert head.split() == ["TICK", "UTC", "DUE"]
    assert [row[:50] for row in rows] == [
        "2026-01-01 09:00:00 JST  2026-01-01 00:00:00 UTC  ",
        "2026-01-02 09:00:00 JST  2026-01-02 00:00:00 UTC  ",
        "2026-01-05 09:00:00 JST  2026-01-05 00:00:00 UTC  ",
    ]
    assert list(bare.folder.iterdir()) == []


def ticks(cli: Cli, expr: str, after: str, count: int = 3, tz: str = "Europe/Rome") -> list[tuple[str, str]]:
    document = cli.ok("preview", "--json", "--cron", expr, "--tz", tz, "--after", after, "-c", str(count)).json
    return [(tick["scheduled_for"], "; ".join(tick["notes"])) for tick in document["ticks"]]


def test_preview_of_a_cron_expression_without_its_option(cli: Cli) -> None:
    said = cli.refused(3, "preview", "61 * * * *")
    assert (
        "there is no schedule '61 * * * *'. For a cron expression, use `tickbird preview --cron '61 * * * *'`." in said
    )
    assert "--cron" not in cli.refused(3, "preview", "none such")


def test_preview_notes_a_time_that_does_not_exist(bare: Cli) -> None:
    leap = "clocks go forward 1 h at 2026-03-29 03:00:00 CEST"
    assert ticks(bare, "30 2 * * *", "2026-03-28") == [
        ("2026-03-28T01:30:00Z", ""),
        ("2026-03-29T01:00:00Z", f"{leap}; 02:30 does not exist that day: it ticks at the end of the gap"),
        ("2026-03-30T00:30:00Z", ""),
    ]
    assert ticks(bare, "*/20 2 * * *", "2026-03-28 02:40", 1) == [
        ("2026-03-30T00:00:00Z", f"{leap}; 02:00 to 02:40 do not exist that day and not tick"),
    ]
    assert ticks(bare, "0 * * * *", "2026-03-29 01:00", 1) == [
        ("2026-03-29T01:00:00Z", f"{leap}; 02:00 does not exist that day"),
    ]
    assert ticks(bare, "0 9 * * *", "2026-03-28 09:00", 1) == [("2026-03-29T07:00:00Z", leap)]


def test_preview_notes_a_time_that_comes_twice(bare: Cli) -> None:
    assert ticks(bare, "30 2 * * *", "2026-10-25", 2) == [
        ("2026-10-25T00:30:00Z", "02:30 occurs twice that day: this is the first, the other does not tick"),
        ("2026-10-26T01:30:00Z", "clocks go back 1 h at 2026-10-25 02:00:00 CET"),
    ]
    assert [note for _, note in ticks(bare, "30 * * * *", "2026-10-25 02:00", 2)] == [
        "02:30 occurs twice that day: this is the first",
        "clocks go back 1 h at 2026-10-25 02:00:00 CET; 02:30 occurs twice that day: this is the second",
    ]


def test_preview_ignores_distant_dst_changes(bare: Cli) -> None:
    assert ticks(bare, "0 9 1 1 *", "2026-01-02", 2) == [("2027-01-01T08:00:00Z", ""), ("2028-01-01T08:00:00Z", "")]
    assert [note for _, note in ticks(bare, "@every 7h", "2026-03-28", 6) if "exist" in note] == []


def test_preview_warns_about_the_coming_year(shop: Cli) -> None:
    args = ("preview", "--cron", "30 2 31 * *", "--tz", "Europe/Rome", "--after", "2026-01-01", "-c", "1")
    assert [each["code"] for each in shop.ok(*args, "--json").json["warnings"]] == ["missing-dates"]
    assert shop.ok(*args).out.splitlines()[-1].startswith("! there is no 31st of February, April,")
    assert "ticks-move" in [each["code"] for each in shop.ok("preview", "etl", "--json").json["warnings"]]
    assert "it ticks at 03:00 instead" in shop.ok("preview", "etl").out


def test_preview_of_a_stored_schedule(shop: Cli) -> None:
    out = shop.ok("preview", "digest", "-c", "2").out
    assert len(out.splitlines()) == 4
    document = shop.ok("preview", "digest", "--json").json
    assert (document["schedule"], document["zone"], len(document["ticks"])) == ("digest", "America/New_York", 10)
    shop.ok("pause", "digest", "--note", "x")
    assert {tick["skipped"] for tick in shop.ok("preview", "digest", "--json").json["ticks"]} == {"paused"}
    assert "The schedule is paused" in shop.ok("preview", "digest").out


def test_preview_shows_when_a_spread_or_moved_tick_is_due(cli: Cli) -> None:
    cli.create("spread", spread="10m")
    tick = cli.ok("preview", "spread", "-c", "1", "--json").json["ticks"][0]
    assert tick["scheduled_for"] != tick["due_at"]
    assert "due 20" in cli.ok("preview", "spread", "-c", "1").out


@pytest.mark.parametrize(
    "args,words",
    [
        ((), "give one of these: the name of a schedule, --cron, --every, --rrule, --at"),
        (("digest", "--cron", "* * * * *"), "give one of these"),
        (("digest", "--after", "now"), "--after works with a trigger"),
        (
            ("--cron", "0 3 * * *", "--after", "2026-01-01"),
            """'2026-01-01' has no time zone. Write "2026-01-01 Europe""",
        ),
        (("--cron", "61 * * * *"), "minute"),
        (("--rrule", "FREQ=SOMETIMES"), "FREQ"),
        (("--rrule", "FREQ=DAILY", "--cron", "* * * * *"), "give one of these"),
        (("--cron", "* * * * *", "--dtstart", "2026-01-30T09:00:00"), "--dtstart requires --rrule"),
        (("--rrule", "FREQ=DAILY", "--dtstart", "tomorrow"), "dtstart"),
        (("--cron", ""), "cron"),
        (("--cron", "* " * 5_000), "longer than 1000 characters"),
        (("--cron", "0 0 30 2 *"), "none of its months has such a day"),
        (("--cron", "0 3 * * *\0"), "plain ASCII"),
        (("--cron", "0 3 * * *", "--tz", "Mars/Phobos"), "there is no time zone 'Mars/Phobos'"),
        (("--cron", "0 3 * * *", "--tz", "../etc/passwd"), "is not the name of an IANA time zone"),
        (("--cron", "0 3 * * *", "--after", "soon"), "is not an instant"),
        (("--cron", "0 3 * * *", "-c", "0"), "0 is not in the range"),
    ],
)
def test_preview_refuses(bare: Cli, args: tuple[str, ...], words: str) -> None:
    assert words in bare.refused(2, "preview", *args)


def test_why_of_the_next_tick_by_default(shop: Cli) -> None:
    said = shop.ok("why", "digest")
    assert "digest at " in said.out
    assert "Will run at " in said.out
    assert "  ✓ On the grid: At 09:00, Monday through Friday (America/New_York).\n" in said.out
    assert "  ✗ At present, no live worker executes runs.\n" in said.out
    [explanation] = shop.ok("why", "digest", "--json").json["explanations"]
    assert explanation["verdict"] == "will run"


def test_why_explains_the_last_tick_too(cli: Cli) -> None:
    cli.create_yesterday("hourly")
    cli.store(lambda _, store: store.planning.plan_due())
    last, following = cli.ok("why", "hourly", "--json").json["explanations"]
    assert (last["verdict"], following["verdict"]) == ("skipped", "will run")
    assert last["at"] < following["at"]
    assert cli.ok("why", "hourly").out.count("hourly at ") == 2


def test_why_explains_the_only_tick_though_it_is_older_than_the_schedule(cli: Cli) -> None:
    cli.write("late", LATE)
    cli.ok("sync", "late")
    [explanation] = cli.ok("why", "party", "--json").json["explanations"]
    assert (explanation["at"], explanation["verdict"]) == ("2020-01-01T00:00:00Z", "skipped")
    assert "already past when the schedule was created" in cli.ok("why", "party").out


def test_why_refuses_a_time_without_a_zone(shop: Cli) -> None:
    words = shop.refused(2, "why", "etl", "2999-03-29 02:30")
    assert words == (
        "AT: '2999-03-29 02:30' has no time zone. "
        'Write "2999-03-29 02:30 Europe/Rome" (the schedule\'s own), "2999-03-29 02:30Z", or give --tz.'
    )
    for args in (("2999-03-29 02:30 Europe/Rome",), ("2999-03-29 02:30", "--tz", "Europe/Rome")):
        [explanation] = shop.ok("why", "etl", *args, "--json").json["explanations"]
        assert (explanation["at"], explanation["verdict"]) == ("2999-03-29T01:30:00Z", "will run")


def test_why_reads_a_day_in_the_schedules_zone(shop: Cli) -> None:
    said = shop("why", "etl", "tomorrow 02:30", "--json")
    assert said.code == 0
    assert said.err.startswith("tickbird: tomorrow 02:30 was read in time zone Europe/Rome: 2")
    assert said.json["explanations"][0]["verdict"] == "will run"


def test_why_shows_times_in_the_given_tz(shop: Cli) -> None:
    assert "JST" in shop.ok("why", "etl", "--tz", "Asia/Tokyo").out
    assert "JST" not in shop.ok("why", "etl").out


def test_why_takes_an_instant_with_a_zone(shop: Cli) -> None:
    [explanation] = shop.ok("why", "etl", "2027-03-28T03:00:00+02:00", "--json").json["explanations"]
    assert (explanation["at"], explanation["verdict"]) == ("2027-03-28T01:00:00Z", "will run")
    [explanation] = shop.ok("why", "etl", "2027-03-28T03:00:01+02:00", "--json").json["explanations"]
    assert explanation["verdict"] == "not a tick"


@pytest.mark.parametrize("at", ["-1h", "+2d", "-30s", "now", "+1h30m"])
def test_why_takes_an_instant_relative_to_now(cli: Cli, at: str) -> None:
    cli.create("minutely", trigger=cron("* * * * *"))
    [explanation] = cli.ok("why", "minutely", at, "--json").json["explanations"]
    assert explanation["verdict"] in ("not a tick", "no such schedule then", "will run")


@pytest.mark.parametrize(
    "at", ["1h", "soon", "--bogus", "2026-13-01", "-", "+", "-1y", "9999-12-31T23:59:59-14:00", ""]
)
def test_why_invalid_instant_is_refused(shop: Cli, at: str) -> None:
    assert shop.refused(2, "why", "etl", at).startswith(("AT: ", "AT "))


def test_why_of_a_deleted_schedule(cli: Cli) -> None:
    cli.create("gone")
    cli.store(lambda client, _: client.schedules.delete("gone", actor="ana"))
    assert "there is no schedule 'gone'" in cli.refused(3, "why", "gone")
    [explanation] = cli.ok("why", "gone", "+2d", "--json").json["explanations"]
    assert explanation["verdict"] == "no such schedule then"
    assert "deleted by ana" in explanation["sentence"]


def test_the_ticks_of_a_recurrence_rule(cli: Cli) -> None:
    rule = ("--rrule", "FREQ=MONTHLY;BYDAY=-1FR", "--dtstart", "2026-01-30T09:00:00", "--tz", "Europe/Rome")
    told = cli.ok("preview", *rule, "-c", "2", "--after", "2026-02-01T00:00:00Z", "--json").json
    assert told["rrule"] == "FREQ=MONTHLY;BYDAY=-1FR"
    assert [tick["scheduled_for"] for tick in told["ticks"]] == ["2026-02-27T08:00:00Z", "2026-03-27T08:00:00Z"]
    assert "on the last Friday, at 09:00" in cli.ok("preview", *rule).out


def test_a_schedule_is_set_to_a_recurrence_rule(cli: Cli) -> None:
    cli.create("monthly")
    cli.ok("set", "monthly", "rrule=FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=9;BYMINUTE=0", "tz=Europe/Rome")
    assert "Every month on the last Friday, at 09:00 (Europe/Rome)" in cli.ok("preview", "monthly").out
    assert cli.ok("show", "monthly", "--json").json["definition"]["trigger"]["tz"] == "Europe/Rome"
