"""tail and logs: what happens as it happens, also over a connection that breaks."""

from __future__ import annotations

import json
import signal
import socket
import threading
from collections.abc import Callable
from urllib.parse import urlsplit, urlunsplit

import pytest

from tests.cli.commands.runs.test_runs import execute
from tests.cli.commands.system.test_dev import Talk, until
from tests.cli.conftest import Cli


def lines(text: str) -> list[dict[str, object]]:
    """The objects that were printed, one a line."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def test_tail_since_prints_past_activity(shop: Cli) -> None:
    shop("trigger", "digest", "--payload", '{"limit": 3}')
    execute(shop, status="succeeded", result=3)
    shop("trigger", "etl")
    execute(shop, status="failed", error="ValueError: no data", failure_kind="raised")
    shop("trigger", "etl")
    shop.ok("cancel", "3", "--reason", "wrong day")
    out = shop.ok("tail", "--since", "-1h", "--no-follow").out.splitlines()
    assert [line[25:] for line in out] == [
        "digest  run 1 planned (manual by ana)",
        out[1][25:],
        "etl  run 2 planned (manual by ana)",
        out[3][25:],
        "etl  run 3 planned (manual by ana)",
        "etl  run 3 cancelled: wrong day",
    ]
    assert out[1][25:].startswith("digest  run 1 succeeded after ")
    assert out[3].endswith(": ValueError: no data")
    assert " JST  " in shop.ok("tail", "--since", "-1h", "--no-follow", "--tz", "Asia/Tokyo").out
    found = lines(shop.ok("tail", "--since", "-1h", "--no-follow", "--json", "--schedule", "digest").out)
    assert [(each["kind"], each["schedule"]) for each in found] == [("planned", "digest"), ("ended", "digest")]


def test_skips_and_catch_up_in_a_tail(cli: Cli) -> None:
    cli.create_yesterday("hourly")
    cli.store(lambda _, store: store.planning.plan_due())
    planned, skipped = cli.ok("tail", "--since", "-1h", "--no-follow").out.splitlines()
    assert "hourly  run 1 planned for 2" in planned
    assert planned.endswith("(catch_up, covers 24 ticks)")
    assert "hourly  skipped 23 ticks (coalesced, run 1): 2" in skipped


def test_tail_follow_prints_each_change_once(shop: Cli) -> None:
    talk = Talk(shop.start("tail", "--since", "-1h", "--json"))
    # Each round is a later look, which would repeat the events of the rounds before it.
    for number in range(1, 5):
        shop("trigger", "digest")
        talk.wait_for(f'"id": {number},')
        execute(shop, status="succeeded")
        until(lambda: talk.text.count('"kind": "ended"') >= number, lambda: talk.text)  # noqa: B023
    assert talk.end() == 130
    talk.close()
    keys = [(each["kind"], each["run"]["id"]) for each in lines(talk.text)]  # type: ignore[index]
    assert sorted(keys) == sorted({(kind, number) for kind in ("planned", "ended") for number in (1, 2, 3, 4)})


class Wire:
    """A connection to the database that can be cut."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._to = (parts.hostname or "127.0.0.1", parts.port or 5432)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._cut = False
        port = self._listener.getsockname()[1]
        self.url = urlunsplit(parts._replace(netloc=f"{parts.username}@127.0.0.1:{port}"))
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                ours, _ = self._listener.accept()
            except OSError:
                return
            if self._cut:
                ours.close()
                continue
            theirs = socket.create_connection(self._to)
            self._open += [ours, theirs]
            if self._cut:
                # It was cut while this one was made.
                self.cut()
            for one, other in ((ours, theirs), (theirs, ours)):
                threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket) -> None:
        try:
            while data := one.recv(65_536):
                other.sendall(data)
        except OSError:
            pass
        finally:
            for end in (one, other):
                end.close()

    def cut(self) -> None:
        """Break every connection, and refuse new ones."""
        self._cut = True
        for end in self._open:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def mend(self) -> None:
        """Let connections through again."""
        self._cut = False

    def close(self) -> None:
        """No more of it."""
        self._listener.close()
        self.cut()


def test_a_tail_outlives_a_lost_database(bare: Cli, postgres_url: str) -> None:
    shop = Cli(postgres_url, bare.folder)
    shop.ok("migrate")
    shop.create("mine")
    wire = Wire(postgres_url)
    talk = Talk(shop.start("tail", "--since", "-1h", TICKBIRD_URL=wire.url))
    shop("trigger", "mine")
    until(lambda: "run 1 planned" in talk.text, lambda: talk.text)
    wire.cut()
    until(lambda: "Waiting for the store." in talk.text, lambda: talk.text)
    shop("trigger", "mine")
    wire.mend()
    until(lambda: "run 2 planned" in talk.text, lambda: talk.text)
    assert talk.text.count("Waiting for the store.") == 1
    until(lambda: "the store is reachable again." in talk.text, lambda: talk.text)
    assert talk.end(signal.SIGINT) == 130
    talk.close()
    wire.close()
    assert talk.text.count("run 1 planned") == 1
    assert "Traceback" not in talk.text


@pytest.mark.parametrize(
    "args,code,words",
    [
        (("--no-follow",), 2, "--no-follow requires --since."),
        (("--since", "soon"), 2, "since: 'soon' is not an instant"),
        (("--since", "2026-01-01"), 2, "since: '2026-01-01' has no time zone"),
        (("--since", "-1h", "--schedule", "digset"), 3, "Did you mean digest?"),
        (("--url", "sqlite:///nowhere.db"), 5, "there is no database file"),
    ],
)
def test_tail_refuses(shop: Cli, args: tuple[str, ...], code: int, words: str) -> None:
    assert words in shop.refused(code, "tail", *args)


LOGGER = """
    from tickbird import Run, Tickbird

    bird = Tickbird(app="talk")


    @bird.task
    def talk(run: Run, times: int = 2, fail: bool = False) -> None:
        for number in range(times):
            run.log.info("line %d of\\n%s", number, "two")
        run.log.warning("odd \\x1b[2J")
        if fail:
            raise ValueError("no")
"""


@pytest.fixture
def talker(cli: Cli) -> Callable[..., None]:
    """Runs of a task that logs, by a worker."""
    cli.write("talk", LOGGER)

    def work(payload: str) -> None:
        cli.store(lambda client, _: client.runs.enqueue("talk", json.loads(payload), actor="ana", unknown_task_ok=True))
        process = cli.start("worker", "talk")
        try:
            until(
                lambda: (
                    not cli.store(lambda client, _: client.runs.list(status="queued"))
                    and not cli.store(lambda client, _: client.runs.list(status="running"))
                ),
                lambda: "",
            )
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)

    return work


def test_the_logs_of_a_run(cli: Cli, talker: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tickbird.cli.commands.runs.logs._PAGE", 2)
    talker('{"times": 4}')
    out = cli.ok("logs", "1").out
    assert out.count("\n") == 4 * 2 + 1
    assert " UTC INFO line 0 of\ntwo\n" in out
    assert "WARNING odd \\x1b[2J" in out
    document = cli.ok("logs", "1", "--json").json
    assert (document["run_id"], document["status"]) == (1, "succeeded")
    assert [(line["number"], line["level"]) for line in document["lines"]] == [
        *((number, "info") for number in range(1, 5)),
        (5, "warning"),
    ]
    followed = cli("logs", "1", "-f")
    assert (followed.code, followed.out, followed.err) == (0, out, "tickbird: run 1 is succeeded.\n")
    *shown, last = lines(cli.ok("logs", "1", "-f", "--json").out)
    assert shown == document["lines"]
    assert last == {"run_id": 1, "status": "succeeded"}


def test_logs_are_followed_until_the_run_ends(cli: Cli) -> None:
    cli.create("mine")
    cli("trigger", "mine")
    talk = Talk(cli.start("logs", "1", "-f"))
    silent = cli("logs", "1")
    assert (silent.code, silent.out) == (0, "")
    assert silent.err == "tickbird: run 1 is queued, and its log is empty.\n"
    cli.ok("cancel", "1")
    assert talk.process.wait(60) == 0
    talk.close()
    assert talk.text == "tickbird: run 1 is cancelled.\n"


def test_logs_refuse(cli: Cli) -> None:
    assert "there is no run 7." in cli.refused(3, "logs", "7")
    assert "there is no run 7." in cli.refused(3, "logs", "7", "-f")
    assert "is not a valid integer" in cli.refused(2, "logs", "etl")
