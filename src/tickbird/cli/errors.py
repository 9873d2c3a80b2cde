"""Exit codes, and the output of errors: a message with the next step, and JSON with --json."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import click

from tickbird.cli.options import GlobalOptions
from tickbird.domain.errors import (
    ConflictError,
    InvalidError,
    NotFoundError,
    StoreError,
    TickbirdError,
    UnsupportedError,
)
from tickbird.wire.codec import encode

FAILED, INVALID, NOT_FOUND, CONFLICT, STORE, UNSUPPORTED, INTERRUPTED = 1, 2, 3, 4, 5, 6, 130
CODES = {
    0: "Success.",
    FAILED: "Failure, or an unexpected error.",
    INVALID: "Invalid usage or input.",
    NOT_FOUND: "No such schedule, run or app.",
    CONFLICT: "The current state does not allow the change, or another client changed it first.",
    STORE: "The store cannot be used: wrong URL, unreachable, no permission, or a missing, old or newer schema.",
    UNSUPPORTED: "The store does not support this feature.",
    INTERRUPTED: "Interrupted with Ctrl-C.",
}
# The `kind` in the JSON error does not depend on `error_code`.
_KINDS = {INVALID: "invalid", NOT_FOUND: "not-found", CONFLICT: "conflict", STORE: "store", UNSUPPORTED: "unsupported"}
_OF = (
    (InvalidError, INVALID),
    (NotFoundError, NOT_FOUND),
    (ConflictError, CONFLICT),
    (StoreError, STORE),
    (UnsupportedError, UNSUPPORTED),
)


class Failed(TickbirdError):
    """Something outside of Tickbird failed: the app's own code, or a file."""


def guarded(run: Callable[[], Any], settings: GlobalOptions, args: Sequence[str] = ()) -> int:
    """Run a command line and return its exit code. Errors are printed to stderr, and with --json also to stdout."""
    # A stream may be closed at startup. Without this, the next opened file would get its descriptor.
    sys.stdin = sys.stdin or os.fdopen(os.open(os.devnull, os.O_RDONLY))
    sys.stdout = sys.stdout or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    sys.stderr = sys.stderr or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Escape characters that the locale cannot encode.
            stream.reconfigure(errors="backslashreplace")
    try:
        return _exit_code(run, settings, args)
    finally:
        _flush_streams()


def _exit_code(run: Callable[[], Any], settings: GlobalOptions, args: Sequence[str]) -> int:
    try:
        code = run()
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return INVALID
    except click.ClickException as error:
        # click stops at the first error, and --json may come after it.
        settings.as_json |= "--json" in args
        return _report(_usage(error), settings, error.exit_code, error)
    except (KeyboardInterrupt, click.Abort) as error:
        # click turns every EOFError into Abort, also that of a connection.
        if isinstance(error.__cause__, EOFError):
            return _unexpected(error.__cause__, settings)
        return INTERRUPTED
    except BrokenPipeError:
        return 0
    except TickbirdError as error:
        code = next((code for kind, code in _OF if isinstance(error, kind)), FAILED)
        return _report(str(error), settings, code, error)
    except Exception as error:  # noqa: BLE001 - every error becomes a message
        return _unexpected(error, settings)
    return code if isinstance(code, int) else 0


def _flush_streams() -> None:
    """Point a stream that refuses its buffer at /dev/null, because the interpreter flushes once more at exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream.fileno())
            os.close(null)


def _unexpected(error: Exception, settings: GlobalOptions) -> int:
    text = f"unexpected {type(error).__name__}: {error}"
    if not settings.debug:
        text = f"{text.rstrip('.')}. Run it again with --debug for details."
    return _report(text, settings, FAILED, error)


def _report(text: str, settings: GlobalOptions, code: int, error: Exception) -> int:
    from tickbird.cli.output import clean

    kind = _KINDS.get(code, "failed")
    code = code if settings.error_code is None else settings.error_code
    # An error on one stream must not hide the exit code or the output on the other stream.
    with contextlib.suppress(OSError):
        if settings.debug:
            traceback.print_exc()
        sys.stderr.write(f"tickbird: {clean(text)}\n")
    with contextlib.suppress(OSError):
        if settings.as_json and not settings.answered:
            # On one line, because some commands print one object per line.
            click.echo(json.dumps({**settings.error_context, "error": _document(text, kind, code, error)}))
    return code


def _document(text: str, kind: str, code: int, error: Exception) -> dict[str, Any]:
    diagnostics = [encode(diagnostic) for diagnostic in getattr(error, "diagnostics", ())]
    return {
        "kind": kind,
        "exit_code": code,
        "text": text,
        "field": getattr(error, "field", "") or None,
        "hint": getattr(error, "hint", "") or None,
        "diagnostics": diagnostics,
    }


def _usage(error: click.ClickException) -> str:
    text = " ".join(error.format_message().split()).replace("a valid integer range", "a valid integer")
    text = text[:1].lower() + text[1:]
    if isinstance(error, click.UsageError) and error.ctx is not None:
        end = "" if text.endswith((".", "?")) else "."
        return f"{text}{end} See `{error.ctx.command_path} --help`."
    return text
