"""A progress bar on a terminal for long operations."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tickbird.cli.options import GlobalOptions

# Seconds until the bar of a request to a server appears.
_SOON = 0.5


@contextmanager
def bar(settings: GlobalOptions, doing: str, many: int) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a progress callback that shows a bar for more than `many` items; None without a terminal."""
    if settings.as_json or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    # A server does not report progress, so the bar shows only the elapsed time.
    remote = settings.server_url is not None
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn() if remote else MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(f"{doing} on the server" if remote else doing, total=None, visible=False)
        if remote:
            shown = asyncio.get_running_loop().call_later(_SOON, lambda: progress.update(task, visible=True))
            try:
                yield None
            finally:
                shown.cancel()
            return

        def update(done: int, total: int) -> None:
            if total > many:
                progress.update(task, total=total, completed=done, visible=True)

        yield update
