"""Displays of snapshots: a live screen for terminals, lines for pipes and logs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

from rich.console import Console
from rich.live import Live

from examples.bird_shop import view
from examples.bird_shop.snapshot import Event, Snapshot

_SUMMARY_EVERY = 10.0


class Display(Protocol):
    """A display of snapshots."""

    def begin(self, url: str) -> None:
        """Start, before the first snapshot."""
        ...

    def show(self, snapshot: Snapshot, new: Sequence[Event]) -> None:
        """Show a snapshot, and the events since the previous one."""
        ...

    def end(self) -> None:
        """Restore the terminal."""
        ...


class Screen:
    """Uses the complete terminal, and restores it at the end."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, screen=True, auto_refresh=False)

    def begin(self, url: str) -> None:
        self._live.start()

    def show(self, snapshot: Snapshot, new: Sequence[Event]) -> None:
        width, height = self._console.size
        drawn = view.render(snapshot, width, height, plain_shapes=plain_shapes(self._console))
        self._live.update(drawn, refresh=True)

    def end(self) -> None:
        self._live.stop()


class Lines:
    """Prints one line per event, and sometimes the table, and flushes each at once."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._shown_at = time.monotonic()
        self._caught_up = ""
        self._draining: str | None = None
        self._notice = ""

    def begin(self, url: str) -> None:
        self._say(f"Tickbird demo on {url}; Ctrl-C drains and ends")

    def show(self, snapshot: Snapshot, new: Sequence[Event]) -> None:
        for event in new:
            self._say(view.line_of(event, plain_shapes=plain_shapes(self._console)))
        if snapshot.caught_up and str(snapshot.caught_up) != self._caught_up:
            self._caught_up = str(snapshot.caught_up)
            self._say(self._caught_up)
        if snapshot.notice != self._notice:
            self._notice = snapshot.notice
            self._say(f"worker: {self._notice}")
        self._tell_draining(snapshot)
        if snapshot.draining is None and time.monotonic() - self._shown_at >= _SUMMARY_EVERY:
            self._shown_at = time.monotonic()
            self._console.print()
            shapes = plain_shapes(self._console)
            self._console.print(view.summary(snapshot, self._console.width, plain_shapes=shapes), "")

    def end(self) -> None:
        """There is nothing to restore."""

    def _tell_draining(self, snapshot: Snapshot) -> None:
        """Print the drain once, then only when it waits for fewer runs."""
        if snapshot.draining is None:
            return
        names = ", ".join(each.partition(" (")[0] for each in snapshot.draining)
        if names != self._draining:
            self._draining = names
            self._say(view.draining_words(snapshot))

    def _say(self, text: str) -> None:
        print(text, file=self._console.file, flush=True)


def plain_shapes(console: Console) -> bool:
    """Return True if the terminal needs ASCII shapes."""
    return not console.encoding.lower().startswith("utf")
