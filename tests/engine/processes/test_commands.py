"""Commands: real programs, how they end, and that nothing of them outlives their runs or their worker."""

from __future__ import annotations

import json
import logging
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.engine.processes.app import MARK
from tests.engine.processes.conftest import QUICK, Place, leftovers, until, working
from tickbird import DefinitionError, InvalidError, Tickbird, command, cron
from tickbird.domain.planning.commands.define import Update
from tickbird.domain.runs.logs import MAX_BYTES, MAX_LINES, LogLine
from tickbird.domain.runs.run import NewRun, RunRecord
from tickbird.domain.schedules.codec import encode_field
from tickbird.domain.schedules.definition import Target
from tickbird.domain.targets.command import CommandSpec
from tickbird.domain.targets.target import target_of
from tickbird.targets.command import Command, allowed

ROOT = Path(__file__).resolve().parents[3]
DAILY = cron("0 3 * * *")
# A process that ignores SIGTERM and can be found without its parents and environment.
SLEEPER = f"(trap '' TERM; exec env -i /bin/sleep 600.{MARK})"


class Commands:
    """A worker that allows some programs."""

    def __init__(self, place: Place) -> None:
        self.place, self.client, self._made = place, place.client, 0

    async def send(self, program: CommandSpec, **options: Any) -> int:
        """Run a command of a new schedule."""
        self._made += 1
        name = f"c{self._made}"
        await self.client.schedules.create(name, DAILY, program, actor="test", **options)
        return (await self.client.schedules.trigger(name, actor="test")).id

    async def run(self, program: CommandSpec, **options: Any) -> RunRecord:
        """The same, once it is final."""
        return await self.place.final(await self.send(program, **options))

    async def lines(self, run: RunRecord) -> list[str]:
        """Its printed lines."""
        return [line.text for line in await self.log(run)]

    async def log(self, run: RunRecord) -> list[LogLine]:
        """Its printed lines, as stored."""
        found: list[LogLine] = []
        while more := await self.client.runs.logs(run.id, after=_last(found), limit=10_000):
            found += more
        return found


def _last(lines: list[LogLine]) -> tuple[int, int]:
    return (lines[-1].attempt, lines[-1].number) if lines else (0, 0)


def allowing(tmp_path: Path, *programs: str, variables: tuple[str, ...] = ()) -> Tickbird:
    """An app whose workers start these programs and a shell, and let definitions set these variables."""
    return Tickbird(f"sqlite:///{tmp_path}/commands.db", commands=["/bin/sh", *programs], command_env=variables)


@pytest.fixture
async def commands(tmp_path: Path) -> AsyncIterator[Commands]:
    """A worker that allows a shell, and programs of the test's own folder."""
    programs = (sys.executable, f"{tmp_path}/missing", f"{tmp_path}/text")
    variables = ("LEVEL", "PASSWORD", "BACKUP_*", "A", "NO_SUCH")
    async with working(allowing(tmp_path, *programs, variables=variables), slots=4) as place:
        yield Commands(place)


async def test_a_command_has_its_arguments_facts_environment_and_folder(
    commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BACKUP_PASSWORD", "hush")
    monkeypatch.setenv("NOT_ASKED_FOR", "secret")
    code = "import json, os, sys; print(json.dumps([sys.argv[1:], dict(os.environ), os.getcwd(), sys.stdin.read()]))"
    program = command(
        [sys.executable, "-c", code, "a b", "$HOME", "ü"],
        env={"PASSWORD": {"env": "BACKUP_PASSWORD"}, "LEVEL": "3"},
        folder=str(tmp_path),
        input="yes\n",
    )
    run = await commands.run(program, payload={"n": 1, "ü": None})
    assert (run.status, run.result, run.error) == ("succeeded", {"exit_code": 0}, None)
    [line] = await commands.lines(run)
    arguments, environment, folder, read = json.loads(line)
    assert (arguments, folder, read) == (["a b", "$HOME", "ü"], str(tmp_path), "yes\n")
    assert (environment["PASSWORD"], environment["LEVEL"]) == ("hush", "3")
    assert environment["TICKBIRD_RUN_ID"] == str(run.id)
    assert environment["TICKBIRD_SCHEDULE"] == run.schedule
    assert (environment["TICKBIRD_ATTEMPT"], environment["TICKBIRD_ORIGIN"]) == ("1", "manual")
    assert json.loads(environment["TICKBIRD_PAYLOAD"]) == {"n": 1, "ü": None}
    assert not {"NOT_ASKED_FOR", "BACKUP_PASSWORD", "PYTHONPATH", "TICKBIRD_SCHEDULED_FOR"} & {*environment}


@pytest.mark.parametrize(
    "name",
    [
        *(
            "BASH_ENV",
            "ENV",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "PYTHONPATH",
            "PYTHONSTARTUP",
            "PERL5OPT",
            "NODE_OPTIONS",
        ),
        *("PATH", "HOME", "IFS", "GIT_SSH_COMMAND", "LEVELS", "LEVE", "level", "BACKUP"),
    ],
)
async def test_a_definition_sets_no_variable_that_the_worker_does_not_list(
    commands: Commands, tmp_path: Path, name: str
) -> None:
    script, note = tmp_path / "text", tmp_path / "note"
    script.write_text(f"#!/bin/bash\ntouch {note}\n")
    script.chmod(0o755)
    for value in (f"$(touch {note})", {"env": "LEVEL"}):
        run = await commands.run(command([str(script)], env={name: value}))
        assert run.status == "failed"
        assert f"variable {name}: commands may not set it on this worker" in str(run.error)
        assert f"--allow-env {name}" in str(run.error)
    assert not note.exists()


async def test_a_definition_reads_no_variable_that_the_worker_does_not_list(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TICKBIRD_URL", "TICKBIRD_TOKEN", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "hush")
        run = await commands.run(command(shell="echo $A", env={"A": {"env": name}}))
        assert run.status == "failed"
        assert f"variable {name}: commands may not read it on this worker" in str(run.error)
        assert "hush" not in str(run.error)


@pytest.mark.parametrize("name", ["", "*", "A B", "A=1", "1A", "A*B", "TICKBIRD_URL", "TICKBIRD_*", "T*", 7])
def test_allowed_variables_must_be_valid_names(name: Any) -> None:
    with pytest.raises(InvalidError, match="command_env"):
        allowed(["/bin/sh"], [name])


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="only Linux shows the environment of a process")
async def test_a_keeper_has_nothing_of_the_environment_of_its_worker(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TICKBIRD_URL", "TICKBIRD_TOKEN", "DATABASE_URL", "ANYTHING_ELSE"):
        monkeypatch.setenv(name, "hush")
    run = await commands.run(command(shell="cat /proc/$PPID/environ | tr '\\0' '\\n'"))
    lines = await commands.lines(run)
    assert any(line.startswith("PATH=") for line in lines)
    assert not [line for line in lines if "hush" in line]


async def test_a_command_gets_its_tick_and_covered_ticks(commands: Commands) -> None:
    from datetime import UTC, datetime

    from tickbird.domain.runs.run import ClaimedRun, Covers
    from tickbird.targets.protocol import Run

    tick, last = datetime(2026, 3, 1, 3, tzinfo=UTC), datetime(2026, 3, 3, 3, tzinfo=UTC)
    await commands.client.schedules.create("nightly", DAILY, command(shell="true"), actor="test")
    definition = (await commands.client.schedules.get("nightly")).definition
    claimed = ClaimedRun(
        7, 2, 1, "/bin/sh", "catch_up", tick, {}, tick, Covers(tick, last, 3), 1, "nightly", definition
    )
    told = Command("/bin/sh").launch(Run(claimed)).env
    assert told["TICKBIRD_SCHEDULED_FOR"] == told["TICKBIRD_COVERS_FIRST"] == "2026-03-01T03:00:00Z"
    assert (told["TICKBIRD_COVERS_LAST"], told["TICKBIRD_COVERS_COUNT"]) == ("2026-03-03T03:00:00Z", "3")
    assert (told["TICKBIRD_ATTEMPT"], told["TICKBIRD_ORIGIN"]) == ("2", "catch_up")


async def test_a_failed_command_reports_exit_code_or_signal(commands: Commands) -> None:
    succeeded = await commands.run(command(shell="exit 24", success=[0, 24]))
    assert (succeeded.status, succeeded.result) == ("succeeded", {"exit_code": 24})
    failed = await commands.run(command(shell="echo first; echo disk is full >&2; exit 3"))
    assert (failed.status, failed.failure_kind) == ("failed", "raised")
    assert failed.error == "first\ndisk is full\n\n/bin/sh ended with exit code 3"
    # Python ignores this signal, and programs must not.
    assert await commands.lines(await commands.run(command(shell="yes | head -n 1"))) == ["y"]
    # A list of exit codes without 0 means that.
    assert (await commands.run(command(shell="exit 0", success=[1]))).status == "failed"
    killed = await commands.run(command(shell="kill -SEGV $$"))
    assert killed.error == "/bin/sh was killed by SIGSEGV"
    tried = await commands.run(command(shell="exit 1"), retries=1, backoff=0)
    assert (tried.status, tried.attempt, tried.failures) == ("failed", 2, 2)


async def test_a_command_that_cannot_start_reports_the_reason(commands: Commands, tmp_path: Path) -> None:
    text = tmp_path / "text"
    missing = await commands.run(command([f"{tmp_path}/missing"]))
    assert missing.error == f"there is no program {tmp_path}/missing on this machine"
    text.write_text("no program\n")
    assert f"{text} may not be executed: run `chmod +x`" in str((await commands.run(command([str(text)]))).error)
    text.chmod(0o755)
    assert "is not an executable of this machine" in str((await commands.run(command([str(text)]))).error)
    text.write_text("#!/no/such/interpreter\n")
    assert "the interpreter that the first line of" in str((await commands.run(command([str(text)]))).error)
    cases = [
        (command(shell="true", folder="/no/such/folder"), "cannot start in folder /no/such/folder: No such file"),
        (command(shell="true", user="no-such-user"), "there is no user no-such-user on this machine"),
        (command(shell="true", env={"A": {"env": "NO_SUCH"}}), "variable A: this worker's environment has no NO_SUCH"),
    ]
    for program, words in cases:
        run = await commands.run(program)
        assert (run.status, run.failure_kind) == ("failed", "raised")
        assert words in str(run.error)
    too_long = await commands.run(command(shell="true"), payload={"x": "y" * 200_000}, retries=3)
    assert (too_long.status, too_long.attempt) == ("failed", 1)
    assert "longer than 100,000 bytes" in str(too_long.error)


async def test_a_command_that_is_not_allowed_stays_queued_and_why_explains_it(commands: Commands) -> None:
    run_id = await commands.send(command(["/bin/echo", "hello"]))
    await commands.run(command(shell="true"))
    assert (await commands.client.runs.get(run_id)).status == "queued"
    client = commands.client
    tick = (await client.schedules.get("c1")).next_run_at
    assert tick is not None
    told = " ".join(step.text for step in (await client.ticks.why("c1", tick)).steps)
    assert "no live worker allows command /bin/echo" in told
    [finding] = [each for each in await client.system.doctor() if "/bin/echo" in each.text]
    assert "tickbird worker MODULE:APP --queues default --allow-command /bin/echo" in str(finding.fix)


async def test_a_run_that_names_another_program_than_its_revision_is_not_started(
    commands: Commands, tmp_path: Path
) -> None:
    # Possible by plain SQL: the row names an allowed program, the definition another one.
    await commands.client.schedules.create("odd", DAILY, command(["/bin/touch", f"{tmp_path}/touched"]), actor="test")
    run = await commands.client.schedules.trigger("odd", actor="test")
    with closing(sqlite3.connect(tmp_path / "commands.db", timeout=30)) as file, file:
        file.execute("UPDATE runs SET target = '/bin/sh' WHERE id = ?", (run.id,))
    ended = await commands.place.final(run.id)
    assert ended.status == "failed"
    assert "queued for /bin/sh, but its revision starts another program" in str(ended.error)
    assert not (tmp_path / "touched").exists()


async def test_output_is_bounded_and_may_be_binary(commands: Commands, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    much = await commands.run(command(shell=f"yes {'x' * 99} | head -c 10000000; yes z | head -c 2000000 >&2"))
    assert much.status == "succeeded", much.error
    log = await commands.log(much)
    assert len(log) <= MAX_LINES + 1
    assert sum(len(line.text) for line in log) <= MAX_BYTES + 1_000
    assert "log truncated" in log[-1].text
    odd = await commands.run(
        command(shell=r"printf 'a\000b\377\n'; printf 'no end of line'; printf '\r\n' >&2; exit 1")
    )
    assert sorted(await commands.lines(odd)) == ["", "a\\0b\\xff", "no end of line"]
    assert "a\\0b\\xff" in str(odd.error)
    levels = {line.text: line.level for line in await commands.log(odd)}
    assert (levels["no end of line"], levels[""]) == (logging.INFO, logging.WARNING)


async def test_a_time_out_ends_it_and_all_that_it_started(tmp_path: Path) -> None:
    async with working(allowing(tmp_path), options=replace(QUICK, lease=3.0)) as place:
        commands = Commands(place)
        daemon = f"setsid sh -c '{SLEEPER.replace(chr(39), chr(34))} &' & {SLEEPER} & sleep 600.{MARK}"
        run = await commands.run(command(shell=f"{daemon}; echo never"), timeout=1)
        assert (run.status, run.failure_kind) == ("failed", "timeout")
        assert not leftovers(), "it is told when all is gone"


async def test_orphans_of_a_command_are_killed_with_it(commands: Commands) -> None:
    run = await commands.run(command(shell=f"{SLEEPER} & setsid sleep 600.{MARK} & echo done"))
    assert (run.status, await commands.lines(run)) == ("succeeded", ["done"])
    assert not leftovers()


async def _cancelled(tmp_path: Path, shell: str, lease: float) -> None:
    """Cancel a command after it has written its file; the lease decides how soon it is killed."""
    async with working(allowing(tmp_path), options=replace(QUICK, lease=lease)) as place:
        run_id = await Commands(place).send(command(shell=shell))
        await until((tmp_path / "note").exists)
        await place.client.runs.cancel(run_id, actor="test")
        assert (await place.final(run_id)).status == "cancelled"
        assert not leftovers()


async def test_a_cancelled_command_gets_sigterm_first(tmp_path: Path) -> None:
    note = tmp_path / "note"
    polite = f"trap 'echo put away > {note}.gone; exit 0' TERM; touch {note}; sleep 600.{MARK} & wait"
    await _cancelled(tmp_path, polite, lease=30.0)
    assert (tmp_path / "note.gone").read_text() == "put away\n"


async def test_a_cancelled_command_that_does_not_listen_is_killed(tmp_path: Path) -> None:
    await _cancelled(tmp_path, f"trap '' TERM; touch {tmp_path}/note; while :; do sleep 1.{MARK}; done", lease=3.0)


async def test_a_drain_requeues_the_run(tmp_path: Path) -> None:
    bird, note = allowing(tmp_path), tmp_path / "note"
    async with working(bird, options=replace(QUICK, drain=0.1)) as place:
        run_id = await Commands(place).send(command(shell=f"touch {note}; sleep 600.{MARK}"))
        await until(note.exists)
    assert not leftovers()
    run = await (await bird.client()).runs.get(run_id)
    await bird.aclose()
    assert (run.status, run.reason, run.failures, run.crashes) == ("queued", "requeued: its worker was stopping", 0, 0)


async def test_a_killed_keeper_is_a_failed_run_and_nothing_is_left(commands: Commands, tmp_path: Path) -> None:
    note = tmp_path / "note"
    run_id = await commands.send(command(shell=f"sleep 600.{MARK} & echo $PPID > {note}; sleep 600.{MARK}"))
    await until(lambda: note.exists() and note.read_text().strip())
    os.kill(int(note.read_text()), signal.SIGKILL)
    run = await commands.place.final(run_id)
    assert "was killed from outside, together with its supervisor" in str(run.error)
    assert not leftovers()


async def test_commands_of_a_killed_worker_are_killed(tmp_path: Path) -> None:
    bird, note = allowing(tmp_path), tmp_path / "note"
    client = await bird.client()
    words = ["worker", "--url", bird.url, "--allow-command", "/bin/s[h]"]
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    started = [sys.executable, "-m", "tickbird", *words]
    worker = subprocess.Popen(started, cwd=ROOT, env={**os.environ, "PYTHONPATH": path})  # noqa: ASYNC220
    try:
        line = f"setsid sh -c '{SLEEPER.replace(chr(39), chr(34))} &'; {SLEEPER} & touch {note}; sleep 600.{MARK}"
        await client.schedules.create("long", DAILY, command(shell=line), actor="test", first="now")
        await until(lambda: note.exists() and len(leftovers()) >= 4)
    finally:
        worker.kill()
        worker.wait()
    await until(lambda: not leftovers())
    await bird.aclose()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts programs as another user")
async def test_it_runs_as_another_user(commands: Commands) -> None:
    run = await commands.run(command(shell='id -un; id -gn; echo "$USER $HOME"; pwd', user="nobody"))
    assert run.status == "succeeded", run.error
    assert await commands.lines(run) == ["nobody", "nogroup", "nobody /nonexistent", "/"]


async def test_an_edit_changes_a_task_to_a_command_and_back(commands: Commands) -> None:
    client = commands.client
    await client.schedules.create("either", DAILY, "digest", actor="test", unknown_task_ok=True)
    changed = await client.schedules.update(
        "either", actor="test", command=["/bin/sh", "-c", "true"], payload={"any": "thing"}
    )
    assert changed.definition_json["v"] == 2
    assert (
        await commands.place.final((await client.schedules.trigger("either", actor="test")).id)
    ).status == "succeeded"
    assert (await client.schedules.update("either", actor="test", task="digest")).definition_json["v"] == 1
    with pytest.raises(InvalidError, match="task and command: a schedule has only one target"):
        await client.schedules.update("either", actor="test", task="digest", command=["/bin/true"])
    with pytest.raises(InvalidError, match="target: it is both set and unset"):
        await client.schedules.update("either", actor="test", unset=["command"], command=["/bin/true"])
    target = encode_field("target", target_of(command(shell="true")))
    await commands.place.store.schedules.change("default", "either", Update(actor="test", fields={"target": target}))
    # A command without a schedule has nothing to start.
    [run_id] = await commands.place.store.runs.enqueue("default", [NewRun(Target("/bin/sh", "command"), {})], "test")
    assert "its revision starts another program" in str((await commands.place.final(run_id)).error)


def test_code_declares_commands() -> None:
    bird = Tickbird(commands="/bin/sh")
    bird.command("backup", ["/usr/local/bin/backup", "--full"], schedule=DAILY, retries=2, tags=["db"], user="backup")
    bird.command("report", shell="cd /srv && make", schedule=DAILY, payload={"n": 1})
    backup, report = bird.declarations.schedules["backup"], bird.declarations.schedules["report"]
    assert (backup.target.name, backup.retries, backup.tags) == ("/usr/local/bin/backup", 2, ("db",))
    assert report.target.spec == command(shell="cd /srv && make")
    assert (report.payload, [*bird.executables]) == ({"n": 1}, [("command", "/bin/sh")])
    with pytest.raises(DefinitionError, match="two schedules named 'backup'"):
        bird.command("backup", ["/bin/true"], schedule=DAILY)
    with pytest.raises(DefinitionError, match="is not a trigger"):
        bird.command("other", ["/bin/true"], schedule="0 3 * * *")  # type: ignore[arg-type]
    with pytest.raises(DefinitionError, match=r"is not an option of a schedule\. Did you mean retries"):
        bird.command("other", ["/bin/true"], schedule=DAILY, retry=1)


def test_programs_are_allowed_by_path_or_by_pattern(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert not allowed([])
    assert not allowed([f"{tmp_path}/*"])
    assert f"{tmp_path}/* allows no command" in caplog.text
    for name in ("one", "two"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "notes.txt").write_text("no program")
    (tmp_path / "folder").mkdir(mode=0o755)
    found = allowed([f"{tmp_path}/*", "/no/such/program"])
    assert [*found] == [f"{tmp_path}/one", f"{tmp_path}/two", "/no/such/program"]
    for wrong in ("backup", "bin/*", f"{tmp_path}/../x", "", 5):
        with pytest.raises(InvalidError, match=r"is not the full path of a program. Use, for example, /usr/bin/rsync"):
            allowed([wrong])  # type: ignore[list-item]


def test_a_harness_does_not_start_programs() -> None:
    from tickbird import PayloadError

    with pytest.raises(PayloadError, match="only worker processes start commands"):
        Command("/bin/sh").prepare(None)  # type: ignore[arg-type]
