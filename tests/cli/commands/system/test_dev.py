"""dev: real processes; files are edited, and the new code runs."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import httpx
import pytest

from tests.cli.conftest import APP, Cli
from tickbird.cli.file_watcher import Watch, is_own, project_files

BEAT = """
    from pathlib import Path

    from tickbird import Tickbird, every

    from words import WORD

    bird = Tickbird("sqlite:///dev.db", app="beats")


    @bird.task(schedule=every(seconds=1))
    def beat() -> None:
        with Path("said").open("a") as file:
            file.write(f"{WORD} one\\n")
"""


class Talk:
    """What a process says on both of its streams, as it comes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.text = ""
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(target=self._read, args=(stream,), daemon=True)
            for stream in (process.stdout, process.stderr)
        ]
        for thread in self._threads:
            thread.start()

    def _read(self, stream: Iterator[str]) -> None:
        for line in stream:
            with self._lock:
                self.text += line

    def wait_for(self, words: str) -> None:
        """Until these words have been said."""
        until(lambda: words in self.text, lambda: self.text)

    def end(self, number: int = signal.SIGINT) -> int:
        """Stop it, and hear it out."""
        self.process.send_signal(number)
        code = self.process.wait(60)
        for thread in self._threads:
            thread.join(60)
        return code

    def close(self) -> None:
        """Let go of the streams, once nobody writes to them."""
        for thread in self._threads:
            thread.join(60)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


def until(condition: Callable[[], object], told: Callable[[], object]) -> None:
    """Until a condition holds, looking often."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, told()
        time.sleep(0.02)


@contextlib.contextmanager
def started(cli: Cli, *args: str, server: Sequence[str] = ("--no-server",)) -> Iterator[Talk]:
    """`tickbird dev` in a process of its own."""
    process = cli.start("dev", *args, *server)
    talk = Talk(process)
    try:
        yield talk
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(60)
        talk.close()


def said(word: str, more_than: int = 0) -> Callable[[], bool]:
    """Has the task written this word more often than so?"""
    return lambda: Path("said").exists() and Path("said").read_text().count(word) > more_than


def workers_of(folder: Path) -> list[str]:
    """The processes that work in a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and (entry / "cwd").readlink() == folder:
                line = (entry / "cmdline").read_bytes().decode()
                found += [line] if "dev_worker" in line else []
    return found


def test_an_edit_runs_and_a_mistake_does_not(bare: Cli) -> None:
    bare.write("words", 'WORD = "red"')
    bare.write("beats", BEAT)
    with started(bare, "beats:bird", server=("--port", "0")) as talk:
        until(said("red one"), lambda: talk.text)
        # The table is the last part of the first screen.
        talk.wait_for("SCHEDULE  TRIGGER")
        assert "· dev · beats:bird" in talk.text
        found = re.search(r"api +(http://127\.0\.0\.1:\d+/api/v1)\n", talk.text)
        assert found, talk.text
        served = found[1]
        answer = httpx.get(f"{served}/schedules", timeout=60).json()
        assert [each["name"] for each in answer["items"]] == ["beat"]
        assert httpx.get(f"{served}/schedules", headers={"Host": "evil.test"}, timeout=60).status_code == 403
        assert re.search(r"store +sqlite:///dev\.db", talk.text)
        assert re.search(r"tasks +beat", talk.text)
        assert re.search(r"watching +2 files in ", talk.text)
        # A module that the app imports.
        bare.write("words", 'WORD = "green"')
        talk.wait_for("words.py changed.")
        until(said("green one"), lambda: talk.text)
        # A mistake is shown, and the last good code goes on.
        bare.write("words", 'WORD = "blue')
        talk.wait_for("the previous code is still running. Waiting for a change.")
        talk.wait_for("words.py line 1")
        until(said("green one", Path("said").read_text().count("green one")), lambda: talk.text)
        bare.write("words", 'WORD = "blue"')
        until(said("blue one"), lambda: talk.text)
        # The app itself, with another schedule.
        bare.write("beats", BEAT.replace("} one", "} two") + "\n\n    @bird.task\n    def other() -> None: ...\n")
        talk.wait_for("Ready: 2 tasks, 1 schedule.")
        until(said("blue two"), lambda: talk.text)
        # It is served where it was, and whoever follows what happens holds nobody up.
        with httpx.stream("GET", f"{served}/activity/stream", timeout=60) as stream:
            lines = stream.iter_lines()
            assert next(lines).startswith("retry:")
            assert talk.end() == 0
            list(lines)
    assert talk.text.rstrip().endswith("Stopped.")
    assert workers_of(bare.folder) == []
    assert not list(bare.folder.rglob("*.pyc"))


def test_dev_requeues_long_runs_quickly(bare: Cli) -> None:
    text = """
        import time
        from pathlib import Path

        from tickbird import Tickbird, every

        bird = Tickbird("sqlite:///dev.db")


        @bird.task(schedule=every(seconds=1))
        async def slow() -> None:
            import asyncio

            Path("begun").touch()
            await asyncio.sleep(600)
    """
    bare.write("slow", text)
    with started(bare, "slow", "--drain", "1", "--json") as talk:
        until(Path("begun").exists, lambda: talk.text)
        Path("begun").unlink()
        bare.write("slow", text + "\n")
        until(Path("begun").exists, lambda: talk.text)
        assert talk.end() == 0
    lines = [json.loads(line) for line in talk.text.splitlines() if line.startswith("{")]
    assert [line["event"] for line in lines] == ["ready", "changed", "ready", "stopped"]
    assert lines[0]["tasks"] == ["slow"]
    assert lines[1]["files"] == ["slow.py"]


def test_an_app_that_does_not_import_at_first_is_waited_for(bare: Cli) -> None:
    bare.write("shop", "import nothing_of_that_name")
    with started(bare, "shop", "--url", "sqlite:///dev.db") as talk:
        talk.wait_for("nothing is running. Waiting for a change.")
        talk.wait_for("cannot be imported")
        bare.write("shop", APP)
        talk.wait_for("Ready: 2 tasks, 2 schedules.")
        assert talk.end(signal.SIGTERM) == 0


def test_a_store_that_cannot_be_used_at_the_start_ends_it(bare: Cli, postgres_url: str) -> None:
    bare.write("shop", APP)
    Path("folder").mkdir()
    for url, words in ((postgres_url, "Run `tickbird migrate`"), ("sqlite:///folder", "is a folder")):
        process = bare.start("dev", "shop", "--url", url)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 5, err
        assert words in err
        assert "The worker ended with exit code 5. The store cannot be used." in out
        assert "Traceback" not in err


def test_dev_reports_a_worker_that_ends_after_a_change(bare: Cli, postgres_url: str) -> None:
    bare.write("shop", APP)
    with started(bare, "shop") as talk:
        talk.wait_for("Ctrl-C ends it")
        bare.write("shop", APP.replace("Tickbird(", f"Tickbird({postgres_url!r}, "))
        talk.wait_for("The worker ended with exit code 5. Waiting for a change.")
        talk.wait_for("Run `tickbird migrate`")
        assert talk.end() == 0


@pytest.mark.parametrize(
    "args,code,words",
    [
        ((), 2, "name the app, such as `myapp:bird`"),
        (("nowhere",), 3, "there is no module 'nowhere'"),
        (("shop:nothing",), 3, "the module 'shop' has no 'nothing'"),
        (("shop.py",), 2, "Name the module, not its file"),
        (("shop", "--drain", "soon"), 2, "'soon' is not a duration"),
        (("shop", "--slots", "0"), 2, "0 is not in the range"),
        (("shop", "--url", "mysql://x"), 5, "is not the URL of a store"),
    ],
)
def test_dev_refuses(bare: Cli, args: tuple[str, ...], code: int, words: str) -> None:
    bare.write("shop", APP)
    process = bare.start("dev", *args, TICKBIRD_APP="")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (code, ""), err
    assert words in err
    assert "Traceback" not in err


def test_dev_worker_ends_with_its_parent(bare: Cli) -> None:
    bare.write("words", 'WORD = "red"')
    bare.write("beats", BEAT)
    with started(bare, "beats") as talk:
        until(said("red one"), lambda: talk.text)
        talk.process.kill()
        until(lambda: not workers_of(bare.folder), lambda: talk.text)


def test_which_files_are_the_projects_own(tmp_path: Path) -> None:
    for name in ("a.py", "pkg/b.py", ".hidden/c.py", "venv/lib/d.py", "x/node_modules/e.py", "notes.txt"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    (tmp_path / "venv" / "pyvenv.cfg").touch()
    found = {os.path.relpath(file, tmp_path) for file in project_files(tmp_path)}
    assert found == {"a.py", "pkg/b.py"}
    own = {
        name for name in ("a.py", "pkg/b.py", "venv/lib/d.py", ".hidden/c.py") if is_own(str(tmp_path / name), tmp_path)
    }
    assert own == {"a.py", "pkg/b.py"}
    assert not is_own(os.__file__, tmp_path)


def test_file_watcher_reports_a_change_once(tmp_path: Path) -> None:
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text("1")
    watch = Watch()
    watch.watch_only([str(one), str(two)])
    assert watch.changed() == []
    one.write_text("12")
    two.write_text("2")
    assert sorted(watch.changed()) == [str(one), str(two)]
    assert watch.changed() == []
    one.unlink()
    watch.watch_only([str(one)])
    assert watch.changed() == [str(one)]
    two.write_text("22")
    assert watch.changed() == []


def test_dev_with_a_port_in_use_is_refused(bare: Cli) -> None:
    bare.write("words", 'WORD = "red"')
    bare.write("beats", BEAT)
    assert "--port and --no-server cannot be combined" in bare.refused(
        2, "dev", "beats:bird", "--no-server", "--port", "1"
    )
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"cannot listen at 127.0.0.1:{port}" in bare.refused(2, "dev", "beats:bird", "--port", port)
    assert workers_of(bare.folder) == []
