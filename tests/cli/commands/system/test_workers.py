"""Workers on the command line."""

from __future__ import annotations

from typing import Any

from conformance.steps import a_worker
from tests.api.conftest import keys
from tests.cli.conftest import Cli
from tickbird.client import Client
from tickbird.domain.runs.unreadable_runs import Unreadable, publish
from tickbird.domain.workers import Worker
from tickbird.store.protocol.store import Store


def report(cli: Cli, name: str, **fields: Any) -> None:
    """A worker that says how it is."""

    async def work(_: Client, store: Store) -> None:
        await store.workers.heartbeat(a_worker(name, queues=("default", "mail"), slots=4, **fields), 600)

    cli.store(work)


def test_workers_are_listed(cli: Cli) -> None:
    assert cli.ok("workers").out == "No live workers. Start one with `tickbird worker`.\n"
    newer = Unreadable("v: format 99 is not known.", "bill", 3)
    report(cli, "web-1", health={"stuck": 2, **publish([newer])})
    report(cli, "web-2", standby_reason="plans nothing: TICKBIRD_PLANNING is off", draining=True)
    shown = cli.ok("workers").out
    assert "WORKER" in shown
    assert "default, mail" in shown
    assert "2 slots stuck; cannot read revision 3 of bill (v: format 99 is not known)" in shown
    assert "draining; plans nothing: TICKBIRD_PLANNING is off" in shown
    listed = cli.ok("workers", "--json").json["workers"]
    assert [each["id"] for each in listed] == ["web-1", "web-2"]
    assert set(listed[0]) == keys(Worker)


def test_a_worker_is_drained(cli: Cli) -> None:
    report(cli, "web-1")
    said = cli.ok("drain", "web-1", "--note", "new kernel").out
    assert said == "Worker web-1 will drain. `tickbird workers` lists it until it ends.\n"
    assert "will drain, requested by ana" in cli.ok("workers").out
    report(cli, "web-1", draining=True)
    assert "draining, requested by ana" in cli.ok("workers").out
    assert cli.ok("drain", "web-1", "--json").json["worker"]["drain_requested_by"] == "ana"


def test_drain_unknown_worker_is_refused(cli: Cli) -> None:
    report(cli, "step", kind="sync")
    assert cli.refused(3, "drain", "web-9").startswith("there is no live worker 'web-9'. ")
    assert "is a deploy step" in cli.refused(4, "drain", "step")
    cli.refused(2, "drain")
    cli.refused(2, "drain", "step", "--note", "x" * 2_001)
