"""An event loop in a thread, for code that has none: calls wait for the result of a coroutine."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import threading
import weakref
from collections.abc import AsyncGenerator, Coroutine
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, Any, Final

from tickbird.domain.errors import StoreError

if TYPE_CHECKING:
    import asyncio

# Seconds that the exit of the process waits for connections to close.
_EXIT_TIMEOUT: Final = 5.0


class LoopThread:
    """An event loop in a daemon thread. Its end cancels tasks, closes generators and fails pending calls."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ended = False
        # Calls that have not started.
        self._sent: dict[Future[Any], Coroutine[Any, Any, Any]] = {}
        started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self._thread = threading.Thread(target=self._run, args=(started,), name="tickbird blocking", daemon=True)
        self._process = os.getpid()
        _THREADS.add(self)
        self._thread.start()
        self._loop, self._stop = started.result()

    def call(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine in the thread and wait for its result; KeyboardInterrupt in the caller cancels it."""
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise RuntimeError(
                "a blocking call in its own event loop would never return. Use the async client, and await it."
            )
        # Created before it is sent, so that an interrupt at any later moment can cancel it.
        call: Future[Any] = Future()
        try:
            self._send(call, coroutine)
            return call.result()
        except CancelledError:
            raise _closed() from None
        except BaseException:
            call.cancel()
            raise

    def _send(self, call: Future[Any], coroutine: Coroutine[Any, Any, Any]) -> None:
        with self._lock:
            if self._ended:
                coroutine.close()
                raise _closed()
            self._sent[call] = coroutine
            try:
                self._loop.call_soon_threadsafe(self._begin, call, coroutine)
            except RuntimeError:
                del self._sent[call]
                coroutine.close()
                raise _closed() from None

    def _begin(self, call: Future[Any], coroutine: Coroutine[Any, Any, Any]) -> None:
        del self._sent[call]
        if call.cancelled():
            coroutine.close()
            return
        task = self._loop.create_task(coroutine)

        def cancel(call: Future[Any]) -> None:
            # RuntimeError: the loop has ended, and the task with it.
            with contextlib.suppress(RuntimeError):
                if call.cancelled():
                    self._loop.call_soon_threadsafe(task.cancel)

        call.add_done_callback(cancel)
        task.add_done_callback(functools.partial(_set_result, call))

    def release(self, generator: AsyncGenerator[Any, None]) -> None:
        """Close an asynchronous generator later; takes no lock, because the garbage collector may call it anywhere."""

        async def close() -> None:
            # RuntimeError: the interrupted step is still being cancelled, which also ends the generator.
            with contextlib.suppress(RuntimeError):
                await generator.aclose()

        # RuntimeError: the loop has ended and has closed its generators.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(lambda: self._loop.create_task(close()))

    def stop(self) -> None:
        """Request the end of the loop without waiting; takes no lock, like `release`."""
        # A forked child has no thread, and the connections are the parent's.
        if self._process == os.getpid():
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._stop.set)

    def end(self, timeout: float | None = None) -> None:
        """Stop the loop and wait until its connections are closed, unless this is its own thread."""
        self.stop()
        if self._process == os.getpid() and threading.current_thread() is not self._thread:
            self._thread.join(timeout)

    def _run(self, started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]) -> None:
        import asyncio

        async def serve() -> None:
            stop = asyncio.Event()
            started.set_result((asyncio.get_running_loop(), stop))
            await stop.wait()

        class Loop(asyncio.SelectorEventLoop):
            async def shutdown_default_executor(self, timeout: float | None = None) -> None:
                """Do nothing: asyncio would start a thread here, which Python 3.12 refuses at interpreter exit."""

        with asyncio.Runner(loop_factory=Loop) as runner:
            runner.run(serve())
        with self._lock:
            self._ended = True
        # Calls that were accepted while the loop was ending have never started.
        for call, coroutine in self._sent.items():
            call.cancel()
            coroutine.close()


def _set_result(call: Future[Any], task: asyncio.Task[Any]) -> None:
    error = None
    if task.cancelled():
        call.cancel()
    else:
        error = task.exception()
    if not call.set_running_or_notify_cancel():
        return
    if error is not None:
        call.set_exception(error)
    else:
        call.set_result(task.result())


class Portal:
    """Starts the thread with the first call, and a new one after a fork."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: LoopThread | None = None
        self._closed = False
        # Increases after a fork: connections opened before belong to the parent process.
        self.generation = 0
        _PORTALS.add(self)

    @property
    def closed(self) -> bool:
        return self._closed

    def call(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        with self._lock:
            if self._closed:
                coroutine.close()
                raise _closed()
            if self._thread is None:
                self._thread = LoopThread()
                # Runs when the portal is garbage.
                weakref.finalize(self, self._thread.stop).atexit = False
            thread = self._thread
        return thread.call(coroutine)

    def release(self, generator: AsyncGenerator[Any, None]) -> None:
        if (thread := self._thread) is not None:
            thread.release(generator)

    def close(self) -> None:
        """End the thread and close its connections; pending calls of other threads raise StoreError."""
        with self._lock:
            self._closed = True
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.end()

    def reset_after_fork(self) -> None:
        """Forget the thread in a forked child, which has none of its parent's threads."""
        self._lock = threading.Lock()
        if self._thread is not None:
            # Never freed: closing the connections here would end them in the parent.
            _INHERITED.append(self._thread)
            self._thread = None
        self.generation += 1


_PORTALS: Final[weakref.WeakSet[Portal]] = weakref.WeakSet()
_INHERITED: Final[list[LoopThread]] = []
_THREADS: Final[weakref.WeakSet[LoopThread]] = weakref.WeakSet()


def _reset_portals() -> None:
    for portal in list(_PORTALS):
        portal.reset_after_fork()


os.register_at_fork(after_in_child=_reset_portals)


@atexit.register
def _end_threads() -> None:
    for thread in list(_THREADS):
        thread.end(_EXIT_TIMEOUT)


def _closed() -> StoreError:
    return StoreError("this client is closed.", hint="Get a new one from the app: bird.sync.")
