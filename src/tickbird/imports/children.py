"""Child processes that open or execute what is not trusted enough to be opened here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from tickbird.domain.errors import InvalidError

_PATIENCE: Final = 300


def ask_child(script: str, *words: str, python: str | None, asked: Any = None, what: str) -> Any:
    """What a script of this package answers in another interpreter, as JSON; `what` it does is told when it fails."""
    code = Path(__file__).with_name(f"{script}.py").read_text(encoding="utf-8")
    chosen = python or sys.executable
    try:
        # As text, so that what lies beside that file is not taken for the library.
        done = subprocess.run(
            [chosen, "-c", code, *words],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    except OSError as error:
        raise InvalidError(f"{chosen[:200]} cannot be started: {error.strerror}.", field="python") from None
    except subprocess.TimeoutExpired:
        raise InvalidError(f"the process that {what} did not end within {_PATIENCE} s.") from None
    try:
        return json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        raise InvalidError(
            f"the process that {what} ended with {done.returncode}: {last[:300]};",
            hint="--python names an interpreter that has all that it needs.",
        ) from None
