"""reschedule, skip, set, rm, cancel, retry."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from typing import Any

import pytest

from tests.cli.commands.runs.test_runs import execute
from tests.cli.conftest import Cli
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import FORMS, any_of, at, kept_options, trigger_from_json


def shown(cli: Cli, name: str) -> Any:
    """A schedule as a program sees it."""
    return cli.ok("show", name, "--json").json


def test_reschedule_moves_the_next_tick_and_shows_skipped_ticks(shop: Cli) -> None:
    out = shop.ok("reschedule", "etl", "2999-07-01 03:00 Europe/Rome", "--note", "load").out
    assert " is due at 2999-07-01 03:00:00 CEST. " in out
    assert out.startswith("etl: the tick of 20")
    assert "ticks between them will be skipped." in out
    assert shown(shop, "etl")["next_run_at"] == "2999-07-01T01:00:00Z"
    document = shop.ok("reschedule", "digest", "in 90s", "--json").json
    assert document["due_at"] == document["schedule"]["next_run_at"]
    assert document["passed_over"] == 0
    assert document["tick"] > document["due_at"]
    assert shown(shop, "digest")["revisions"][0]["action"] == "reschedule"
    # Now is not past when it is heard.
    assert " is due at " in shop.ok("reschedule", "digest", "now").out


def test_reschedule_refuses(shop: Cli) -> None:
    assert "is in the past. Choose a later instant, or trigger" in shop.refused(2, "reschedule", "etl", "-1h")
    assert "WHEN: 'soon' is not an instant" in shop.refused(2, "reschedule", "etl", "soon")
    assert "has no time zone" in shop.refused(2, "reschedule", "etl", "2999-01-01 09:00")
    assert "at revision 1, not 7" in shop.refused(4, "reschedule", "etl", "2h", "--if-revision", "7")
    assert shown(shop, "etl")["revision"] == 1


def test_skip_by_count_or_until_an_instant(cli: Cli) -> None:
    cli.create("daily", trigger=cron("0 9 * * *", tz="Europe/Rome"))
    ticks = [each["scheduled_for"] for each in cli.ok("preview", "daily", "--json").json["ticks"]]
    one = cli.ok("skip", "daily", "--json").json
    assert (one["first"], one["last"], one["count"], one["next"]) == (ticks[0], ticks[0], 1, ticks[1])
    assert cli.ok("skip", "daily", "--count", "2").out.startswith("daily will skip 3 ticks from ")
    until = cli.ok("skip", "daily", "--until", ticks[5], "--json").json
    assert (until["first"], until["last"], until["count"], until["next"]) == (ticks[0], ticks[4], 5, ticks[5])
    coming = cli.ok("preview", "daily", "--json").json["ticks"]
    assert [each["skipped"] for each in coming] == ["operator"] * 5 + [None] * 5


def test_skip_the_last_tick(cli: Cli) -> None:
    from datetime import UTC, datetime

    cli.create("once", trigger=at(datetime(2999, 1, 1, tzinfo=UTC)))
    assert cli.ok("skip", "once", "-c", "5").out == "once will skip the tick of 2999-01-01 00:00:00 UTC.\n"
    assert (
        cli.refused(4, "skip", "once")
        == "schedule 'once' has no next tick to skip. Change its trigger, or trigger a run now."
    )


def test_skip_refuses(shop: Cli) -> None:
    assert "cannot be combined" in shop.refused(2, "skip", "etl", "--count", "1", "--until", "2h")
    assert "0 is not in the range" in shop.refused(2, "skip", "etl", "--count", "0")
    wrong = shop.refused(2, "skip", "digest", "--until", "+1s")
    assert wrong.startswith("until: no undecided tick of 'digest' is before ")
    assert ". The next tick is at 20" in wrong
    assert "at revision 1, not 2" in shop.refused(4, "skip", "etl", "--if-revision", "2")


def test_set_patches_and_never_replaces(shop: Cli) -> None:
    before = shown(shop, "digest")["definition"]
    document = shop.ok("set", "digest", "timeout=20m", 'payload={"limit": 5}', "tags=mail,eu", "--json").json
    assert document["changes"] == [
        {"field": "payload", "before": None, "after": {"limit": 5}},
        {"field": "tags", "before": ["mail"], "after": ["mail", "eu"]},
        {"field": "timeout", "before": 600, "after": 1200},
    ]
    changed = {"timeout": 1200, "payload": {"limit": 5}, "tags": ["mail", "eu"]}
    assert shown(shop, "digest")["definition"] == {**before, **changed}
    assert shown(shop, "digest")["field_overrides"] == changed
    again = shop.ok("set", "digest", "timeout=1200").out
    assert again == "digest: nothing changed. It stays at revision 2.\n"


@pytest.mark.parametrize(
    "given,field,value",
    [
        ("retries=7", "retries", 7),
        ("priority=-5", "priority", -5),
        ("grace=90", "grace", 90),
        ("grace=1h30m", "grace", 5400),
        ("spread=10m", "spread", 600),
        ("exclude=sat,sun,2026-12-25", "exclude", ["sat", "sun", "2026-12-25"]),
        ("tags=", "tags", []),
        ("backoff=5s", "backoff", {"base": 5, "max": 300}),
        ("backoff=5s,10m", "backoff", {"base": 5, "max": 600}),
        ('backoff={"base": "5s", "max": 600}', "backoff", {"base": 5, "max": 600}),
        ("overlap=queue", "overlap", "queue"),
        ("description=a=b, c", "description", "a=b, c"),
        ("end_at=2999-01-01 00:00 Europe/Rome", "end_at", "2998-12-31T23:00:00Z"),
        ("task=other", "target", {"task": "other"}),
        ("cron=5 4 * * *", "trigger", {"cron": "5 4 * * *", "tz": "America/New_York"}),
        ("tz=Asia/Tokyo", "trigger", {"cron": "0 9 * * 1-5", "tz": "Asia/Tokyo"}),
        ("every=1h30m", "trigger", {"every": {"hours": 1, "minutes": 30}, "tz": "America/New_York"}),
        ("at=2999-01-01T00:00:00Z", "trigger", {"at": "2999-01-01T00:00:00Z"}),
        ('trigger={"every": {"days": 2}}', "trigger", {"every": {"days": 2}}),
    ],
)
def test_set_takes_every_kind_of_field(shop: Cli, given: str, field: str, value: Any) -> None:
    shop.ok("set", "digest", given)
    assert shown(shop, "digest")["definition"][field] == value


_MONTHLY = {
    "rrule": "FREQ=MONTHLY;BYDAY=-1FR",
    "dtstart": "2026-01-30T17:00:00",
    "exdate": ["2026-12-25T17:00:00"],
    "rdate": ["2026-12-23T17:00:00"],
    "tz": "Europe/Rome",
}
_STEPS = {"every": {"hours": 2}, "anchor": "2026-01-05T09:00:00"}


@pytest.mark.parametrize(
    "stored, given, expected",
    [
        (_MONTHLY, ("rrule=FREQ=MONTHLY;BYDAY=-1MO",), {**_MONTHLY, "rrule": "FREQ=MONTHLY;BYDAY=-1MO"}),
        (_MONTHLY, ("rrule=FREQ=DAILY", "exdate="), {"rrule": "FREQ=DAILY", "exdate": None}),
        (_MONTHLY, ("dtstart=2026-01-30T18:00:00",), {**_MONTHLY, "dtstart": "2026-01-30T18:00:00"}),
        (
            _MONTHLY,
            ("exdate=2026-12-25T17:00:00, 2027-10-31T01:30:00Z", "tz=Europe/Paris"),
            {"exdate": ["2026-12-25T17:00:00", "2027-10-31T01:30:00Z"], "tz": "Europe/Paris"},
        ),
        (_MONTHLY, ('exdate=["2026-11-27T17:00:00"]',), {"exdate": ["2026-11-27T17:00:00"]}),
        (_MONTHLY, ("--unset", "exdate", "--unset", "rdate"), {"exdate": None, "rdate": None}),
        (_MONTHLY, ("tz=Europe/Paris",), {**_MONTHLY, "tz": "Europe/Paris"}),
        (_MONTHLY, ("every=4h",), {"every": {"hours": 4}, "tz": "Europe/Rome", "dtstart": None, "exdate": None}),
        (_STEPS, ("every=4h",), {**_STEPS, "every": {"hours": 4}}),
        (_STEPS, ("every=4h", "anchor="), {"every": {"hours": 4}, "anchor": None}),
        ({"cron": "0 9 * * *"}, ("rrule=FREQ=DAILY;COUNT=9", "dtstart=2999-01-30T17:00:00"), {"cron": None}),
    ],
)
def test_set_keeps_the_parts_of_the_trigger_that_are_not_given(
    cli: Cli, stored: dict[str, Any], given: tuple[str, ...], expected: dict[str, Any]
) -> None:
    cli.create("mine", trigger=trigger_from_json(stored))
    cli.ok("set", "mine", *given)
    trigger = shown(cli, "mine")["definition"]["trigger"]
    assert {name: trigger.get(name) for name in expected} == expected


def test_set_keeps_the_params_of_a_custom_trigger() -> None:
    before = {"custom": "business_days", "params": {"days": 3}}
    assert kept_options(FORMS["custom"], before) == {"params": {"days": 3}}
    assert kept_options(FORMS["custom"], {"cron": "0 9 * * *"}) == {}


def test_unset_restores_the_code_value_or_the_default(shop: Cli) -> None:
    shop.ok("set", "digest", "retries=9", "grace=1m")
    document = shop.ok("set", "digest", "--unset", "retries", "--unset", "grace", "--json").json
    assert document["changes"] == [
        {"field": "grace", "before": 60, "after": None},
        {"field": "retries", "before": 9, "after": 3},
    ]
    assert (document["schedule"]["field_overrides"], document["schedule"]["definition"]["retries"]) == ({}, 3)


def test_set_unknown_task_warns_and_unset_restores_it(shop: Cli) -> None:
    shop.live_worker({"digest": {"queue": "default", "schema": {}}})
    said = shop("set", "digest", "task=nope")
    warning = "tickbird: no live worker knows task 'nope': its runs stay queued until one does.\n"
    assert (said.code, said.err) == (0, warning)
    assert shop("set", "digest", "retries=8").err == ""
    back = shop("set", "digest", "--unset", "task")
    assert (back.code, back.err, shown(shop, "digest")["definition"]["target"]) == (0, "", {"task": "digest"})
    assert "both set and unset" in shop.refused(2, "set", "digest", "task=nope", "--unset", "task")


def test_a_priority_has_a_name(shop: Cli) -> None:
    assert shop.ok("set", "digest", "priority=high").out.splitlines()[-1].split() == ["priority", "(default)", "high"]
    assert shown(shop, "digest")["definition"]["priority"] == 500
    assert "high (500)" in shop.ok("show", "digest").out
    assert "start runs with a higher priority first" in " ".join(shop.ok("set", "--help").out.lower().split())


def test_unset_restores_the_value_of_newer_code(shop: Cli) -> None:
    shop.ok("set", "digest", "retries=9")
    text = (shop.folder / "shop.py").read_text()
    shop.write("newer", text.replace("retries=3", "retries=4"))
    shop.ok("sync", "newer")
    assert shown(shop, "digest")["definition"]["retries"] == 9
    shop.ok("set", "digest", "--unset", "retries")
    assert shown(shop, "digest")["definition"]["retries"] == 4


def test_unset_of_a_person_schedule_restores_the_default(cli: Cli) -> None:
    cli.create("mine", retries=5, queue="gpu")
    cli.ok("set", "mine", "--unset", "retries", "queue=cpu")
    definition = shown(cli, "mine")["definition"]
    assert ("retries" in definition, definition["queue"]) == (False, "cpu")
    assert (
        cli.refused(2, "set", "mine", "--unset", "trigger")
        == "trigger is missing. Every definition needs a trigger and a target."
    )


@pytest.mark.parametrize(
    "given,words",
    [
        ((), "give a field to set, such as retries=3"),
        (("retries",), "'retries' is not field=value. Write, for example, retries=3."),
        (("retrys=3",), "'retrys' is not an option of a schedule. Did you mean retries?"),
        (("retries=many",), "retries: 'many' is not a whole number."),
        (("retries=1.5",), "retries: '1.5' is not a whole number."),
        (("priority=urgent",), "priority: 'urgent' is neither a whole number nor one of low, normal, high, critical."),
        (("retries=-1",), "retries must be a whole number from 0 to 1000, not '-1'."),
        (("retries=1", "retries=2"), "retries is given twice. Remove one of them."),
        (("retries=1", "--unset", "retries"), "retries: it is both set and unset."),
        (("--unset", "retrys"), "Did you mean retries?"),
        (("timeout=soon",), "timeout: 'soon' is not a duration"),
        (("timeout=0",), "timeout: "),
        (("overlap=maybe",), "overlap: 'maybe' is not one of skip, queue, replace, allow."),
        (("exclude=someday",), "exclude: 'someday' is neither a weekday nor a date"),
        (("tags=a b",), "tags: 'a b' is not a valid name"),
        (("payload=[1]",), "payload must be a JSON object"),
        (("payload={",), "payload is not JSON"),
        (("cron=61 * * * *",), "minute"),
        (("cron=0 9 * * *", "every=1h"), "cron and every: a schedule has only one trigger"),
        (("cron=0 9 * * *", "tz=Mars/Phobos"), "there is no time zone 'Mars/Phobos'"),
        (("every=soon",), "every: 'soon' is not an interval"),
        (("every=0s",), "seconds must be at least 1."),
        (("every=1d5m",), "every"),
        (("at=2999-01-01T00:00:00Z", "tz=UTC"), "tz: this trigger has no time zone"),
        (("trigger={",), "trigger: '{' is not JSON"),
        (("target=x",), "target cannot be set directly. Set task=… or command=… or sql=… or event=…."),
        (("task=a b",), "task: 'a b' is not a valid name"),
        (("end_at=2999-01-01",), "end_at: '2999-01-01' has no time zone"),
        (("backoff=1s,2s,3s",), "backoff must be one or two durations"),
        (('backoff={"base": "soon"}',), "backoff: base: 'soon' is not a duration"),
        (("backoff=20000d",), "backoff must be whole seconds"),
        (("v=2",), "'v' is not an option of a schedule"),
        (("dtstrat=2026-01-30T17:00:00",), "Did you mean dtstart?"),
        (
            ("dtstart=2026-01-30T17:00:00",),
            "dtstart is an option of `rrule`, but the schedule has another trigger. Set rrule=RULE with dtstart",
        ),
        (("every=1h", "params={}"), "params is an option of `custom`, but the schedule has another trigger."),
        (("rrule=FREQ=DAILY", "dtstart=soon"), "dtstart: 'soon' is not an ISO 8601 date and time."),
        (("--unset", "cron"), "It is a part of the trigger: cron(…)."),
        (("description=a\0b",), "description: "),
    ],
)
def test_set_refuses(shop: Cli, given: tuple[str, ...], words: str) -> None:
    assert words in shop.refused(2, "set", "digest", *given)
    assert shown(shop, "digest")["revision"] == 1


def test_set_with_if_revision_refuses_a_newer_revision(shop: Cli) -> None:
    shop.ok("set", "digest", "retries=1", "--if-revision", "1")
    words = shop.refused(4, "set", "digest", "retries=2", "--if-revision", "1")
    assert words.startswith("schedule 'digest' is at revision 2, not 1: it has changed.")


def test_set_tz_of_a_combined_trigger_is_refused(cli: Cli) -> None:
    cli.create("both", trigger=any_of(cron("0 9 * * *"), every(hours=5)))
    assert "has no time zone. Set cron=EXPR with tz=ZONE." in cli.refused(2, "set", "both", "tz=Europe/Rome")
    cli.ok("set", "both", "cron=0 9 * * *", "tz=Europe/Rome")
    assert shown(cli, "both")["zone"] == "Europe/Rome"


def test_rm_lists_cancelled_runs(shop: Cli) -> None:
    for _ in range(2):
        shop("trigger", "etl")
    said = shop("rm", "etl", "--yes", "--cancel-runs")
    assert (said.code, said.out) == (0, "etl is deleted. 2 runs cancelled (2, 1).\n")
    assert (
        said.err == "tickbird: app shop declares etl in code: its workers and `tickbird sync` will create it again.\n"
    )
    assert "there is no schedule 'etl'" in shop.refused(3, "show", "etl")


def test_rm_without_cancel_runs_keeps_runs(cli: Cli) -> None:
    cli.create("mine")
    cli("trigger", "mine")
    document = cli.ok("rm", "mine", "-y", "--json").json
    assert (document["cancelled"], document["cancel_requested"], document["active"]) == ([], [], [1])
    assert document["schedule"]["state"] == "deleted"
    cli.create("idle")
    assert cli.ok("rm", "idle", "-y").out == "idle is deleted. It had no active runs.\n"


def test_rm_refuses_without_anybody_to_ask(cli: Cli) -> None:
    cli.create("mine")
    for args in ((), ("--json",)):
        assert "the terminal is not interactive. Confirm with --yes." in cli.refused(2, "rm", "mine", *args)
    assert "at revision 1, not 9" in cli.refused(4, "rm", "mine", "-y", "--if-revision", "9")
    assert shown(cli, "mine")["state"] == "active"


@pytest.mark.parametrize("answer,code,state", [("y", 0, "deleted"), ("n", 1, "active"), ("", 1, "active")])
def test_rm_asks_on_a_terminal(cli: Cli, answer: str, code: int, state: str) -> None:
    cli.create("mine")
    cli("trigger", "mine")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tickbird", "rm", "mine"],
        env={**os.environ, "TICKBIRD_URL": str(cli.url), "NO_COLOR": "1"},
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.write(ours, f"{answer}\n".encode())
    _, err = process.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert process.returncode == code
    assert "1 active run will continue (use --cancel-runs to cancel): 1 queued." in err
    assert "Delete mine? [y/N]" in err
    [schedule] = cli.ok("ls", "--json", "--state", state).json["schedules"]
    assert schedule["name"] == "mine"


def test_cancel_a_run(shop: Cli) -> None:
    shop("trigger", "etl")
    assert shop.ok("cancel", "1", "--reason", "wrong day").out == "Run 1 is cancelled.\n"
    run = shop.ok("runs", "1", "--json").json["run"]
    assert (run["status"], run["reason"], run["cancel_requested_by"]) == ("cancelled", "wrong day", "ana")
    assert "run 1 is already cancelled" in shop.refused(4, "cancel", "1")
    assert "there is no run 99" in shop.refused(3, "cancel", "99")
    assert "there is no run 1." in shop.refused(3, "cancel", "1", "-n", "other")
    assert "is not a valid integer" in shop.refused(2, "cancel", "etl")


def test_retry_a_run(shop: Cli) -> None:
    shop("trigger", "digest", "--payload", '{"limit": 7}')
    assert "run 1 is queued. Only a run that has ended can be retried." in shop.refused(4, "retry", "1")
    execute(shop, status="failed", error="ValueError: x", failure_kind="raised")
    said = shop("retry", "1", "--json")
    run = said.json["run"]
    assert (run["retry_of"], run["origin"], run["payload"], run["actor"]) == (1, "retry", {"limit": 7}, "ana")
    assert "stays queued until one does" in said.err
    again = shop("retry", "1", "--payload", '{"limit": 8}')
    assert (again.code, again.err) == (0, "tickbird: run 3 waits until the active run of digest is final.\n")
    assert again.out == "Run 3 repeats run 1 and is waiting. Show it with `tickbird runs 3`.\n"
    assert shop.ok("runs", "3", "--json").json["run"]["payload"] == {"limit": 8}
    assert "payload is not JSON" in shop.refused(2, "retry", "1", "--payload", "{")
    assert "there is no run 99" in shop.refused(3, "retry", "99")


def test_retry_a_run_of_a_schedule_that_was_edited_and_deleted(shop: Cli) -> None:
    shop("trigger", "etl")
    execute(shop, status="failed", error="ValueError: x", failure_kind="raised")
    before = shop.ok("runs", "1", "--json").json["run"]
    shop.ok("set", "etl", "task=purge", "queue=bulk", 'payload={"n": 1}')
    edited = shop("retry", "1", "--json").json["run"]
    assert shop("rm", "etl", "--yes", "--cancel-runs").code == 0
    deleted = shop("retry", "1", "--json").json["run"]
    for run in (edited, deleted):
        assert {**before, "retry_of": 1}.items() >= {
            name: run[name] for name in ("target", "queue", "priority", "payload", "revision", "schedule", "retry_of")
        }.items()


def test_changes_show_times_in_the_given_tz(shop: Cli) -> None:
    shop("trigger", "etl")
    for args in (("ls",), ("show", "etl"), ("preview", "etl"), ("runs",), ("runs", "1"), ("skip", "etl")):
        assert " JST" in shop.ok(*args, "--tz", "Asia/Tokyo").out, args
    assert json.dumps(shop.ok("ls", "--json", "--tz", "Asia/Tokyo").json).count("+09:00") == 0
