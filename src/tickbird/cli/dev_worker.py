"""The child process of `tickbird dev`: imports the app, describes it, and works after the go signal."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tickbird.app import Tickbird
from tickbird.cli import root
from tickbird.cli.app_loading import load_app
from tickbird.cli.errors import guarded
from tickbird.cli.file_watcher import is_own
from tickbird.cli.options import GlobalOptions
from tickbird.stores import open_store

# A task may import something when it first runs.
RESCAN_INTERVAL = 1.0


def main(report: int, go: int, given: str, url: str | None, args: list[str]) -> None:
    """Import the app, report on one pipe, wait for the go signal on the other, and end when that one closes."""
    folder = Path.cwd()
    birds: list[Tickbird] = []
    code = guarded(lambda: birds.append(load_app(given)), GlobalOptions(debug="--debug" in args))
    if not code:
        code = guarded(lambda: birds.append(_describe(birds[0], url, report, folder)), GlobalOptions())
    if code:
        _send(report, {"code": code, "files": _own_files(folder)})
        raise SystemExit(code)
    if not os.read(go, 1):
        raise SystemExit(0)
    threading.Thread(target=_watch_modules, args=(report, folder), daemon=True).start()
    threading.Thread(target=_end_with_parent, args=(go,), daemon=True).start()
    root.main(["worker", given, *args])


def _describe(bird: Tickbird, url: str | None, report: int, folder: Path) -> Tickbird:
    """Send the description of the app, if its store can be used."""
    import asyncio
    from datetime import UTC, datetime

    store = open_store(url or bird.url)
    asyncio.run(store.check_schema())
    now = datetime.now(UTC)
    schedules = [
        {
            "name": name,
            "trigger_description": schedule.trigger.describe(),
            "zone": schedule.trigger.tz,
            "next": _iso(schedule.trigger.next_after(now)),
        }
        for name, schedule in bird.declarations.schedules.items()
    ]
    _send(
        report,
        {
            "app": bird.app,
            "url": store.url,
            # With the password: only the parent process reads it.
            "store": url or bird.url,
            "namespace": bird.namespace,
            "tasks": sorted(bird.tasks),
            "schedules": schedules,
            "files": _own_files(folder),
        },
    )
    return bird


def _iso(at: Any) -> str | None:
    return None if at is None else str(at.isoformat())


def _own_files(folder: Path) -> list[str]:
    files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    return sorted(file for file in files if file and is_own(file, folder))


def _watch_modules(report: int, folder: Path) -> None:
    count = len(sys.modules)
    while True:
        time.sleep(RESCAN_INTERVAL)
        if len(sys.modules) != count:
            count = len(sys.modules)
            _send(report, {"files": _own_files(folder)})


def _end_with_parent(go: int) -> None:
    """End when the pipe closes, because then the parent is gone."""
    while os.read(go, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _send(report: int, document: dict[str, Any]) -> None:
    os.write(report, json.dumps(document).encode() + b"\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4] or None, sys.argv[5:])
