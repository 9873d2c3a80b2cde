"""backfill, backfills, held, release, drop."""

from __future__ import annotations

import re
import signal
from datetime import timedelta
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tickbird.client import Client
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.runs.run import Outcome
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.triggers.every import every
from tickbird.domain.workers import Worker
from tickbird.store.protocol.store import Store

WORKER = Worker(id="w1", namespace="default", app="shop", host="h", pid=1, version="0", queues=("default",), slots=1)


@pytest.fixture
def report(cli: Cli) -> Cli:
    """A daily schedule that was just made, and a worker that would run it."""
    cli.create("report", trigger=every(days=1))
    cli.live_worker({"report": {"queue": "default", "schema": {}}})
    return cli


@pytest.fixture
def bill(cli: Cli) -> Cli:
    """An hourly schedule that nobody planned for a night, and what it left is held."""
    definition = Definition(trigger=every(hours=1), target=Target("report"), catch_up="all", hold_above=5)
    command = Create(actor="ana", namespace="default", definition=definition)

    async def make(client: Client, store: Store) -> None:
        then = (await client.system.now()).replace(minute=30) - timedelta(hours=1)
        await store.schedules.change("default", "bill", command, now=then - timedelta(hours=10))
        await store.planning.plan_due(now=then)

    cli.store(make)
    return cli


def run_next(cli: Cli, count: int, status: Any = "succeeded") -> None:
    """What a worker does: run the next ones, one after the other."""

    async def work(_: Client, store: Store) -> None:
        for _number in range(count):
            [run] = (await store.leases.claim(WORKER, 1, 60, queues=["default"], targets=[("task", "report")])).runs
            await store.leases.finish([Outcome(run.id, run.attempt, status)])

    cli.store(work)


RANGE = ("--from", "2020-01-01Z", "--to", "2020-01-10Z")


def test_ticks_whose_run_may_have_been_pruned_do_not_run_again(report: Cli) -> None:
    report("backfill", "report", "--from", "2020-01-01Z", "--to", "2020-01-04Z", "--yes", "--detach")
    run_next(report, 4)

    async def prune(_: Client, store: Store) -> None:
        await store.runs.prune(older_than=0, keep=0)

    report.store(prune)
    said = report.ok("backfill", "report", *RANGE, "--dry-run")
    assert said.out.startswith("6 runs of report would be created; 0 ticks of the range already have a run.\n")
    left_out = (
        "4 ticks up to 2020-01-04 00:00:00 UTC are excluded: their runs may have been pruned, and no tick runs twice.\n"
    )
    assert left_out in said.out
    plan = report.ok("backfill", "report", *RANGE, "--dry-run", "--json").json["backfill"]
    assert (plan["count"], plan["pruned"], plan["pruned_until"]) == (6, 4, "2020-01-04T00:00:00Z")
    again = report.ok("backfill", "report", "--from", "2020-01-01Z", "--to", "2020-01-04Z", "--yes")
    assert again.out == f"Nothing to run: 0 ticks of the range already have a run.\n{left_out}"


def test_backfill_dry_run_lists_ticks(report: Cli) -> None:
    out = report.ok("backfill", "report", *RANGE, "--dry-run").out
    assert out.startswith("10 runs of report would be created; 0 ticks of the range already have a run.")
    assert "2020-01-01 00:00:00 UTC" in out
    assert "2020-01-10 00:00:00 UTC" in out
    document = report.ok("backfill", "report", *RANGE, "--dry-run", "--json").json["backfill"]
    assert (document["id"], document["count"], document["cut_at"]) == (None, 10, None)
    assert document["ticks"][-1] == "2020-01-10T00:00:00Z"
    assert report.ok("backfills", "--json").json == {"backfills": []}


def test_a_long_dry_run_is_cut_short(report: Cli) -> None:
    out = report.ok("backfill", "report", "--from", "2020-01-01Z", "--to", "+3d", "--dry-run").out
    assert re.search(r"… and [\d,]+ more", out)
    assert "The range ends at" in out


def test_backfill_start_show_and_cancel(report: Cli) -> None:
    said = report.ok("backfill", "report", *RANGE, "--yes", "--detach", "--note", "new column", "--order", "newest")
    assert said.out.startswith("Backfill 1 of report: 10 runs.\nBackfill 1 of report: 9 waiting, 1 queued.\n")
    assert "`tickbird backfill --cancel 1`" in said.out
    run_next(report, 2)
    head, row = report.ok("backfills", "--schedule", "report").out.splitlines()
    assert head.split() == ["ID", "SCHEDULE", "STATE", "DONE", "FROM", "TO", "CREATED", "BY", "NOTE"]
    assert re.search(r"^1 +report +running +2/10 +2020-01-01 00:00:00 UTC +2020-01-10 23:59:59 UTC", row)
    assert "2 of 10 done (7 waiting, 1 queued, 2 succeeded)" in report.ok("backfills", "1").out
    assert "newest first, 1 at a time" in report.ok("backfills", "1").out
    out = report.ok("backfill", "--cancel", "1", "--note", "enough").out
    assert out == "Backfill 1 of report is cancelled: 2 succeeded, 8 cancelled.\n"
    document = report.ok("backfills", "1", "--json").json["backfill"]
    assert (document["cancelled_by"], document["done"], document["counts"]["cancelled"]) == ("ana", 10, 8)
    assert "has no run left to cancel" in report.refused(4, "backfill", "--cancel", "1")


def test_backfill_excludes_ticks_with_a_run(report: Cli) -> None:
    report.ok("backfill", "report", *RANGE, "--yes", "--detach")
    again = report.ok("backfill", "report", *RANGE, "--yes")
    assert again.out == "Nothing to run: 10 ticks of the range already have a run.\n"


@pytest.mark.parametrize("status, code", [("succeeded", 0), ("failed", 1)])
def test_it_waits_for_the_end(report: Cli, status: str, code: int) -> None:
    process = report.start("backfill", "report", "--from", "2020-01-01Z", "--to", "2020-01-02Z", "--yes")
    assert process.stdout is not None
    assert process.stdout.readline() == "Backfill 1 of report: 2 runs.\n"
    run_next(report, 2, status)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out.splitlines()[0]) == (code, f"Backfill 1 of report: 2 {status}.")


def test_ctrl_c_leaves_the_runs_alone(report: Cli) -> None:
    process = report.start("backfill", "report", *RANGE, "--yes")
    assert process.stdout is not None
    process.stdout.readline()
    # It may be interrupted anywhere from here on, also before it has begun to wait.
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert (
        "The backfill continues. Show it with `tickbird backfills 1`, or cancel it with `tickbird backfill --cancel 1`"
        in err
    )
    counts = report.ok("backfills", "1", "--json").json["backfill"]["counts"]
    assert (counts["waiting"], counts["queued"]) == (9, 1)


def test_backfill_without_worker_warns(cli: Cli) -> None:
    cli.create("report", trigger=every(days=1))
    said = cli("backfill", "report", *RANGE, "--yes", "--detach", "--json")
    assert said.err == "tickbird: no live worker executes runs: the runs stay queued until one does.\n"
    assert said.json["backfill"]["counts"]["waiting"] == 9


@pytest.mark.parametrize(
    "code, args, sentence",
    [
        (2, ["report"], "give a schedule, --from and --to, or --cancel with a backfill id."),
        (2, ["report", *RANGE], "the terminal is not interactive. Confirm with --yes, or check with --dry-run first."),
        (2, ["report", "--cancel", "1"], "--cancel takes a backfill id, and excludes NAME, --from and --to."),
        (2, ["report", *RANGE, "--yes", "--stop-running"], "--stop-running requires --cancel."),
        (
            2,
            ["report", "--from", "2020-01-02Z", "--to", "2020-01-01Z", "--yes"],
            "first: 2020-01-02T00:00:00Z is after",
        ),
        (2, ["report", "--from", "2020-01-01", "--to", "now", "--yes"], "from: '2020-01-01' has no time zone."),
        (2, ["report", "--from", "soon", "--to", "now", "--yes"], "from: 'soon' is not an instant."),
        (
            2,
            ["report", "--from", "1990-01-01Z", "--to", "now", "--dry-run"],
            "ticks without a run, more than the 10,000",
        ),
        (2, ["report", *RANGE, "--yes", "--payload", "[]"], "payload must be a JSON object"),
        (3, ["nothing", *RANGE, "--yes"], "there is no schedule 'nothing'"),
        (3, ["--cancel", "99"], "there is no backfill 99. `tickbird backfills` lists the backfills."),
    ],
)
def test_backfill_invalid_arguments_are_refused(report: Cli, code: int, args: list[str], sentence: str) -> None:
    assert sentence in report.refused(code, "backfill", *args)


def test_held_release_and_drop(bill: Cli) -> None:
    assert bill.ok("held", "--json").json["held"][0]["count"] == 10
    out = bill.ok("held").out
    assert re.search(r"^bill +10 +20", out, re.MULTILINE)
    assert "Run them with `tickbird release NAME`" in out
    out = bill.ok("held", "bill", "-c", "2").out
    assert "… and 8 more" in out
    assert out.count("catch_up") == 2
    assert "10 runs held: see `tickbird held bill`" in bill.ok("ls").out
    assert "10 runs held: see `tickbird held bill`" in bill.ok("show", "bill").out
    assert bill.ok("show", "bill", "--json").json["held"] == 10
    run = bill.ok("held", "bill", "--json").json["runs"][0]
    assert run["held"] is True
    why = bill.ok("why", "bill", run["scheduled_for"]).out
    assert "`tickbird release bill` releases it, `tickbird drop bill` cancels it." in why

    assert bill.ok("drop", "bill", "--count", "8", "--yes").out == "8 held runs of bill dropped. 2 still held.\n"
    assert bill.ok("release", "bill", "--per-minute", "2").out == "2 held runs of bill released, 2 per minute.\n"
    assert bill.ok("held").out == "There are no held runs.\n"
    assert bill.ok("held", "bill").out == "bill has no held runs.\n"
    assert "no run of schedule 'bill' is held" in bill.refused(4, "release", "bill")
    assert "cancelled: by ana: dropped" in bill.ok("why", "bill", run["scheduled_for"]).out
    audit = bill.store(lambda client, _: client.audit.list(schedule="bill", limit=2))
    assert [(each.actor, each.action) for each in audit] == [("ana", "release_held"), ("ana", "drop_held")]


def test_why_shows_who_released_a_run(bill: Cli) -> None:
    [_, second, *_] = bill.ok("held", "bill", "--json").json["runs"]
    bill.ok("release", "bill")
    run_next(bill, 2)
    assert "Held until ana released it at" in bill.ok("why", "bill", second["scheduled_for"]).out
    assert re.search(r"released +\S.* by ana", bill.ok("runs", str(second["id"])).out)


def test_drop_asks(bill: Cli) -> None:
    assert bill.refused(2, "drop", "bill").startswith("the terminal is not interactive. Confirm with --yes.")
    assert "there is no schedule 'nothing'" in bill.refused(3, "drop", "nothing", "--yes")
    assert bill.ok("held", "--json").json["held"][0]["count"] == 10
