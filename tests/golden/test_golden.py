"""Golden files: the help of every command, the shape of every --json document, and the OpenAPI description.

A test fails if one of them changes. If the change is intended, write them with `GOLDEN=write ./dev test
tests/golden`, read the diff, and name every renamed option, field or route in CHANGELOG.md.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import reduce
from pathlib import Path
from typing import Any

import click
import httpx
import pytest

from conformance.events import steps
from tests.cli.conftest import APP, Cli, Said
from tests.client.http.servers import serving
from tickbird.cli import root
from tickbird.client import Client
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.runs.logs import LogLine
from tickbird.domain.runs.run import Outcome
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.triggers.every import every
from tickbird.domain.workers import Worker
from tickbird.store.protocol.store import Store

FOLDER = Path(__file__).parent
CALENDAR = """BEGIN:VCALENDAR
BEGIN:VEVENT
UID:1
SUMMARY:Close the month
DTSTART;TZID=Europe/Rome:20260130T023000
RRULE:FREQ=DAILY
EXDATE;TZID=Europe/Rome:20260131T023000
END:VEVENT
END:VCALENDAR
"""
FILE = """
app = "shop"

[schedules.report]
cron = "0 6 * * *"
task = "digest"
retries = 2

[limits]
warehouse = 3
"""
CRONTAB = "0 3 * * * root /usr/local/bin/backup --full\n"
CRONJOB = """
apiVersion: batch/v1
kind: CronJob
metadata: {name: backup}
spec:
  schedule: "0 3 * * *"
  jobTemplate: {spec: {template: {spec: {containers: [{name: backup, image: backup, command: [/backup]}]}}}}
"""
# The commands that never end by themselves, or need another system.
ENDLESS = {"dev", "worker", "server", "import apscheduler", "import celery-beat", "import django-celery-beat"}
# One after the other, on one store. X is the id of the newest run, B of the newest backfill. A line in capitals stands
# for what a worker does.
SCRIPT = """
migrate
sync shop:bird
adopt shop:bird --yes
ls
show digest
show nothing
why digest 2035-06-01T13:00:00Z
why etl
preview --cron 5_4_*_*_* -c 1
simulate --from 2035-06-01T00:00:00Z --days 1
simulate -f shop.toml --from 2035-06-01T00:00:00Z --days 2 --outage 2035-06-01T02:00:00Z/2h --slots 1
trigger digest
runs
runs X
logs X
why digest
WORK
runs X
logs X
trigger digest
cancel X --reason no
retry X
pause etl --note x
ls --state paused
resume etl
pause --all -y --note x
resume --all -y
trigger --all -y
reschedule etl 2h
skip etl -c 2
override digest 2035-06-01T13:00:00Z --skip
override digest --list
override digest --undo 2035-06-01T13:00:00Z
set etl retries=2
set etl retires=2
roll-back etl --to 1
revisions etl
zones
limit set warehouse 3
limits
limit rm warehouse
queue mail --rate 5/s
queue mail
queues
events publish orders.paid Paid --key 42 --id 00000000-0000-0000-0000-000000000001
events ls
events show 00000000-0000-0000-0000-000000000001
CONSUME
events why 00000000-0000-0000-0000-000000000001
consumers ls
consumers show billing
consumers copy billing test --position 0
consumers seek test --position 0 -y
consumers stop test --reason x
consumers resume test
consumers rm test -y
dead-letters ls
dead-letters show 1
dead-letters replay 1
dead-letters approval on
dead-letters repair 1 --data {}
dead-letters approve 1 --actor bo
dead-letters skip 1 -y
START
workers
drain w1
leader
ELECT
leader
leader --resign
HOLD
held
held late
release late --count 2
drop late -y
LOSE
undecided
resolve X yes
why late
verify late
backfill digest --from 2026-01-05T00:00:00Z --to 2026-01-06T00:00:00Z -y --detach
backfills
backfills B
calendar put closed --date 2035-12-25
calendar ls
calendar show closed
calendar preview closed --date 12-24
calendar rm closed
token create bot --role viewer
token list
token revoke bot
tail --since -2d --no-follow
diff -f shop.toml
apply -f shop.toml
preview report -c 2
apply -f wrong.toml
export --all --format json
schema
set etl shadow=true
shadow ping etl
shadow report --pings
import crontab crontab
import kubernetes job.yaml
import ical calendar.ics
import pg_cron jobs.csv
import light-portal schedules.csv
completion bash
doctor
rm etl -y
"""
_WORD = re.compile(r"[a-z][a-z_-]{0,30}")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)")


def shape(value: Any, key: str = "") -> Any:
    """A document without what differs from call to call: keys and single words stay, other values become their type."""
    match value:
        case dict():
            return {name: shape(member, name) for name, member in value.items()}
        case list() if key == "notes":
            return "TEXTS about clock changes"
        case list():
            return [reduce(merge, (shape(member) for member in value))] if value else []
        case bool() | None:
            return value
        case int() | float():
            return "NUMBER"
        case str() if _WORD.fullmatch(value) and key not in ("actor", "app", "file_system", "id", "name", "schedule"):
            return value
        case str() if _INSTANT.fullmatch(value):
            return "INSTANT"
        case _:
            return "TEXT"


def merge(one: Any, other: Any) -> Any:
    """The shape of two members of a list."""
    match one, other:
        case dict(), dict():
            names = [*one, *(name for name in other if name not in one)]
            return {
                name: merge(one[name], other[name]) if name in one and name in other else {**one, **other}[name]
                for name in names
            }
        case list(), list():
            return [reduce(merge, one + other)] if one + other else []
        case _:
            kinds = {
                kind
                for member in (one, other)
                for kind in (member if isinstance(member, str) else json.dumps(member)).split(" or ")
            }
            return one if one == other else " or ".join(sorted(kinds))


def compare(name: str, text: str) -> None:
    """Compare with a golden file, or write it if $GOLDEN says so."""
    path = FOLDER / name
    if os.environ.get("GOLDEN") == "write":
        path.write_text(text)
    assert text == path.read_text(), f"{name} changed; see the top of tests/golden/test_golden.py"


def commands(group: click.Group = root, path: str = "") -> Iterator[str]:
    """Every command by what is typed."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        typed = f"{path} {name}".strip()
        yield typed
        if isinstance(command, click.Group):
            yield from commands(command, typed)


@pytest.fixture
def shop(folder: Path) -> Cli:
    """An empty folder with an app and files."""
    cli = Cli(f"sqlite:///{folder}/birds.db", folder)
    cli.write("shop", APP)
    for name, text in {
        "shop.toml": FILE,
        "wrong.toml": FILE.replace("retries", "retires"),
        "crontab": CRONTAB,
        "jobs.csv": "jobid,schedule,command\n1,0 3 * * *,SELECT cleanup()\n",
        "schedules.csv": (
            "schedule_name,frequency_unit,frequency_time,start_ts,event_topic,event_type,event_data\n"
            "sync,MINUTES,5,2026-01-01 00:00:00+00,portal-event,SyncDue,{}\n"
        ),
        "calendar.ics": CALENDAR,
        "job.yaml": CRONJOB,
    }.items():
        (folder / name).write_text(text)
    return cli


def test_help(bare: Cli) -> None:
    pages = [("", bare.ok("--help").out)]
    pages += [(typed, bare.ok(*typed.split(), "--help").out) for typed in commands()]
    compare("help.txt", "".join(f"$ tickbird {typed} --help\n{page}\n" for typed, page in pages))


def test_documents(shop: Cli) -> None:
    documents, called = {}, set()
    typed = sorted(commands(), key=len, reverse=True)
    for line in SCRIPT.strip().splitlines():
        if line.isupper():
            shop.store(WORKER[line])
            continue
        said = shop(*(_word(shop, word) for word in line.split()), "--json")
        called.add(next(command for command in typed if f"{line} ".startswith(f"{command} ")))
        documents[line] = {"exit_code": said.code, "document": shape(_documents(said))}
    groups = {command for command in typed if any(other.startswith(f"{command} ") for other in typed)}
    assert set(typed) - groups - ENDLESS == called - groups
    compare("documents.json", json.dumps(documents, indent=1) + "\n")


W1 = Worker(
    id="w1",
    namespace="default",
    app="shop",
    host="h",
    pid=1,
    version="0",
    queues=("default",),
    slots=1,
    tasks={"digest": {"queue": "default", "schema": {"type": "object"}}},
)


async def _work(_: Client, store: Store) -> None:
    """Execute the one queued run, which logs a line."""
    [run] = (await store.leases.claim(W1, 1, 60, queues=["default"], targets=[("task", "digest")])).runs
    line = LogLine(run.id, run.attempt, 1, datetime.now(UTC), 20, "Half of it is done")
    await store.logs.write([line], [])
    await store.leases.finish([Outcome(run.id, run.attempt, "succeeded", {"sent": 3})])


async def _hold(client: Client, store: Store) -> None:
    """Plan an hourly schedule after a night, which holds its runs."""
    definition = Definition(trigger=every(hours=1), target=Target("report"), catch_up="all", hold_above=5)
    command = Create(actor="ana", namespace="default", definition=definition)
    then = (await client.system.now()).replace(minute=30) - timedelta(hours=2)
    await store.schedules.change("default", "late", command, now=then - timedelta(hours=10))
    await store.planning.plan_due(now=then)


async def _start(_: Client, store: Store) -> None:
    """Report a worker, and no other one: `sync` may still be listed as one, or not any more."""
    for worker in await store.workers.list("default"):
        await store.workers.remove(worker.id)
    await store.workers.heartbeat(W1, 3_600)


async def _consume(_: Client, store: Store) -> None:
    """A group whose consumer fails."""
    await steps.declare(store)
    await steps.consume(store, fails=lambda _: True)


async def _elect(_: Client, store: Store) -> None:
    """A leader."""
    await store.leadership.elect(W1, 600)


async def _lose(client: Client, store: Store) -> None:
    """Lose the worker of a run that is asked about."""
    await client.runs.enqueue("digest", {}, crash_limit=-3, queue="lost", actor="ana", unknown_task_ok=True)
    await store.leases.claim(W1, 1, 0.001, queues=["lost"], targets=[("task", "digest")])
    await store.leases.rescue(now=await client.system.now() + timedelta(seconds=1))


WORKER = {"ELECT": _elect, "CONSUME": _consume, "WORK": _work, "HOLD": _hold, "LOSE": _lose, "START": _start}


def _documents(said: Said) -> Any:
    """The one document, or the lines of a feed."""
    lines = said.out.splitlines()
    return said.json if len(lines) == 1 or not lines[0].endswith("}") else [json.loads(line) for line in lines]


def _word(shop: Cli, word: str) -> str:
    match word:
        case "X":
            return str(max(run["id"] for run in shop.ok("runs", "--json").json["runs"]))
        case "B":
            return str(max(backfill["id"] for backfill in shop.ok("backfills", "--json").json["backfills"]))
        case _:
            return word.replace("_", " ") if "*" in word else word


def test_openapi(shop: Cli) -> None:
    shop.ok("migrate")
    token = shop.ok("token", "create", "bot", "--role", "viewer", "--json").json["token"]
    with serving(str(shop.url)) as server:
        answer = httpx.get(f"{server}/api/v1/openapi.json", headers={"Authorization": f"Bearer {token}"})
    document = answer.raise_for_status().json()
    document["info"]["version"] = "VERSION"
    compare("openapi.json", json.dumps(document, indent=1, sort_keys=True) + "\n")


def test_shape_keeps_keys_and_words() -> None:
    value = {"at": "2035-01-01T00:00:00Z", "runs": [{"id": 1, "by": "x"}, {"id": 2, "by": None}], "text": "Two words"}
    assert shape(value) == {"at": "INSTANT", "runs": [{"id": "NUMBER", "by": "null or x"}], "text": "TEXT"}
