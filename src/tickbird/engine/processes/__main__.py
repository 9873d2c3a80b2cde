"""`python -m tickbird.engine.processes KIND APP WORKER CHANNEL`: started by workers, not by people.

KIND is `app` for a child that imports an app and executes its runs, or `program` for a command.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import NoReturn

from tickbird.engine.processes.supervisor import main


def run_app_child(app: str, channel: int) -> NoReturn:
    """In the child of a supervisor: import an app, and execute runs of its tasks."""
    from tickbird.engine.processes.child_main import serve

    serve(app, channel)
    sys.exit()


def exec_command(channel: int) -> NoReturn:
    """In the child of a supervisor: replace this process by the program that the worker names."""
    from tickbird.engine.processes.command_exec import launch

    launch(channel)


if __name__ == "__main__":
    kind, app, worker, channel = sys.argv[1:]
    main(partial(run_app_child, app) if kind == "app" else exec_command, int(worker), int(channel))
