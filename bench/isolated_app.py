"""An app whose one task runs in child processes."""

from __future__ import annotations

from tickbird import Tickbird

bird = Tickbird()


@bird.task(isolation="process")
def noop() -> None:
    """Do nothing."""
