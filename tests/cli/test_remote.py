"""Every command says the same, and ends with the same code, by way of a server as on the store itself."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import APP, Cli, Said
from tests.client.http.servers import make_token, serving
from tickbird.client import StoreClient
from tickbird.client.sessions import open_session
from tickbird.store.protocol.store import Store

# What is done one after the other; an X is the id of the newest run.
SCRIPTS = {
    "look": """
ls
ls --tag mail
show digest
show digets
why digest 2035-06-01T13:00:00Z
preview etl --tz Asia/Tokyo -c 2
audit
runs
zones
held
limits
queues
workers
doctor
""",
    "runs": """
trigger digest --payload {"limit":5}
trigger digets
runs --schedule digest --status queued
runs X
runs 999
logs X
cancel X --reason no
cancel X
retry X
rm digest -y --cancel-runs
tail --since -1h --no-follow
limit warehouse 3
queue mail --rate 5/s
""",
    "files": """
diff -f shop.toml
apply -f shop.toml --dry-run
simulate -f shop.toml --from 2035-06-01T00:00:00Z --days 2 --outage 2035-06-01T02:00:00Z/2h --slots 1
simulate digets --from 2035-06-01T00:00:00Z
simulate -f wrong.toml
apply -f shop.toml
apply -f shop.toml
export --app shop
export --all --format json
export --ical --days 3
export --ical --schedule digets
apply -f wrong.toml
""",
    "changes": """
pause digest --note quiet
pause digest --note quiet --until yesterday
ls --state paused
resume digest
resume digest
set digest retries=2 timeout=5m
set digest retires=2
set digest priority=9000
set digest grace=1h --if-revision 1
revisions digest
rollback digest 1
reschedule digest 2h
skip digest -c 2 --note not-these
backfill digest --from 2026-01-01T00:00:00Z --to 2026-01-02T00:00:00Z -y --detach
backfills
token create bot --role viewer
token revoke nobody
""",
}
FILE = """
app = "shop"

[schedules.report]
cron = "0 6 * * *"
task = "digest"
retries = 2

[limits]
warehouse = 3
"""
_TIMES = (
    (r"\b\d{8}T\d{6}Z", "TIME"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?", "TIME"),
    (r"\b\d\d:\d\d:\d\d\b", "TIME"),
    (r"(in )?\d+ (d|h|min|s)( \d+ (h|min|s))*( ago| after due)?", "LENGTH"),
    (r"\bnow\b", "LENGTH"),
    (r"\S+-\d+-[0-9a-f]{8}\b", "WORKER"),
    (r" \(token [a-z2-7]{8}\)", ""),
    (r"tbk_[a-z2-7]{8}_[\w-]{43}", "TOKEN"),
    (r"\b[a-z2-7]{8}\b(?= |\")", "ID"),
    (r"[\d.]+ [kMGT]B", "SIZE"),
    (r" +", " "),
)


def plain(text: str) -> str:
    """Without what is another each time."""
    for pattern, instead in _TIMES:
        text = re.sub(pattern, instead, text)
    return text


class Way:
    """One way to the store of a folder."""

    def __init__(self, cli: Cli, *options: str) -> None:
        self.cli, self.options = cli, options

    def __call__(self, command: str, *more: str) -> Said:
        """The answer to a line of the script."""
        args = [*command.split(), *more]
        if "X" in args:
            newest = max(int(line) for line in re.findall(r"^(\d+)", self.cli("runs").out, re.MULTILINE))
            args = [str(newest) if each == "X" else each for each in args]
        env: dict[str, Any] = {"TICKBIRD_URL": None} if self.options else {}
        return self.cli(*args, *self.options, **env)


@contextmanager
def shop(folder: Path) -> Iterator[Cli]:
    """A store with an app that was synced."""
    folder.mkdir()
    cli = Cli(f"sqlite:///{folder}/birds.db", folder.parent)
    cli.ok("migrate")
    cli.ok("sync", "shop:bird", "--url", str(cli.url))
    cli.live_worker({"digest": {"queue": "default", "schema": {"type": "object"}}})
    yield cli


@pytest.fixture
def ways(folder: Path) -> Iterator[tuple[Way, Way]]:
    """To two stores of the same making: to one directly, to the other by a server."""
    Cli(None, folder).write("shop", APP)
    (folder / "shop.toml").write_text(FILE)
    (folder / "wrong.toml").write_text(FILE.replace("retries", "retires"))
    with shop(folder / "here") as here, shop(folder / "there") as there:
        assert there.url is not None
        # Both have one, so that both list one.
        asyncio.run(make_token(str(here.url)))
        token = asyncio.run(make_token(there.url))
        with serving(there.url) as server:
            yield Way(here), Way(there, "--server", server, "--token", token)


async def log_in(client: StoreClient, _: Store, token_id: str) -> None:
    """What a server does for a browser."""
    await open_session(client.store, token_id)


@pytest.mark.parametrize("part", SCRIPTS)
def test_script_has_the_same_output_through_a_server(ways: tuple[Way, Way], part: str) -> None:
    apart = []
    for line in SCRIPTS[part].strip().splitlines():
        told = [(said.code, plain(said.err), plain(said.out)) for said in (way(line) for way in ways)]
        # Nothing that went wrong by itself counts as the same.
        if told[0] != told[1] or "unexpected" in told[0][1]:
            apart.append((line, *told))
    assert apart == [], "\n".join(map(str, apart[0]))


def test_the_same_documents(ways: tuple[Way, Way]) -> None:
    here, there = ways
    (here.cli.folder / "mine.toml").write_text('app = "ops"\n[schedules.digest]\nevery = "1h"\ntask = "x"\n')
    (here.cli.folder / "broken.toml").write_text("[schedules")
    files = [f"{verb} -f {name}.toml" for name in ("mine", "broken", "wrong", "shop") for verb in ("diff", "apply")]
    refused = ["show digets", "runs 999", "resume digest", "set digest priority=9000", *files]
    for line in (
        *refused,
        "show digest",
        "runs",
        "preview digest",
        "trigger digest",
        "zones",
        "revisions digest",
        "verify",
    ):
        told = [json.loads(plain(way(line, "--json").out)) for way in (here, there)]
        assert told[0] == told[1], line


def test_a_revoked_token_takes_its_sessions_along_either_way(ways: tuple[Way, Way]) -> None:
    for way in ways:
        made = [way(f"token create {name} --role viewer", "--json").json["id"] for name in ("bo", "cy", "di")]
        for opened in (made[0], made[0], made[1]):
            way.cli.store(partial(log_in, token_id=opened))
        listed = {each["name"]: each["sessions"] for each in way("token list", "--json").json["tokens"]}
        assert {name: listed[name] for name in ("bo", "cy", "di")} == {"bo": 2, "cy": 1, "di": 0}
        row = next(line for line in way("token list").out.splitlines() if line.startswith(made[0]))
        assert row.split()[:7] == [made[0], "bo", "viewer", "default", "live", "never", "never"]
        assert row.split()[7] == "2"
        assert way("token revoke bo").out == f"Token {made[0]} (bo) is revoked, which ends 2 open sessions.\n"
        assert way(f"token revoke {made[0]}").out == f"Token {made[0]} (bo) is revoked.\n"
        assert way("token revoke cy", "--json").json["sessions_ended"] == 1
        assert way("token revoke di").out == f"Token {made[2]} (di) is revoked.\n"
        assert way.cli.store(lambda client, _: client.sessions.list(live=True)) == []


@pytest.mark.parametrize(
    "command", ["migrate", "sync shop:bird", "worker shop:bird", "dev shop:bird", "server", "doctor --prove"]
)
def test_commands_that_need_the_store_are_refused_over_http(bare: Cli, command: str) -> None:
    said = bare.refused(2, *command.split(), "--server", "http://127.0.0.1:1")
    assert said == (
        "this command needs the store itself and does not work through a server. "
        "Run it on a machine that can reach the store, with --url."
    )
    assert list(bare.folder.iterdir()) == []


def test_which_way(bare: Cli) -> None:
    away = {"TICKBIRD_SERVER": "http://127.0.0.1:1"}
    assert "both set. Choose with --server or --url." in bare.refused(2, "ls", TICKBIRD_URL="sqlite:///x.db", **away)
    assert "Give one of them" in bare.refused(2, "ls", "--url", "sqlite:///x.db", "--server", "http://h")
    assert "there is no database file" in bare.refused(5, "ls", "--url", "sqlite:///x.db", **away)
    assert "this command needs the store itself" in bare.refused(2, "migrate", **away)
    for said in (bare.refused(5, "ls", **away), bare.refused(5, "ls", "--url", "http://127.0.0.1:1")):
        assert said.startswith("server http://127.0.0.1:1 cannot be reached")
    assert "is not the URL of a server" in bare.refused(2, "ls", "--server", "host")
    said = bare.refused(2, "ls", "--server", "http://127.0.0.1:1", "--token", "hunter2")
    assert "is not a Tickbird token" in said
    assert "hunter2" not in said
    assert "--token is empty" in bare.refused(2, "ls", "--server", "http://h", "--token", "")


def test_insufficient_role_is_refused(ways: tuple[Way, Way]) -> None:
    there = ways[1]
    token = there.cli.ok("token", "create", "eve", "--role", "viewer", "--json").json["token"]
    server = there.options[1]
    given = ("--server", server, "--token", token)
    assert "digest" in there.cli.ok("ls", *given, TICKBIRD_URL="").out
    said = there.cli.refused(5, "pause", "digest", "--note", "x", *given, TICKBIRD_URL="")
    assert said == (
        "This request needs the role operator, but the token 'eve' has the role viewer. "
        "Use a token with the role operator. An admin creates one with `tickbird token create`."
    )
    said = there.cli.refused(5, "ls", "--server", server, TICKBIRD_URL="")
    assert said.startswith("the server requires a token. Create one with `tickbird token create`")
    assert "TICKBIRD_TOKEN" in said


def test_default_namespace_is_the_same_over_http(ways: tuple[Way, Way]) -> None:
    """Where the token opens it, alone or among others; else one has to be named."""
    there = ways[1]

    def with_token(*namespaces: str) -> tuple[str, ...]:
        made = there.cli.ok("token", "create", "eve", "--role", "viewer", "--json", *namespaces)
        return ("--server", there.options[1], "--token", made.json["token"])

    for opened in (("--all-namespaces",), ("-n", "billing,default"), ("-n", "default")):
        given = with_token(*opened)
        assert there.cli.ok("ls", "--json", *given, TICKBIRD_URL="").json["schedules"][0]["namespace"] == "default"
        assert "needs the role operator" in there.cli.refused(
            5, "pause", "digest", "--note", "x", *given, TICKBIRD_URL=""
        )
    said = there.cli.refused(2, "ls", *with_token("-n", "billing,mail"), TICKBIRD_URL="")
    assert "this token is for 2 namespaces: billing, mail. Name one:" in said
