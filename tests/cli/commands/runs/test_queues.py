"""queues and queue: rates on the command line."""

from __future__ import annotations

from conformance.steps import a_worker
from tests.cli.conftest import Cli
from tickbird.client import Client
from tickbird.store.protocol.store import Store

WORKER = a_worker(queues=("default",), slots=4, tasks={"report": {}})


def begin(cli: Cli, count: int) -> None:
    """So many runs of the queue, of which a worker takes what it may."""

    async def work(client: Client, store: Store) -> None:
        for _ in range(count):
            await client.runs.enqueue("report", actor="ana", queue="mail", unknown_task_ok=True)
        await store.leases.claim(WORKER, 9, 60, queues=["mail"], targets=[("task", "report")])

    cli.store(work)


def test_queues_are_listed_and_given_rates(cli: Cli) -> None:
    assert cli.ok("queues").out.startswith("No queues are in use")
    said = cli("queue", "mail", "--rate", "2/h")
    assert (said.code, said.out) == (0, "mail: at most 2 runs start within any 1 h; 0 queued, 0 running.\n")
    assert "no live worker executes runs: its runs stay queued until one does" in said.err
    begin(cli, 3)
    heads, mail = (line.split() for line in cli.ok("queues").out.splitlines())
    assert heads[:6] == ["QUEUE", "RATE", "WAITING", "QUEUED", "RUNNING", "WORKERS"]
    assert mail[:6] == ["mail", "2/h", "0", "1", "2", "0"]
    assert len(mail) > 6
    [listed] = cli.ok("queues", "--json").json["queues"]
    assert listed.pop("next_at") is not None
    assert listed == {"queue": "mail", "rate": "2/h", "waiting": 0, "queued": 1, "running": 2, "workers": 0}
    assert cli("queue", "mail", "--json").json["rate"] == "2/h"
    assert cli("queue", "mail").out.splitlines()[1].split()[:2] == ["mail", "2/h"]
    assert cli("queue", "mail", "--rate", "none").out == "mail: no rate limit; 1 queued, 2 running.\n"


def test_queue_without_worker_warns(cli: Cli) -> None:
    async def live(_: Client, store: Store) -> None:
        await store.workers.heartbeat(WORKER, 600)

    cli.store(live)
    said = cli("queue", "mail", "--rate", "1/s")
    assert "no live worker serves queue 'mail' (served: default): its runs stay queued until one does" in said.err
    assert cli("queue", "default", "--rate", "1/s").err == ""


def test_queue_invalid_rate_is_refused(cli: Cli) -> None:
    for wrong, why in (
        ("0/min", "would start no runs"),
        ("abc", "is not a rate"),
        ("5/fortnight", "has the unknown unit"),
    ):
        assert why in cli.refused(2, "queue", "mail", "--rate", wrong)
    assert cli.refused(3, "queue", "mail", "--rate", "none") == (
        "queue 'mail' has no rate limit. `tickbird queues` lists the rate limits."
    )


def test_runs_shows_wait_for_rate_limit(cli: Cli) -> None:
    cli("queue", "mail", "--rate", "1/h")
    begin(cli, 2)
    listed = cli.ok("runs").out
    assert listed.count("rate limit of mail, 1/h: waits until ") == 1
    said = cli.ok("runs", "2")
    assert "1/h: it may start at " in said.out
    turn = cli.ok("runs", "2", "--json").json["queue_position"]
    assert (turn["rate"], turn["runs_before"]) == ("1/h", 0)
    assert cli.ok("runs", "1", "--json").json["queue_position"] is None
