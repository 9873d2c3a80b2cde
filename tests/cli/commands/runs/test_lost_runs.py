"""undecided, resolve."""

from __future__ import annotations

from datetime import timedelta

from tests.cli.conftest import Cli
from tickbird.client import Client
from tickbird.domain.triggers.every import every
from tickbird.domain.workers import Worker
from tickbird.store.protocol.store import Store

WORKER = Worker(id="w1", namespace="default", app="shop", host="h", pid=1, version="0", queues=("default",), slots=1)


def lose(cli: Cli, count: int) -> list[int]:
    """Runs whose worker was lost."""

    async def work(client: Client, store: Store) -> list[int]:
        ids = [(await client.schedules.trigger("report", actor="ana")).id for _ in range(count)]
        await store.leases.claim(WORKER, count, 0.01, queues=["default"], targets=[("task", "report")])
        await store.leases.rescue(now=await client.system.now() + timedelta(seconds=60))
        return ids

    return cli.store(work)  # type: ignore[no-any-return]


def test_undecided_and_resolve(cli: Cli) -> None:
    cli.create("report", trigger=every(days=1), on_crash="ask", overlap="allow")
    assert cli.ok("undecided").out == "No run waits for an answer.\n"
    first, second = lose(cli, 2)
    out = cli.ok("undecided").out
    assert "Answer with `tickbird resolve ID yes` or `tickbird resolve ID no`." in out
    assert [lost["run_id"] for lost in cli.ok("undecided", "--json").json["runs"]] == [second, first]
    out = cli.ok("runs", str(first)).out
    assert "until `tickbird resolve`" in out
    assert f"`tickbird resolve {first} yes` it has succeeded" in out
    assert "2 lost runs wait for the answer whether they had their effect." in cli("doctor").out

    assert cli.ok("resolve", str(first), "yes", "--note", "seen").out == f"Run {first} has succeeded.\n"
    assert "waits for no answer" in cli.refused(4, "resolve", str(first), "yes")
    assert cli.ok("resolve", str(second), "no", "--json").json["run"]["status"] in ("queued", "waiting")
    assert "there is no run 999" in cli.refused(3, "resolve", "999", "yes")
    assert cli("resolve", str(second), "perhaps").code == 2
    assert cli.ok("undecided").out == "No run waits for an answer.\n"
