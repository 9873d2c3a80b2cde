"""Child processes that unpickle or execute untrusted input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final

from tickbird.domain.errors import InvalidError

_TIMEOUT: Final = 300
_MAX_OUTPUT_BYTES: Final = 64 * 2**20
_MAX_STDERR: Final = 10_000


def run_child(script: str, *arguments: str, python: str | None, request: Any = None, what: str) -> Any:
    """Run a script of this package in another interpreter and return its JSON output; errors mention `what` it does.

    The child has its own session, no terminal, and no TICKBIRD_ variables. Its remaining processes are killed at the
    end.
    """
    script_text = Path(__file__).with_name(f"{script}.py").read_text(encoding="utf-8")
    # Files instead of pipes, because a process that outlives the child could keep a pipe open.
    with TemporaryFile() as stdin, TemporaryFile() as stdout, TemporaryFile() as stderr:
        stdin.write(json.dumps(request).encode())
        stdin.seek(0)
        # With -c, because the folder of the script would be on the import path and shadow libraries.
        code = _run([python or sys.executable, "-c", script_text, *arguments], stdin, stdout, stderr, what)
        stdout.seek(0)
        output = stdout.read(_MAX_OUTPUT_BYTES + 1)
        if len(output) > _MAX_OUTPUT_BYTES:
            raise InvalidError(
                f"the child process that {what} returned more than {_MAX_OUTPUT_BYTES // 2**20} MiB.",
                hint="Import fewer schedules, or write them by hand.",
            )
        try:
            return json.loads(output)
        except (ValueError, RecursionError):
            raise InvalidError(
                f"the child process that {what} failed with exit code {code}: {_last_line(stderr)}.",
                hint="Use --python with an interpreter that has the required packages.",
            ) from None


def _run(command: list[str], stdin: IO[bytes], stdout: IO[bytes], stderr: IO[bytes], what: str) -> int:
    env = {name: value for name, value in os.environ.items() if not name.startswith("TICKBIRD_")}
    try:
        child = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=stderr, env=env, start_new_session=True)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InvalidError(
            f"{command[0][:200]} cannot be started: {reason}.",
            field="python",
            hint="Give the path of a Python interpreter with --python.",
        ) from None
    try:
        return child.wait(_TIMEOUT)
    except subprocess.TimeoutExpired:
        raise InvalidError(
            f"the child process that {what} did not end within {_TIMEOUT} s.",
            hint="Remove code that waits or loops when it is imported.",
        ) from None
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _last_line(stderr: IO[bytes]) -> str:
    size = stderr.seek(0, os.SEEK_END)
    stderr.seek(max(0, size - _MAX_STDERR))
    lines = stderr.read().decode(errors="replace").strip().splitlines()
    return (lines or ["no output"])[-1][:300]
