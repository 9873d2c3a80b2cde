"""A kind of target of another package: installed by pip, defined in every way, executed, ignored without it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from conformance.steps import a_worker
from tickbird import ConflictError
from tickbird.client import StoreClient
from tickbird.stores import open_store

ROOT = Path(__file__).parents[3]
PLUG_IN = ROOT / "examples" / "tickbird_echo"
APP = """
from tickbird import Tickbird, every
from tickbird_echo import EchoSpec

bird = Tickbird(app="shop")
bird.schedule("from-code", EchoSpec("hello from code"), every(seconds=1))
"""
FILE = """
app = "files"

[schedules.from-file]
every = "1s"
echo = { text = "hello from a file" }
"""
WORDS = {
    "from-code": "hello from code",
    "from-file": "hello from a file",
    "from-api": "hello from the API",
    "from-page": "hello from a page",
    "from-client": "hello from a client",
}
pytestmark = pytest.mark.timeout(300)


@dataclass(frozen=True, slots=True)
class Machine:
    """A virtual environment with the plug-in, and a store."""

    python: Path
    folder: Path

    @property
    def url(self) -> str:
        return f"sqlite:///{self.folder}/birds.db"

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TICKBIRD_")}
        return {**kept, "TICKBIRD_URL": self.url, "PYTHONPATH": str(self.folder)}

    def run(self, *arguments: str) -> str:
        """What Python prints."""
        command = [str(self.python), *arguments]
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @contextmanager
    def running(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """A command of tickbird that goes on until the end of the block."""
        command = [str(self.python), "-m", "tickbird", *arguments]
        process = subprocess.Popen(command, cwd=self.folder, env=self.environment, stderr=subprocess.PIPE, text=True)
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
            assert process.stderr is not None
            process.stderr.close()


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """Tickbird and the plug-in, installed by pip; of this environment it has only what they depend on."""
    folder = tmp_path_factory.mktemp("machine")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    program = "import site; print(site.getsitepackages()[0])"
    found = subprocess.run([python, "-c", program], check=True, capture_output=True, text=True)
    # A path file is not read for other path files, so the checkout, which is installed by one, stays away.
    (Path(found.stdout.strip()) / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    options = ["--no-deps", "--no-index", "--no-build-isolation", "--quiet", "--disable-pip-version-check"]
    for package in (ROOT, PLUG_IN):
        subprocess.run([python, "-m", "pip", "install", *options, package], check=True)
    (folder / "shop.py").write_text(APP)
    (folder / "schedules.toml").write_text(FILE)
    return Machine(python, folder)


def hidden(page: str) -> dict[str, str]:
    """The hidden inputs of a form."""
    return dict(re.findall(r'<input type="hidden" name="(csrf|once)" value="([^"]*)">', page))


def define_over_http(machine: Machine) -> None:
    """One schedule by the API, one by the client, one by the form of a page."""
    token = json.loads(machine.run("-m", "tickbird", "token", "create", "ada", "--role", "editor", "--json"))["token"]
    with machine.running("server", "--port", "0") as server:
        assert server.stderr is not None
        address = next(match[0] for line in server.stderr if (match := re.search(r"http://127\.0\.0\.1:\d+", line)))
        with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}) as api:
            definition = {"trigger": {"every": {"seconds": 1}}, "target": {"echo": {"text": WORDS["from-api"]}}}
            created = api.post("/api/v1/schedules", json={"name": "from-api", "definition": definition})
            assert created.status_code == 201, created.text
            assert created.json()["schedule"]["definition"]["target"]["echo"]["channel"] == "main"
            wrong = {**definition, "target": {"echo": {"txt": 1}}}
            refused = api.post("/api/v1/schedules", json={"name": "wrong", "definition": wrong})
            assert refused.status_code == 422, refused.text
            assert "'txt' is not a field of an echo." in refused.json()["detail"]
        # A command line without the package shows the schedule as the server reads it.
        show = [sys.executable, "-m", "tickbird", "--server", address, "--token", token, "show", "from-api"]
        shown = subprocess.run(show, cwd=machine.folder, capture_output=True, text=True, check=True).stdout
        assert "from-api · Every second" in shown
        assert "ignored" not in shown
        assert "no live worker executes runs" in shown
        export = [*show[:-2], "export", "--all"]
        exported = subprocess.run(export, cwd=machine.folder, capture_output=True, text=True, check=False)
        assert exported.returncode == 1
        assert "not exported, because target kind 'echo' is not available here: from-api, from-code" in exported.stderr
        script = (
            "import asyncio; from tickbird import Tickbird, every; from tickbird_echo import EchoSpec\n"
            "async def create():\n"
            f"    async with Tickbird.connect({address!r}, token={token!r}) as client:\n"
            f"        spec = EchoSpec({WORDS['from-client']!r})\n"
            "        made = await client.schedules.create('from-client', every(seconds=1), spec, actor='ada')\n"
            "        print(made.definition.target.spec.text)\n"
            "asyncio.run(create())"
        )
        assert machine.run("-c", script).strip() == WORDS["from-client"]
        with httpx.Client(base_url=address, follow_redirects=True) as browser:
            browser.post("/login", data={"token": token, "next": "/schedules/new"}, headers={"Origin": address})
            page = browser.get("/schedules/new").text
            assert 'name="echo.text"' in page
            assert "Text to write to the log." in page
            assert 'name="command"' not in page, "which only admins define"
            typed = {"name": "from-page", "when": "every 1s", "tz": "UTC", "task": "", "echo.channel": ""}
            sent = {**hidden(page), **typed, "echo.text": WORDS["from-page"], "step": "save"}
            saved = browser.post("/schedules/new", data=sent, headers={"Origin": address})
            assert saved.status_code == 200, saved.text
            assert "main: hello from a page" in browser.get("/schedules/from-page").text


async def find_runs(machine: Machine, name: str) -> list[dict[str, Any]]:
    runs = json.loads(machine.run("-m", "tickbird", "runs", "--schedule", name, "--json"))["runs"]
    return [run for run in runs if run["status"] == "succeeded"]


async def test_a_kind_of_a_package_is_defined_in_every_way_and_executed(machine: Machine) -> None:
    machine.run("-m", "tickbird", "migrate")
    machine.run("-m", "tickbird", "sync", "shop:bird")
    machine.run("-m", "tickbird", "apply", "-f", "schedules.toml")
    define_over_http(machine)
    await check_ignored(machine)

    # Of a channel that this worker does not have, runs stay queued and are flagged.
    machine.run("-m", "tickbird", "set", "from-api", 'echo={"text": "elsewhere", "channel": "other"}')
    with machine.running("worker", "shop:bird"):
        deadline = time.monotonic() + 120
        waiting = set(WORDS) - {"from-api"}
        while waiting and time.monotonic() < deadline:
            waiting -= {name for name in waiting if await find_runs(machine, name)}
        assert not waiting
        listed = json.loads(machine.run("-m", "tickbird", "ls", "--json"))["schedules"]
        assert {row["name"]: row["problems"] for row in listed}["from-api"] == ["no live worker executes echo 'other'"]
    for name in set(WORDS) - {"from-api"}:
        run = (await find_runs(machine, name))[0]
        assert (run["target"], run["result"]) == ({"echo": "main"}, {"echo": WORDS[name]})
        assert WORDS[name] in machine.run("-m", "tickbird", "logs", str(run["id"]))


async def check_ignored(machine: Machine) -> None:
    """This process has no plug-in: it neither plans, parks nor changes these schedules, and says why."""
    store = open_store(machine.url)
    await store.open()
    try:
        client = StoreClient(store)
        for _ in range(3):
            planned = await store.planning.plan_due(limit=100)
            assert (planned.runs, planned.skips, planned.parked, planned.more) == (0, 0, (), False)
        claimed = await store.leases.claim(a_worker(), 10, 60, queues=["default"], targets=[("task", "main")])
        assert not claimed.runs
        for name in WORDS:
            schedule = await client.schedules.get(name)
            assert (schedule.state, schedule.error, schedule.definition) == ("active", None, None)
            assert schedule.definition_json["target"]["echo"]["text"] == WORDS[name]
        with pytest.raises(ConflictError, match="target kind 'echo' is not available here"):
            await client.schedules.trigger("from-api", actor="ada")
        answer = await client.ticks.why("from-api", await store.now())
        assert "target kind 'echo' is not available here" in str(answer)
    finally:
        await store.close()
