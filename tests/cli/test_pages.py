"""The page of help of every command: there, well made, and each of its examples tried."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
import pytest

from conformance.events import steps
from conformance.steps import a_worker
from tests.cli.conftest import APP, Cli
from tickbird.cli import root
from tickbird.cli.help import Page, page_of
from tickbird.client import Client
from tickbird.domain.triggers.cron.cron import cron
from tickbird.store.protocol.store import Store

FILE = 'app = "shop"\n\n[schedules.report]\ncron = "0 6 * * *"\ntask = "digest"\n'
CRONTAB = "0 3 * * * root /usr/local/bin/backup --full\n"
CRONJOB = """
apiVersion: batch/v1
kind: CronJob
metadata: {name: backup}
spec:
  schedule: "0 3 * * *"
  jobTemplate: {spec: {template: {spec: {containers: [{name: backup, image: backup, command: [/backup]}]}}}}
"""
SHIFTS = """\
BEGIN:VCALENDAR
VERSION:2.0
BEGIN:VEVENT
UID:1
SUMMARY:Night shift
DTSTART:20270101T220000
RRULE:FREQ=WEEKLY
END:VEVENT
END:VCALENDAR
"""
BEAT = 'from celery import Celery\napp = Celery()\napp.conf.beat_schedule = {"a": {"task": "a", "schedule": 60.0}}\n'
JOBS = "jobid,schedule,command,database\n1,0 3 * * *,SELECT cleanup(),shop\n"
SCHEDULES = (
    "schedule_name,frequency_unit,frequency_time,start_ts,event_topic,event_type,event_data\n"
    "sync,MINUTES,5,2026-01-01 00:00:00+00,portal-event,SyncDue,{}\n"
)
# They go on until they are ended, prove by faults, or need another system; that they parse is all that is tried.
ONLY_PARSED = (
    "dev",
    "worker ",
    "server",
    "--follow",
    "--wait",
    "--prove",
    "--trust-",
    "django-celery-beat",
    "pg_cron postgresql:",
    "light-portal postgresql:",
    "migrate --roles --url",
    "tail --schedule",
    "shadow report",
    "--watch",
)
# What ends with another code than 0: it tells something by it, nobody can be asked, or nothing is held.
CODES = {
    "tickbird diff": 1,
    "tickbird doctor": 1,
    "tickbird rm digest --": 0,
    "tickbird rm digest": 2,
    "tickbird drop digest --": 4,
    "tickbird drop digest": 2,
    "tickbird consumers rm billing-test --": 0,
    "tickbird consumers rm": 2,
    "tickbird release": 4,
}


def commands(group: click.Group = root, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command by what is typed, also those of groups."""
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        found = group.get_command(ctx, name)
        assert found is not None
        yield f"{path}{name}", found
        if isinstance(found, click.Group):
            yield from commands(found, f"{path}{name} ")


PAGES = {name: page_of(name) for name, _ in commands()}
EXAMPLES = [(name, line) for name, page in PAGES.items() for _, line in page.examples]


@pytest.mark.parametrize("name", PAGES)
def test_every_command_has_a_page(bare: Cli, name: str) -> None:
    page = PAGES[name]
    assert 2 <= len(page.examples) <= 4, f"cli/help/{name.replace(' ', '-')}.txt has {len(page.examples)} examples"
    assert page.codes
    assert all(code.isdigit() and meaning.endswith(".") for code, meaning in page.codes)
    shown = bare.ok(*name.split(), "--help").out
    for said, line in page.examples:
        # Those of a group may show what goes with it.
        assert line.startswith(f"tickbird {name}") or name == "import", line
        assert f"\n  # {said}\n  {line}\n" in shown
        assert len(said) < 80
    for title in ("\nOptions of every command:\n", "\nExamples:\n", "\nExit codes:\n"):
        assert title in shown
    for other in page.see:
        assert other in PAGES, f"{name} names {other}, which is no command"
        assert other != name


def test_every_page_is_of_a_command() -> None:
    known = {f"{name.replace(' ', '-')}.txt" for name in PAGES}
    assert {each.name for each in files("tickbird.cli.help").iterdir() if each.name.endswith(".txt")} == known
    assert page_of("nothing") == Page()


def test_every_example_parses() -> None:
    for _, line in EXAMPLES:
        program, *args = shlex.split(line)
        assert program == "tickbird"
        command: click.Command = root
        ctx = click.Context(root, info_name="tickbird")
        while isinstance(command, click.Group):
            found = command.get_command(ctx, args.pop(0))
            assert found is not None, line
            command = found
        # Whatever cannot be understood is raised here.
        command.make_context(command.name, args, parent=ctx)


async def fill(client: Client, store: Store) -> dict[str, str]:
    """Something of everything that examples speak of; what stands for it in them."""
    await client.calendars.put("holidays", {"weekdays": ["sat"]}, actor="ana")
    await client.limits.set("warehouse", 2, actor="ana")
    await client.queues.set_rate("gpu", "5/min", actor="ana")
    await client.tokens.create("phone", "viewer", actor="ana")
    run = await client.schedules.trigger("digest", actor="ana")
    now = await client.system.now()
    await client.backfills.create("etl", now - timedelta(days=3), now - timedelta(days=1), actor="ana")
    [backfill] = await client.backfills.list()
    await client.schedules.update("digest", actor="ana", timeout="9m")
    event, *_ = [await client.events.publish("orders.paid", "OrderPaid", key="42", actor="ana") for _ in range(3)]
    await steps.declare(store)
    await steps.consume(store, fails=lambda _: True)
    [letter] = await client.dead_letters.list(state="failed")
    lost = await client.runs.enqueue("digest", {}, crash_limit=-3, queue="lost", actor="ana", unknown_task_ok=True)
    await store.leases.claim(a_worker("web-2"), 1, 0.001, queues=["lost"], targets=[("task", "digest")])
    await store.leases.rescue(now=now + timedelta(minutes=1))
    return {
        "1042": str(run.id),
        "resolve 1042": f"resolve {lost}",
        "2b1c6c8e-5f3b-4c55-9d0e-0f6f6a1f0f11": str(event.id),
        "--cancel 7": f"--cancel {backfill.id}",
        "--position 120": "--position 2",
        "--after 50": "--after 1",
        **{f"{verb} 7": f"{verb} {letter.id}" for verb in ("show", "replay", "skip", "repair", "approve")},
    }


async def propose(client: Client, letter_id: int) -> None:
    """A repair by another person than the one who approves it."""
    await client.dead_letters.set_approval(True, actor="root")
    await client.dead_letters.repair(letter_id, {"total": 10}, actor="bo")


# What must have happened before an example makes sense.
BEFORE: dict[str, Callable[[Client, dict[str, str]], Any]] = {
    "resume": lambda client, _: client.schedules.pause("digest", actor="ana", note="x"),
    "retry": lambda client, ids: client.runs.cancel(int(ids["1042"]), actor="ana"),
    "consumers rm": lambda client, _: client.consumers.copy("billing", "billing-test", 0, actor="ana"),
    "consumers resume": lambda client, _: client.consumers.stop("billing", actor="ana"),
    "leader": lambda client, _: client.store.leadership.elect(a_worker("web-1"), 600),  # type: ignore[attr-defined]
    "dead-letters approve": lambda client, ids: propose(client, int(ids["show 7"].removeprefix("show "))),
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, migrated_file: Path) -> tuple[Path, dict[str, str]]:
    """A folder with a store and files, to be copied, and what ids are in it."""
    folder = tmp_path_factory.mktemp("filled")
    shutil.copy(migrated_file, folder / "tickbird.db")
    cli = Cli(f"sqlite:///{folder}/tickbird.db", folder)
    cli.create("digest", trigger=cron("0 9 * * 1-5", "America/New_York"), tags=["mail"])
    cli.create("etl", trigger=cron("30 2 * * *", "Europe/Rome"), queue="gpu")
    cli.live_worker({})
    ids = cli.store(fill)
    app = f'{APP}\n    bird.schedule("refresh_cache", etl, every(minutes=5), durable=False)\n'
    cli.write("myapp", app.replace('app="shop"', 'app="other"').replace("digest", "other").replace("etl", "night"))
    (folder / "schedules").mkdir()
    for file in ("schedules.toml", "schedules/shop.toml"):
        (folder / file).write_text(FILE)
    sources = {
        "crontab": CRONTAB,
        "cronjobs.yaml": CRONJOB,
        "settings.py": BEAT,
        "shifts.ics": SHIFTS,
        "jobs.csv": JOBS,
        "order.json": '{"total": 10}',
        "schedules.csv": SCHEDULES,
    }
    for name, text in sources.items():
        (folder / name).write_text(text)
    return folder, ids


def in_one_pass(text: str, replacements: dict[str, str]) -> str:
    """Replace the examples; what was put in, such as a random id, is never replaced again."""
    examples = re.compile("|".join(re.escape(example) for example in sorted(replacements, key=len, reverse=True)))
    return examples.sub(lambda found: replacements[found[0]], text)


RUN = [(name, line) for name, line in EXAMPLES if not any(part in line for part in ONLY_PARSED)]


@pytest.mark.parametrize("name,line", RUN, ids=[line for _, line in RUN])
def test_help_examples_run(filled: tuple[Path, dict[str, str]], folder: Path, name: str, line: str) -> None:
    shutil.copytree(filled[0], folder, dirs_exist_ok=True)
    cli = Cli(f"sqlite:///{folder}/tickbird.db", folder)
    if name in BEFORE:
        cli.store(lambda client, _: BEFORE[name](client, filled[1]))
    if "export --app" in line:
        assert cli("apply", "-f", "schedules.toml").code == 0
    typed = in_one_pass(line, {"/etc/crontab": "crontab", **filled[1]})
    stdin = "y\n"
    if " - " in f"{typed} ":
        stdin = CRONJOB if "kubernetes" in typed else CRONTAB.replace(" root", "")
    said = cli(*shlex.split(typed)[1:], stdin=stdin)
    assert said.code == next((code for start, code in CODES.items() if line.startswith(start)), 0), said
