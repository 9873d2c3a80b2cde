"""An app whose tasks return, raise, log and report hostile values."""

from __future__ import annotations

import logging
from typing import Any

from tests.engine.hostile import ERRORS, LEVELS, VALUES, RaisesInText, random_values
from tickbird import Run, Tickbird

bird = Tickbird(app="hostile")
elsewhere = logging.getLogger("shop.hostile")
elsewhere.setLevel(logging.INFO)


class Talkative:
    """Logs while it is converted to text."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def __repr__(self) -> str:
        self._run.log.info("asked for a text")
        return "talkative"


def returned(kind: str, name: str) -> Any:
    return next(random_values(int(name), 1)) if kind == "random" else VALUES[name]()


def act(run: Run, kind: str, name: str) -> Any:
    """Return, raise, report or log."""
    if kind in ("value", "random"):
        return returned(kind, name)
    if kind == "error":
        error = ERRORS[name]()
        raise error
    if kind == "progress":
        run.heartbeat(progress=VALUES[name]())
    elif kind == "talkative":
        run.heartbeat(progress={"a": Talkative(run)})
        return Talkative(run)
    else:
        speak(run)
    return "well"


def speak(run: Run) -> None:
    """Log lines that a store may refuse."""
    run.log.info("before")
    for level in LEVELS:
        run.log.log(level, "a level")
        elsewhere.handle(logging.makeLogRecord({"name": "shop", "levelno": level, "msg": "a level"}))
    for created in (1e30, float("nan"), -1e30, "noon"):
        elsewhere.handle(logging.makeLogRecord({"name": "shop", "levelno": 20, "msg": "when?", "created": created}))
    for name, make in VALUES.items():
        # Some take too long to print; others raise errors that no logger catches, which must affect only their task.
        if name not in ("shared", "texts", "text") and not name.startswith("raises "):
            run.log.info(make())
            run.log.info("%s %d", make(), RaisesInText())
    run.log.info("\ud800 \0 %s", "x" * 1_000_000)
    run.log.info("after")


@bird.task
def blocks(run: Run, kind: str, name: str) -> Any:
    return act(run, kind, name)


@bird.task
async def awaits(run: Run, kind: str, name: str) -> Any:
    return act(run, kind, name)


@bird.task(isolation="process")
def isolated(run: Run, kind: str, name: str) -> Any:
    return act(run, kind, name)


@bird.task
def healthy() -> str:
    return "well"
