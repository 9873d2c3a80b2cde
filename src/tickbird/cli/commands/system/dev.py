"""The `dev` command: a worker that restarts in a fresh process on every change."""

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
# Seconds after the drain timeout until a worker is killed.
_KILL_AFTER = 5.0


@click.command(cls=Command)
@app_argument
@click.option(
    "--slots", type=click.IntRange(1, 10_000), default=10, show_default=True, help="Maximum number of concurrent runs."
)
@click.option(
    "--allow-command", "commands", metavar="PROGRAM", multiple=True, help="Program that commands may start; repeatable."
)
@click.option(
    "--allow-env",
    "variables",
    metavar="NAME",
    multiple=True,
    help="Environment variable that commands may use; repeatable.",
)
@click.option(
    "--drain",
    type=length,
    default=2,
    metavar="SECONDS",
    help="Seconds that runs get to finish before a reload (default: 2). Longer runs are requeued.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    help="Port of the dashboard and the HTTP API (default: 8420, or any free port if it is in use).",
)
@click.option("--no-server", is_flag=True, help="Do not serve the dashboard and the HTTP API.")
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
    """Run an app during development: reload on every change.

    The command watches the app's modules in the current folder. A fresh process imports the changed code first. If
    that succeeds, the old worker drains and the new one takes over. If it fails, the old worker continues. Ctrl-C ends
    the command.

    The dashboard and the HTTP API are served to this machine only, without a token. Their changes are recorded with
    the actor `dev`.
    """
    if no_server and port is not None:
        raise click.UsageError("--port and --no-server cannot be combined.", click.get_current_context())
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
    """A process with one version of the app's code: it imports the app, then waits for the go signal."""

    def __init__(self, given: str, url: str | None, args: list[str]) -> None:
        report, their_report = os.pipe()
        their_go, go = os.pipe()
        os.set_blocking(report, False)
        self._report, self._go, self._read = report, go, b""
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tickbird.cli.dev_worker",
                str(their_report),
                str(their_go),
                given,
                url or "",
                *args,
            ],
            # If a file changes twice within a second, its compiled code may be stale.
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"},
            pass_fds=(their_report, their_go),
            stdin=subprocess.DEVNULL,
            # Ctrl-C must reach only this process, which then signals the child.
            start_new_session=True,
        )
        os.close(their_report)
        os.close(their_go)

    def messages(self) -> list[dict[str, Any]]:
        """Return the messages since the last call."""
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(self._report, 65_536):
                self._read += chunk
        *lines, self._read = self._read.split(b"\n")
        return [json.loads(line) for line in lines]

    def work(self) -> None:
        """Send the go signal."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._go, b"g")

    def kill(self) -> None:
        """Kill the process and its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Close the pipes of a process that has ended."""
        for end in (self._report, self._go):
            os.close(end)


class Served:
    """The dashboard and the HTTP API on the app's current store."""

    def __init__(self, namespace: str | None, port: int | None) -> None:
        self._namespace = namespace
        self._port = port
        self._location: tuple[str, str] | None = None
        self._server: Any = None

    def serve(self, document: dict[str, Any]) -> str | None:
        """Serve the app's store and return the address; None if the server's packages are not installed."""
        try:
            import fastapi  # noqa: F401
            import jinja2  # noqa: F401
            import uvicorn  # noqa: F401
        except ImportError:
            return None
        from tickbird.server import Beside

        location = document["store"], self._namespace or document["namespace"]
        if location != self._location:
            self.stop()
            self._server = Beside(*location, self._port)
            # Keep the port, so that an open dashboard survives a change of the store.
            self._port, self._location = int(self._server.address.rpartition(":")[2]), location
            self._server.start()
        return str(self._server.address)

    def stop(self) -> None:
        if self._server is not None:
            self._server.stop()


class Dev:
    """Watches files. A candidate process imports each change and becomes the worker if that succeeds."""

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
        """Run until Ctrl-C or SIGTERM, or until the app or the store fails at startup; return the exit code."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)
        # Before the import, so that a change during the import is detected.
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
        """Handle the messages of the processes, and detect a process that has ended."""
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
                then = "The store cannot be used" if self._code else "Waiting for a change"
                self._print("ended", f"The worker ended with exit code {ended}. {then}.", code=ended)
        if candidate is not None:
            ended = candidate.process.poll()
            messages = candidate.messages()
            for document in messages:
                self._on_message(candidate, document)
            if ended is not None and self._candidate is candidate and not messages:
                self._fail(candidate, {"code": ended, "files": []})

    def _on_message(self, candidate: Child, document: dict[str, Any]) -> None:
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
        """Handle an app that cannot be imported: watch all files of the project for the next try."""
        candidate.process.wait()
        self._forget(candidate)
        self._candidate = None
        if not self._started and document["code"] != FAILED:
            # A wrong app name cannot be fixed by a change of a file.
            self._code = document["code"]
            return
        self._started = True
        self._watch_files([*document["files"], *project_files(self._folder)])
        left = "the previous code is still running" if self._worker is not None else "nothing is running"
        self._print("failed", f"The app cannot start; {left}. Waiting for a change.", code=document["code"])

    def _watch_files(self, files: list[str]) -> None:
        self._watch.watch_only(sorted(set(files)))

    def _stop(self, child: Child) -> None:
        """Drain a worker. Kill it after the timeout, or on a second Ctrl-C."""
        signals = self._stopping
        deadline = time.monotonic() + self._drain + _KILL_AFTER
        with contextlib.suppress(ProcessLookupError):
            child.process.terminate()
        while child.process.poll() is None:
            if time.monotonic() > deadline or self._stopping > max(signals, 1):
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
        """Print the complete start screen the first time, then one line per reload."""
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
            (
                schedule["name"],
                schedule["trigger_description"],
                both(_at(schedule["next"]), now, self._settings.tz or schedule["zone"]),
            )
            for schedule in document["schedules"]
        ]
        if rows:
            screen.table(("SCHEDULE", "TRIGGER", "NEXT TICK"), rows)
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
