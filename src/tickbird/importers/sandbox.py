"""Child processes that open or execute what is not trusted enough to be opened here."""

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


def run_child(script: str, *words: str, python: str | None, asked: Any = None, what: str) -> Any:
    """What a script of this package answers in another interpreter, as JSON; `what` it does is told when it fails.

    It has a session of its own, and neither the terminal nor what Tickbird itself is given by its environment. What it
    leaves running ends with it.
    """
    code = Path(__file__).with_name(f"{script}.py").read_text(encoding="utf-8")
    # Files and no pipes: a process that outlives the child could hold those open.
    with TemporaryFile() as given, TemporaryFile() as told, TemporaryFile() as complained:
        given.write(json.dumps(asked).encode())
        given.seek(0)
        # As text, so that what lies beside that file is not taken for the library.
        returned = _run([python or sys.executable, "-c", code, *words], given, told, complained, what)
        told.seek(0)
        answer = told.read(_MAX_OUTPUT_BYTES + 1)
        if len(answer) > _MAX_OUTPUT_BYTES:
            raise InvalidError(f"the process that {what} returned more than {_MAX_OUTPUT_BYTES // 2**20} MiB.")
        try:
            return json.loads(answer)
        except (ValueError, RecursionError):
            raise InvalidError(
                f"the process that {what} ended with {returned}: {_last_line(complained)}.",
                hint="Use --python with an interpreter that has the required packages.",
            ) from None


def _run(command: list[str], given: IO[bytes], told: IO[bytes], complained: IO[bytes], what: str) -> int:
    env = {name: value for name, value in os.environ.items() if not name.startswith("TICKBIRD_")}
    try:
        child = subprocess.Popen(command, stdin=given, stdout=told, stderr=complained, env=env, start_new_session=True)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InvalidError(f"{command[0][:200]} cannot be started: {reason}.", field="python") from None
    try:
        return child.wait(_TIMEOUT)
    except subprocess.TimeoutExpired:
        raise InvalidError(f"the process that {what} did not end within {_TIMEOUT} s.") from None
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _last_line(complained: IO[bytes]) -> str:
    size = complained.seek(0, os.SEEK_END)
    complained.seek(max(0, size - _MAX_STDERR))
    lines = complained.read().decode(errors="replace").strip().splitlines()
    return (lines or ["no output"])[-1][:300]
