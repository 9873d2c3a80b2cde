"""The command for writing an app: a worker that is started anew, as a fresh process, with every change."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from tickbird.cli.app_loading import app_argument, app_name
from tickbird.cli.errors import FAILED, STORE
from tickbird.cli.file_watcher import Watch, project_files
from tickbird.cli.options import Command, GlobalOptions
from tickbird.cli.output import Cell, Printer, both
from tickbird.cli.params import length
from tickbird.domain.messages import count
from tickbird.domain.targets.command import check_variables
from tickbird.version import VERSION

_POLL = 0.2
# Editors write several files, or one file several times.
_QUIET = 0.1
# What a worker may take beyond its drain before it is killed.
_KILL_AFTER = 5.0


@click.command(cls=Command)
@app_argument
@click.option("--slots", type=click.IntRange(1, 10_000), default=10, show_default=True, help="Runs at a time.")
@click.option(
    "--allow-command", "commands", metavar="PROGRAM", multiple=True, help="A program that commands may start."
)
@click.option("--allow-env", "variables", metavar="NAME", multiple=True, help="A variable commands may set and read.")
@click.option("--drain", type=length, default=2, metavar="SECONDS", help="How long a change waits for runs; else 2.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    help="Of the dashboard and the HTTP API; else 8420, or any if that is taken.",
)
@click.option("--no-server", is_flag=True, help="Serve neither dashboard nor HTTP API.")
@click.pass_obj
def dev(
    settings: GlobalOptions,
    app: str | None,
    app_option: str | None,
    slots: int,
    commands: tuple[str, ...],
    variables: tuple[str, ...],
    drain: int,
    port: int | None,
    no_server: bool,
) -> int:
    """Work on an app while it is being written: start anew with every change.

    The app's modules in the current folder are watched. A change is imported by a fresh process first; only if that
    works, the worker of the old code drains and the new one takes over. Ctrl-C ends it.

    The dashboard and the HTTP API are served beside it to this machine alone, without a token.
    """
    if no_server and port is not None:
        raise click.UsageError("--port does not go with --no-server.", click.get_current_context())
    settings.need_store()
    given = app_name(app, app_option)
    args = ["--slots", str(slots), "--drain", str(drain)]
    for option, value in (("--url", settings.url), ("--namespace", settings.namespace)):
        args += [option, value] if value else []
    args += ["--debug"] if settings.debug else []
    for command in commands:
        args += ["--allow-command", command]
    for variable in check_variables(variables):
        args += ["--allow-env", variable]
    served = None if no_server else Served(settings.namespace, port)
    return Dev(settings, given, args, drain, served).run()


class Child:
    """A process with the app's code of one moment: it imports, then waits until it is told to work."""

    def __init__(self, given: str, url: str | None, args: list[str]) -> None:
        said, their_said = os.pipe()
        their_go, go = os.pipe()
        os.set_blocking(said, False)
        self._said, self._go, self._read = said, go, b""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tickbird.cli.dev_worker", str(their_said), str(their_go), given, url or "", *args],
            # Of a file that changes twice in a second, compiled code may be stale.
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"},
            pass_fds=(their_said, their_go),
            stdin=subprocess.DEVNULL,
            # Ctrl-C reaches this process alone; the child is told by us.
            start_new_session=True,
        )
        os.close(their_said)
        os.close(their_go)

    def messages(self) -> list[dict[str, Any]]:
        """What it has said since it was last asked."""
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(self._said, 65_536):
                self._read += chunk
        *lines, self._read = self._read.split(b"\n")
        return [json.loads(line) for line in lines]

    def work(self) -> None:
        """Let it go on to work."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._go, b"g")

    def kill(self) -> None:
        """End it at once, with all that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Let go of the pipes of a process that has ended."""
        for end in (self._said, self._go):
            os.close(end)


class Served:
    """The HTTP API beside the worker, on whatever store the app has at the moment."""

    def __init__(self, namespace: str | None, port: int | None) -> None:
        self._namespace = namespace
        self._port = port
        self._place: tuple[str, str] | None = None
        self._beside: Any = None

    def serve(self, document: dict[str, Any]) -> str | None:
        """Where the API of an app's store is; None where it cannot be served."""
        try:
            import fastapi  # noqa: F401
            import jinja2  # noqa: F401
            import uvicorn  # noqa: F401
        except ImportError:
            return None
        from tickbird.server import Beside

        place = document["store"], self._namespace or document["namespace"]
        if place != self._place:
            self.stop()
            self._beside = Beside(*place, self._port)
            # From now on it stays where it is.
            self._port, self._place = int(self._beside.address.rpartition(":")[2]), place
            self._beside.start()
        return str(self._beside.address)

    def stop(self) -> None:
        """Serve no more."""
        if self._beside is not None:
            self._beside.stop()


class Dev:
    """Watches files; a candidate imports each change, and becomes the worker if that goes well."""

    def __init__(self, settings: GlobalOptions, given: str, args: list[str], drain: int, served: Served | None) -> None:
        self._settings = settings
        self._served = served
        self._given = given
        self._args = args
        self._drain = drain
        self._folder = Path.cwd()
        self._watch = Watch()
        self._worker: Child | None = None
        self._candidate: Child | None = None
        self._stopping = 0
        self._started = False
        self._changed = False
        self._code: int | None = None

    def run(self) -> int:
        """Until Ctrl-C or SIGTERM; at first, also if the app cannot be found or its store cannot be used."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)
        # Before anything is imported, so that a change meanwhile is one.
        self._watch.watch_only(list(project_files(self._folder)))
        self._candidate = self._start()
        try:
            while not self._stopping and self._code is None:
                time.sleep(_POLL)
                self._listen()
                if changed := self._watch.changed():
                    self._restart(changed)
        finally:
            self._end()
        return self._code or 0

    def _on_signal(self, *_: object) -> None:
        self._stopping += 1

    def _start(self) -> Child:
        return Child(self._given, self._settings.url, self._args)

    def _restart(self, changed: list[str]) -> None:
        self._changed = True
        time.sleep(_QUIET)
        changed += self._watch.changed()
        names = sorted({os.path.relpath(file, self._folder) for file in changed})
        self._print("changed", f"{', '.join(names[:3])}{', …' if len(names) > 3 else ''} changed.", files=names)
        if self._candidate is not None:
            self._candidate.kill()
            self._forget(self._candidate)
        self._candidate = self._start()

    def _listen(self) -> None:
        """Hear what the processes have to say, and notice if one has ended."""
        candidate, worker = self._candidate, self._worker
        if worker is not None:
            ended = worker.process.poll()
            for document in worker.messages():
                self._watch_files(document["files"])
            if ended is not None:
                self._worker = None
                self._forget(worker)
                # Before the first change of the code, only another store or URL helps.
                self._code = STORE if ended == STORE and not self._changed else None
                then = "the store cannot be used" if self._code else "waiting for a change"
                self._print("ended", f"The worker has ended by itself with code {ended}; {then}.", code=ended)
        if candidate is not None:
            ended = candidate.process.poll()
            heard = candidate.messages()
            for document in heard:
                self._hear(candidate, document)
            if ended is not None and self._candidate is candidate and not heard:
                self._fail(candidate, {"code": ended, "files": []})

    def _hear(self, candidate: Child, document: dict[str, Any]) -> None:
        if "code" in document:
            self._fail(candidate, document)
            return
        self._candidate = None
        self._watch_files(document["files"])
        if self._worker is not None:
            self._stop(self._worker)
        self._worker = candidate
        document["api"] = None if self._served is None else self._served.serve(document)
        self._show(document)
        candidate.work()

    def _fail(self, candidate: Child, document: dict[str, Any]) -> None:
        """The app cannot be imported: whichever file is repaired, it is tried again."""
        candidate.process.wait()
        self._forget(candidate)
        self._candidate = None
        if not self._started and document["code"] != FAILED:
            # A wrong name does not get better by waiting.
            self._code = document["code"]
            return
        self._started = True
        self._watch_files([*document["files"], *project_files(self._folder)])
        left = "the last good code goes on" if self._worker is not None else "nothing is running"
        self._print("failed", f"This cannot be started; {left}. Waiting for a change.", code=document["code"])

    def _watch_files(self, files: list[str]) -> None:
        self._watch.watch_only(sorted(set(files)))

    def _stop(self, child: Child) -> None:
        """Drain a worker; one that takes too long, or that Ctrl-C is pressed for again, is killed."""
        asked = self._stopping
        deadline = time.monotonic() + self._drain + _KILL_AFTER
        with contextlib.suppress(ProcessLookupError):
            child.process.terminate()
        while child.process.poll() is None:
            if time.monotonic() > deadline or self._stopping > max(asked, 1):
                child.kill()
                child.process.wait()
            time.sleep(0.02)
        self._forget(child)

    def _forget(self, child: Child) -> None:
        child.process.wait()
        child.close()

    def _end(self) -> None:
        if self._candidate is not None:
            self._candidate.kill()
            self._forget(self._candidate)
        if self._worker is not None:
            self._stop(self._worker)
        if self._served is not None:
            self._served.stop()
        if self._started:
            self._print("stopped", "Stopped.")

    def _show(self, document: dict[str, Any]) -> None:
        """The first screen; later, one line."""
        files = len(self._watch.files)
        has = f"{count(len(document['tasks']), 'task')}, {count(len(document['schedules']), 'schedule')}"
        facts = {key: document[key] for key in ("app", "url", "api", "tasks", "schedules")}
        if self._started or self._settings.as_json:
            self._print("ready", f"Ready: {has}.", **facts)
            self._started = True
            return
        self._started = True
        now = datetime.now(UTC)
        screen = Printer()
        screen.line(Cell(f"tickbird {VERSION} · dev · {self._given}", "bold"))
        screen.fields(
            [
                ("app", document["app"]),
                ("store", document["url"]),
                *self._api_fields(document["api"]),
                ("tasks", ", ".join(document["tasks"]) or "none yet"),
                ("watching", f"{count(files, 'file')} in {self._folder}; Ctrl-C ends it"),
            ]
        )
        screen.line()
        rows = [
            (each["name"], each["trigger_description"], both(_at(each["next"]), now, self._settings.tz or each["zone"]))
            for each in document["schedules"]
        ]
        if rows:
            screen.table(("SCHEDULE", "WHAT", "NEXT TICK"), rows)
        else:
            screen.line("No schedules yet. Declare one: @bird.task(schedule=every(minutes=1)).")
        screen.flush()
        sys.stdout.flush()

    def _api_fields(self, address: str | None) -> list[tuple[str, str]]:
        if self._served is None:
            return []
        if address is None:
            return [("dashboard", "not served: pip install 'tickbird[server]'")]
        return [("dashboard", f"{address}/"), ("api", f"{address}/api/v1")]

    def _print(self, event: str, text: str, **fields: Any) -> None:
        click.echo(json.dumps({"event": event, **fields}) if self._settings.as_json else f"tickbird: {text}")
        sys.stdout.flush()


def _at(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
