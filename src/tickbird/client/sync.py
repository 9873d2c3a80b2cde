"""The same client for code without an event loop: calls wait for their result. A thin façade, never a twin."""

from __future__ import annotations

import atexit
import contextlib
import functools
import inspect
import os
import threading
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, Any, Final

from tickbird.client.base import ClientBase
from tickbird.domain.errors import StoreError

if TYPE_CHECKING:
    import asyncio

_END: Final = object()
# Seconds that the end of the process waits for connections to close.
_EXIT_TIMEOUT: Final = 5.0


class LoopThread:
    """An event loop in a daemon thread. Ending it cancels its tasks, closes its generators and fails pending calls."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ended = False
        # Calls that have not begun.
        self._sent: dict[Future[Any], Coroutine[Any, Any, Any]] = {}
        started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self._thread = threading.Thread(target=self._run, args=(started,), name="tickbird blocking", daemon=True)
        self._process = os.getpid()
        _THREADS.add(self)
        self._thread.start()
        self._loop, self._stop = started.result()

    def call(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine in the thread and wait for its result; an interrupt of the caller cancels it."""
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise RuntimeError("a blocking call inside its own event loop would never return; await the async client.")
        # Made before the loop knows of it: an interrupt may come as soon as it does, and has to find it.
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
        """In the loop."""
        del self._sent[call]
        if call.cancelled():
            coroutine.close()
            return
        task = self._loop.create_task(coroutine)

        def cancel(call: Future[Any]) -> None:
            # RuntimeError: the loop has ended, and with it the task.
            with contextlib.suppress(RuntimeError):
                if call.cancelled():
                    self._loop.call_soon_threadsafe(task.cancel)

        call.add_done_callback(cancel)
        task.add_done_callback(functools.partial(_set_result, call))

    def release(self, generator: AsyncGenerator[Any, None]) -> None:
        """Close an asynchronous generator, some time soon.

        The garbage collector may call this in any thread, at any moment: it takes no lock and waits for nothing.
        """

        async def close() -> None:
            # RuntimeError: the step that was interrupted is still being cancelled, which ends the generator as well.
            with contextlib.suppress(RuntimeError):
                await generator.aclose()

        # RuntimeError: the loop has ended, and has closed its generators.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(lambda: self._loop.create_task(close()))

    def stop(self) -> None:
        """Ask the loop to end; like `release`, for the garbage collector."""
        # A forked child has the loop, but not the thread; the connections are the parent's.
        if self._process == os.getpid():
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._stop.set)

    def end(self, timeout: float | None = None) -> None:
        """Stop the loop and wait until all that it holds is closed, unless this is its own thread."""
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
        # A call that came while the loop was ending was accepted and never begun.
        for call, coroutine in self._sent.items():
            call.cancel()
            coroutine.close()


def _set_result(call: Future[Any], task: asyncio.Task[Any]) -> None:
    """Hand on the result of a task to its caller, unless that has given up."""
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
    """Calls from code without an event loop: one thread, begun with the first call, and another one after a fork."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: LoopThread | None = None
        self._closed = False
        # Changes when everything that was opened through the portal belongs to another process.
        self.generation = 0
        _PORTALS.add(self)

    @property
    def closed(self) -> bool:
        """Has it been closed? Then every call is refused."""
        return self._closed

    def call(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine in the portal's thread and wait for its result."""
        with self._lock:
            if self._closed:
                coroutine.close()
                raise _closed()
            if self._thread is None:
                self._thread = LoopThread()
                # When nothing can call through this portal any more.
                weakref.finalize(self, self._thread.stop).atexit = False
            thread = self._thread
        return thread.call(coroutine)

    def release(self, generator: AsyncGenerator[Any, None]) -> None:
        """Close an asynchronous generator that nobody iterates any more, without waiting for it."""
        if (thread := self._thread) is not None:
            thread.release(generator)

    def close(self) -> None:
        """End the thread and all that it holds; calls under way in other threads raise StoreError."""
        with self._lock:
            self._closed = True
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.end()

    def reset_after_fork(self) -> None:
        """Begin again in a forked child, which has none of its parent's threads."""
        self._lock = threading.Lock()
        if self._thread is not None:
            # Kept for good: its connections are the parent's, and closing them here would end them there.
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
    return StoreError("this client is closed;", hint="get another one from the app: bird.sync.")


class SyncClient:
    """The nouns of a client with methods that wait, and iterators for asynchronous generators."""

    def __init__(self, find: Callable[[], Awaitable[Any]], portal: Portal) -> None:
        """`find` gives the wrapped object for the portal's event loop."""
        self._find = find
        self._portal = portal
        self._generation = -1
        self._wrapped: Any = None
        self._resolve()

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._resolve(), name)
        return SyncNoun(self, name) if isinstance(attribute, ClientBase) else self.wrap(attribute)

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._resolve()) if not name.startswith("_")]

    def verb(self, noun: str, name: str) -> Any:
        """A method of a noun of the client for the portal's event loop, which a fork changes."""
        return self.wrap(getattr(getattr(self._resolve(), noun), name))

    def wrap(self, attribute: Any) -> Any:
        """A method that waits for a coroutine, or an iterator; anything else as it is."""
        if inspect.isasyncgenfunction(attribute):
            return self._iterate(attribute)
        return self._block(attribute) if inspect.iscoroutinefunction(attribute) else attribute

    def _resolve(self) -> Any:
        if self._generation != self._portal.generation:
            self._generation = self._portal.generation

            async def find() -> Any:
                return await self._find()

            self._wrapped = self._portal.call(find())
        return self._wrapped

    def _block(self, method: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
        @functools.wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            return self._portal.call(method(*args, **kwargs))

        return call

    def _iterate(self, method: Callable[..., AsyncGenerator[Any, None]]) -> Callable[..., Iterator[Any]]:
        @functools.wraps(method)
        def iterate(*args: Any, **kwargs: Any) -> Iterator[Any]:
            steps = method(*args, **kwargs)

            async def step() -> Any:
                return await anext(steps, _END)

            try:
                while (item := self._portal.call(step())) is not _END:
                    yield item
            finally:
                self._portal.release(steps)

        return iterate


class SyncNoun:
    """The verbs of one noun, each of which waits."""

    def __init__(self, client: SyncClient, noun: str) -> None:
        self._client = client
        self._noun = noun

    def __getattr__(self, name: str) -> Any:
        return self._client.verb(self._noun, name)

    def __dir__(self) -> list[str]:
        return [name for name in dir(getattr(self._client._resolve(), self._noun)) if not name.startswith("_")]
