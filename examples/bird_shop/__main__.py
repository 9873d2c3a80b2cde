"""`python -m examples.bird_shop`: run the example app and show its activity, until Ctrl-C drains it."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import logging
import os
import shutil
import signal
import sys
import threading
import time
import webbrowser
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from examples.bird_shop import view
from examples.bird_shop.app import bird, prepare
from examples.bird_shop.ledger import Ledger
from examples.bird_shop.snapshot import Snapshot
from examples.bird_shop.terminal import Display, Lines, Screen, plain_shapes
from tickbird.client import Client
from tickbird.domain.errors import StoreUnavailableError, TickbirdError
from tickbird.domain.leadership import LEADER, SHARED
from tickbird.engine.engine import EngineOptions
from tickbird.stores import open_store
from tickbird.worker import ECHO, WorkerProcess

# Few slots, so that runs sometimes wait for one; a short lease, so that the runs of a killed demo are soon retried.
SLOTS = 7
OPTIONS = EngineOptions(lease=10.0, heartbeat=5.0, drain=20.0, leader_timeout=10.0)
_REFRESH = 0.25
_LINES_WIDTH = 120


class Notices(logging.Handler):
    """Stores the newest warning of the worker for the view, because log lines would break the screen."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.newest = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.newest = record.getMessage().partition("\n")[0]


class Demo:
    """Runs the worker, the ledger reader and the display until the worker has drained.

    In leader mode, a second worker takes over when the first one is lost.
    """

    def __init__(self, display: Display, notices: Notices) -> None:
        self._display = display
        self._notices = notices
        self._process = WorkerProcess(bird, slots=SLOTS, options=OPTIONS)
        self._leads = bird.coordination == LEADER
        self._processes = [self._process, *([WorkerProcess(bird, slots=1, options=OPTIONS)] if self._leads else [])]
        self._term = 0
        self._draining = False
        self._signalled_at = float("-inf")

    async def run(self, seconds: float | None) -> Snapshot:
        """Run until drained and return the last snapshot."""
        store = open_store(bird.url)
        await store.open()
        try:
            client = bird.client_on(store)
            await prepare(client)
            ledger = Ledger(client, store, self._process.worker)
            await ledger.begin()
            loop = asyncio.get_running_loop()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, self._on_signal, number)
            if seconds is not None:
                loop.call_later(seconds, self._drain)
            self._display.begin(store.url)
            try:
                return await self._show(ledger, client)
            finally:
                self._display.end()
        finally:
            await store.close()

    async def _show(self, ledger: Ledger, client: Client) -> Snapshot:
        working = asyncio.ensure_future(asyncio.gather(*(process.run() for process in self._processes)))
        while True:
            # Check this before reading, so that the last snapshot includes everything that the worker has recorded.
            ended = working.done()
            try:
                snapshot = await ledger.look()
                if self._leads:
                    await self._notice_leader(client)
            except StoreUnavailableError as error:
                if ended:
                    raise
                self._notices.newest = str(error)
            else:
                waits = ledger.executing(snapshot.now) if self._draining else None
                snapshot = replace(snapshot, draining=waits, notice=self._notices.newest)
                self._display.show(snapshot, ledger.take_new())
                if ended:
                    await working
                    return snapshot
            await asyncio.wait({working}, timeout=_REFRESH)

    async def _notice_leader(self, client: Client) -> None:
        """Show the leader when it changes; it stays in the view until the next warning."""
        current = (await client.leadership.get(limit=1)).current
        if current is not None and current.term != self._term:
            self._term = current.term
            self._notices.newest = f"leader mode: {current.worker} leads in term {current.term}"

    def _on_signal(self, number: int) -> None:
        now = time.monotonic()
        if self._draining and now - self._signalled_at < ECHO:
            return
        self._signalled_at = now
        if self._draining:
            self._display.end()
            print("Ended at once. Running runs are retried at the next start.", flush=True)
            os._exit(128 + number)
        self._drain()

    def _drain(self) -> None:
        self._draining = True
        for process in self._processes:
            process.drain()


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 0 after a drain."""
    parser = argparse.ArgumentParser(prog="python -m examples.bird_shop", description="Run the example app.")
    parser.add_argument(
        "--store",
        choices=("sqlite", "postgres"),
        default="sqlite",
        help="postgres: a temporary server, and a job that is defined by plain SQL (%(default)s)",
    )
    parser.add_argument("--db", type=Path, default=Path(".tickbird/demo.db"), help="the SQLite file (%(default)s)")
    parser.add_argument("--leader", action="store_true", help="run two workers in leader mode: one of them plans")
    parser.add_argument("--seconds", type=float, help="drain and end after this many seconds")
    parser.add_argument("--no-server", action="store_true", help="do not serve the dashboard and the HTTP API")
    parser.add_argument("--no-browser", action="store_true", help="do not open the dashboard in a browser")
    parser.add_argument("--plain", action="store_true", help="print lines instead of the live screen")
    options = parser.parse_args(arguments)
    notices = Notices()
    logging.getLogger("tickbird").addHandler(notices)
    logging.getLogger("tickbird").propagate = False
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal without Unicode still shows the rest.
        sys.stdout.reconfigure(errors="replace")
    console = Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _LINES_WIDTH
    on_screen = console.is_terminal and not console.is_dumb_terminal and not options.plain
    try:
        options.db.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        print(f"demo: cannot create {options.db.parent}: {error.strerror}. Choose a file with --db.", file=sys.stderr)
        return 1
    bird.url = f"sqlite:///{options.db}"
    bird.coordination = LEADER if options.leader else SHARED
    with contextlib.ExitStack() as resources:
        if options.store == "postgres":
            from examples.bird_shop.sql_job import temporary_server

            try:
                bird.url = resources.enter_context(temporary_server())
            except RuntimeError as error:
                print(f"demo: {error}", file=sys.stderr)
                return 1
        return _run(options, console, notices, on_screen=on_screen)


def _run(options: argparse.Namespace, console: Console, notices: Notices, *, on_screen: bool) -> int:
    server = None if options.no_server else _serve()
    try:
        if server is not None:
            console.print(f"The dashboard is at {server.address}/ (this machine only).", soft_wrap=True)
            console.print(f"The HTTP API is at {server.address}/api/v1.", soft_wrap=True)
            if on_screen and not options.no_browser:
                _show(server.address)
        last = asyncio.run(Demo(Screen(console) if on_screen else Lines(console), notices).run(options.seconds))
    except TickbirdError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader has closed the pipe, as with `| head`. Python must not flush the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    finally:
        if server is not None:
            server.stop()
    say_goodbye(console, last, options.db if options.store == "sqlite" else None)
    return 0


def _serve() -> Any:
    """Serve the dashboard and the HTTP API in a thread; None if their packages are not installed."""
    try:
        import fastapi  # noqa: F401
        import jinja2  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        return None
    from tickbird.server import Beside

    server = Beside(bird.url, bird.namespace)
    server.start()
    return server


def _show(address: str) -> None:
    """Open the dashboard if there is a desktop. On a server, a text browser would take the screen."""
    if sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def say_goodbye(console: Console, last: Snapshot, db: Path | None) -> None:
    """Print the totals, and commands to try next; None: the store does not exist any more."""
    console.print()
    console.print(view.summary(last, console.width, plain_shapes=plain_shapes(console)), "")
    if db is None:
        console.print("Drained. The PostgreSQL server and its data are removed.")
        return
    console.print(
        "Drained. Queued runs and missed ticks are handled at the next start, according to each policy. Also try:"
    )
    tickbird = "tickbird" if shutil.which("tickbird") else _seen_from_shell(Path(sys.executable).with_name("tickbird"))
    for command in ("ls", "why sync-orders", "runs --status failed", "show ledger"):
        console.print(f"  {tickbird} --url sqlite:///{_seen_from_shell(db)} {command}", soft_wrap=True)


def _seen_from_shell(path: Path) -> Path:
    """Return a relative path if the user's shell is in this folder; `./dev` may be called from another."""
    full = Path.cwd() / path
    here = Path.cwd() == Path(os.environ.get("PWD", "/"))
    return full.relative_to(Path.cwd()) if here and full.is_relative_to(Path.cwd()) else full


if __name__ == "__main__":
    sys.exit(main())
