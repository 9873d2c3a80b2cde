"""Apps that are not closed, errors right after connecting, forks: no hang, no warning, no lost traceback."""

from __future__ import annotations

import asyncio
import gc
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

from tickbird import Tickbird
from tickbird.client.sync import SyncClient
from tickbird.domain.errors import StoreError
from tickbird.loop_local import PerLoop
from tickbird.loop_thread import Portal
from tickbird.stores import open_store

T = TypeVar("T")


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A migrated store."""
    if request.param == "postgres":
        return str(request.getfixturevalue("migrated_url"))
    address = f"sqlite:///{tmp_path}/birds.db"
    asyncio.run(open_store(address).migrate())
    return address


def run_program(url: str, body: str) -> tuple[int, str]:
    """The exit code and stderr of a program in which every warning is an error."""
    head = f"import asyncio, gc, os, sys\nfrom tickbird import Tickbird\nURL = {url!r}\nbird = Tickbird(URL)\n"
    process = subprocess.run(
        [sys.executable, "-W", "error", "-c", head + textwrap.dedent(body)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return process.returncode, process.stderr


def test_an_error_right_after_connecting_ends_the_program(url: str) -> None:
    """The pool of connections is still growing; its tasks must end when asyncio.run cancels them."""
    code, stderr = run_program(
        url,
        """
        async def main():
            await bird.client()
            raise KeyError("mine")

        asyncio.run(main())
        """,
    )
    assert code == 1
    assert stderr.startswith("Traceback")
    assert stderr.endswith("KeyError: 'mine'\n")
    assert stderr.count("Traceback") == 1


def test_an_app_without_close_is_closed_with_its_loop(url: str) -> None:
    assert run_program(
        url,
        """
        async def main():
            clients = await asyncio.gather(*(bird.client() for _ in range(20)))
            assert len({id(client) for client in clients}) == 1
            await clients[0].schedules.list()
            asyncio.create_task(clients[0].schedules.list())

        async def app_is_garbage():
            client = await Tickbird(URL).client()
            gc.collect()
            for _ in range(3):
                await asyncio.sleep(0)
                await client.schedules.list()

        for _ in range(2):
            asyncio.run(main())
        asyncio.run(app_is_garbage())
        if URL.startswith("sqlite"):
            loop = asyncio.new_event_loop()
            loop.run_until_complete(bird.client())
            loop.close()
        """,
    ) == (0, "")


def test_a_blocking_client_without_close_is_closed_at_exit(url: str) -> None:
    assert run_program(
        url,
        """
        Tickbird(URL).sync.schedules.list()
        gc.collect()
        bird.sync.schedules.list()
        """,
    ) == (0, "")


def test_a_forked_child_has_connections_of_its_own(url: str) -> None:
    """Like gunicorn --preload: the app was used before the fork. DeprecationWarning: a fork with threads."""
    assert run_program(
        url,
        """
        import warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        before = bird.sync
        before.runs.enqueue("parent", actor="x", unknown_task_ok=True)
        for close in (True, False):
            child = os.fork()
            if not child:
                before.runs.enqueue("child", actor="x", unknown_task_ok=True)
                bird.sync.runs.enqueue("child", actor="x", unknown_task_ok=True)
                asyncio.run(bird.client())
                if close:
                    bird.close()
                sys.exit(7)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        before.runs.enqueue("parent", actor="x", unknown_task_ok=True)
        tasks = sorted(run.target.name for run in bird.sync.runs.list())
        assert tasks == ["child"] * 4 + ["parent"] * 2, tasks
        """,
    ) == (0, "")


SHOP = """
import os

from tickbird import Tickbird

bird = Tickbird({url!r})
bird.sync.runs.enqueue("loaded", actor="shop", unknown_task_ok=True)


def web(environ, start_response):
    bird.sync.runs.enqueue("asked", actor="shop", unknown_task_ok=True)
    start_response("200 OK", [])
    return [str(os.getpid()).encode()]
"""


def test_a_server_that_loads_the_app_before_it_forks(url: str, tmp_path: Path) -> None:
    """The app was used while it was loaded; each of the server's processes uses it as well, and all of them end."""
    (tmp_path / "shop.py").write_text(SHOP.format(url=url))
    told = tmp_path / "told.log"
    options = ("--preload", "--workers", "2", "--bind", "127.0.0.1:0", "--timeout", "90", "--log-file", str(told))
    server = subprocess.Popen([sys.executable, "-m", "gunicorn", *options, "shop:web"], cwd=tmp_path)
    try:
        [address] = wait_for(lambda: re.findall(r"Listening at: (\S+)", told.read_text() if told.exists() else ""))
        seen: list[str] = []

        def ask() -> bool:
            seen.append(httpx.get(address, timeout=60).text)
            return len(set(seen)) == 2

        wait_for(ask)
        server.terminate()
        assert server.wait(60) == 0
    finally:
        server.kill()
    assert not re.search("Traceback|TIMEOUT|rror", told.read_text()), told.read_text()
    bird = Tickbird(url)
    tasks = [run.target.name for run in bird.sync.runs.list(limit=1_000)]
    bird.close()
    assert sorted(tasks) == ["asked"] * len(seen) + ["loaded"]


def wait_for(condition: Callable[[], T], seconds: float = 60.0) -> T:
    """Wait until the condition is true, and return its value."""
    ends = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < ends, condition
        time.sleep(0.02)
    return found


class Pages:
    """Like a client: a call that does not return, and an iterator."""

    def __init__(self) -> None:
        self.waiting = threading.Event()
        self.closed = threading.Event()

    async def wait(self) -> None:
        """Never returns."""
        self.waiting.set()
        await asyncio.Event().wait()

    async def count(self) -> AsyncIterator[int]:
        """Counts."""
        try:
            for number in range(10**9):
                yield number
        finally:
            self.closed.set()


def blocking(pages: Pages, portal: Portal) -> Any:
    async def find() -> Pages:
        return pages

    return SyncClient(find, portal)


def test_closing_ends_the_calls_of_other_threads() -> None:
    portal, pages = Portal(), Pages()
    client = blocking(pages, portal)
    errors: list[BaseException] = []

    def call() -> None:
        try:
            client.wait()
        except StoreError as error:
            errors.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    pages.waiting.wait()
    portal.close()
    thread.join()
    assert [str(error) for error in errors] == ["this client is closed. Get a new one from the app: bird.sync."]
    with pytest.raises(StoreError, match="this client is closed"):
        client.wait()
    assert "tickbird blocking" not in {each.name for each in threading.enumerate()}


def test_an_iterator_that_is_dropped_after_the_end_starts_nothing() -> None:
    portal, pages = Portal(), Pages()
    numbers = blocking(pages, portal).count()
    assert [next(numbers), next(numbers)] == [0, 1]
    portal.close()
    assert pages.closed.is_set()
    del numbers
    gc.collect()
    assert "tickbird blocking" not in {each.name for each in threading.enumerate()}


def test_an_iterator_that_is_collected_in_the_thread_of_the_loop_blocks_nothing() -> None:
    portal, pages = Portal(), Pages()
    kept = [blocking(pages, portal).count()]
    assert next(kept[0]) == 0

    async def collect() -> str:
        kept.clear()
        return "done"

    assert portal.call(collect()) == "done"
    assert pages.closed.wait(60)
    portal.close()


def test_an_interrupt_of_the_caller_cancels_the_call() -> None:
    portal, cancelled = Portal(), threading.Event()

    async def interrupted() -> None:
        loop = asyncio.get_running_loop()
        loop.call_soon(main_interrupt)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    def main_interrupt() -> None:
        assert caller.ident is not None
        signal.pthread_kill(caller.ident, signal.SIGINT)

    caller = threading.main_thread()
    assert threading.current_thread() is caller
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            portal.call(interrupted())
    finally:
        signal.signal(signal.SIGINT, before)
    assert cancelled.wait(60)
    portal.close()


@pytest.mark.parametrize("begun", [False, True])
def test_an_interrupt_while_the_call_is_sent_cancels_it(begun: bool) -> None:
    portal, began, cancelled = Portal(), threading.Event(), threading.Event()

    async def interrupted() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    loop = portal.call(_running_loop())
    send = loop.call_soon_threadsafe

    def interrupt(*arguments: Any) -> None:
        loop.call_soon_threadsafe = send
        send(*arguments)
        if begun:
            assert began.wait(60)
        raise KeyboardInterrupt

    free = threading.Event()
    if not begun:
        # The loop is busy, so that the interrupt arrives first.
        send(free.wait, 60)
    loop.call_soon_threadsafe = interrupt
    with pytest.raises(KeyboardInterrupt):
        portal.call(interrupted())
    if begun:
        assert cancelled.wait(60)
    else:
        free.set()
        assert portal.call(asyncio.sleep(0, "done")) == "done"
        assert not began.is_set()
    portal.close()


async def _running_loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


def test_a_call_inside_its_own_loop_is_refused() -> None:
    portal = Portal()

    async def nested() -> None:
        portal.call(asyncio.sleep(0))

    with pytest.raises(RuntimeError, match="would never return"):
        portal.call(nested())
    portal.close()


class Connections:
    """Counts how often it was closed."""

    def __init__(self) -> None:
        self.closed = 0

    async def close(self) -> None:
        """Count."""
        self.closed += 1


async def test_a_failed_connection_raises_in_all_waiting_callers_and_is_retried() -> None:
    attempts = 0

    async def connect() -> tuple[Connections, Connections]:
        nonlocal attempts
        attempts += 1
        await asyncio.sleep(0)
        if attempts == 1:
            raise StoreError("no server;")
        opened = Connections()
        return opened, opened

    per_loop = PerLoop(connect)
    answers = await asyncio.gather(*(per_loop.get() for _ in range(5)), return_exceptions=True)
    assert {str(answer) for answer in answers} == {"no server;"}
    assert attempts == 1
    opened = await per_loop.get()
    assert (opened, opened.closed) == (await per_loop.get(), 0)
    await per_loop.close()
    await per_loop.close()
    assert opened.closed == 1


async def test_a_cancelled_caller_does_not_close_the_connection_of_others() -> None:
    go, opened = asyncio.Event(), Connections()

    async def connect() -> tuple[Connections, Connections]:
        await go.wait()
        return opened, opened

    per_loop = PerLoop(connect)
    first, second = asyncio.ensure_future(per_loop.get()), asyncio.ensure_future(per_loop.get())
    await asyncio.sleep(0)
    first.cancel()
    go.set()
    assert await second is opened
    await per_loop.close()
    # A client that is closed before it was opened is not opened later.
    go.clear()
    third = asyncio.ensure_future(per_loop.get())
    await asyncio.sleep(0)
    await per_loop.close()
    with pytest.raises(asyncio.CancelledError):
        await third
    assert opened.closed == 1


def test_closing_an_app_and_using_it_again(tmp_path: Path) -> None:
    bird = Tickbird(f"sqlite:///{tmp_path}/birds.db")
    with bird as client:
        assert client.schedules.list() == []
    with pytest.raises(StoreError, match="this client is closed"):
        client.schedules.list()
    assert bird.sync.schedules.list() == []
    bird.close()
    bird.close()
