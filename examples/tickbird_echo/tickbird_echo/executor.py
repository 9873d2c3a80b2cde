"""Executes echoes. Only workers import this module."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from tickbird.targets import Run, SpecExecutable

from .spec import EchoSpec


class Echo(SpecExecutable):
    """The echoes of one channel."""

    async def execute(self, spec: EchoSpec, run: Run) -> dict[str, str]:
        run.log.info("%s", spec.text)
        return {"echo": spec.text}


def executables(app: Any) -> Iterable[Echo]:
    """Return the channels of this worker. It publishes them as names of its targets."""
    channels = os.environ.get("ECHO_CHANNELS", "main").split(",")
    return [Echo(EchoSpec, channel) for channel in channels]
