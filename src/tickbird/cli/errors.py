"""Exit codes, and every error as one sentence with the next step."""

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
    0: "it worked",
    FAILED: "it failed, or something unexpected happened",
    INVALID: "wrong usage or invalid input",
    NOT_FOUND: "no such schedule, run or app",
    CONFLICT: "the state of the thing forbids it, or it changed meanwhile",
    STORE: "the store cannot be used: wrong URL, unreachable, no rights, schema missing, too old or too new",
    UNSUPPORTED: "the store lacks the capability that this needs",
    INTERRUPTED: "interrupted with Ctrl-C",
}
# What programs are told, whatever exit code a command gives the same thing.
_KINDS = {INVALID: "invalid", NOT_FOUND: "not-found", CONFLICT: "conflict", STORE: "store", UNSUPPORTED: "unsupported"}
_OF = (
    (InvalidError, INVALID),
    (NotFoundError, NOT_FOUND),
    (ConflictError, CONFLICT),
    (StoreError, STORE),
    (UnsupportedError, UNSUPPORTED),
)


class Failed(TickbirdError):
    """Something outside of Tickbird failed: an app's own code, a file."""


def guarded(run: Callable[[], Any], settings: GlobalOptions, args: Sequence[str] = ()) -> int:
    """Run a command line; the exit code, with whatever went wrong told on stderr, and to programs as JSON."""
    # Streams that were closed before it began; whatever is opened next would else be written to in their place.
    sys.stdin = sys.stdin or os.fdopen(os.open(os.devnull, os.O_RDONLY))
    sys.stdout = sys.stdout or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    sys.stderr = sys.stderr or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A locale without some letters shows them as escapes.
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
        # What cannot be read is refused at its first mistake, and --json may stand behind that.
        settings.as_json |= "--json" in args
        return _report(_usage(error), settings, error.exit_code, error)
    except (KeyboardInterrupt, click.Abort) as error:
        # click takes the end of any input for an interrupt, also one of a connection.
        if isinstance(error.__cause__, EOFError):
            return _unexpected(error.__cause__, settings)
        return INTERRUPTED
    except BrokenPipeError:
        return 0
    except TickbirdError as error:
        code = next((code for kind, code in _OF if isinstance(error, kind)), FAILED)
        return _report(str(error), settings, code, error)
    except Exception as error:  # noqa: BLE001 - a person gets a sentence, whatever happened
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
    hint = "" if settings.debug else "; run it again with --debug for the details."
    return _report(f"unexpected {type(error).__name__}: {error}{hint}", settings, FAILED, error)


def _report(text: str, settings: GlobalOptions, code: int, error: Exception) -> int:
    from tickbird.cli.output import clean

    kind = _KINDS.get(code, "failed")
    code = code if settings.error_code is None else settings.error_code
    # A stream that takes nothing must not hide the exit code, nor the other stream.
    with contextlib.suppress(OSError):
        if settings.debug:
            traceback.print_exc()
        sys.stderr.write(f"tickbird: {clean(text)}\n")
    with contextlib.suppress(OSError):
        if settings.as_json and not settings.answered:
            # On one line, as the last of commands that print a document a line.
            click.echo(json.dumps({**settings.beside, "error": _document(text, kind, code, error)}))
    return code


def _document(text: str, kind: str, code: int, error: Exception) -> dict[str, Any]:
    """What went wrong, for programs: the same fields whatever it is."""
    diagnostics = getattr(error, "diagnostics", ())
    if diagnostics:
        diagnostics = [encode(each) for each in diagnostics]
    return {
        "kind": kind,
        "exit_code": code,
        "text": text,
        "field": getattr(error, "field", "") or None,
        "hint": getattr(error, "hint", "") or None,
        "diagnostics": list(diagnostics),
    }


def _usage(error: click.ClickException) -> str:
    text = " ".join(error.format_message().split()).replace("a valid integer range", "a valid integer")
    text = text[:1].lower() + text[1:]
    if isinstance(error, click.UsageError) and error.ctx is not None:
        end = "" if text.endswith((".", "?")) else "."
        return f"{text}{end} See `{error.ctx.command_path} --help`."
    return text
