"""A bar for a person at a terminal, while something takes long."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tickbird.cli.options import GlobalOptions

# What a server has not done in so many seconds takes long enough to show that it is at work.
_SOON = 0.5


@contextmanager
def bar(settings: GlobalOptions, doing: str, many: int) -> Iterator[Callable[[int, int], None] | None]:
    """What shows how far something is, to a person at a terminal, if there are more than so many of it."""
    if settings.as_json or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    # How far it is, only a server knows: then that it is at work, and for how long.
    away = settings.server_url is not None
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn() if away else MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(f"{doing}, at the server" if away else doing, total=None, visible=False)
        if away:
            shown = asyncio.get_running_loop().call_later(_SOON, lambda: progress.update(task, visible=True))
            try:
                yield None
            finally:
                shown.cancel()
            return

        def counted(done: int, total: int) -> None:
            if total > many:
                progress.update(task, total=total, completed=done, visible=True)

        yield counted
