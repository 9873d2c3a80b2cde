"""An app with one task and no schedules of its own."""

from __future__ import annotations

from tickbird import Tickbird

bird = Tickbird()


@bird.task
async def noop() -> None:
    """Do nothing."""
