"""Text files of any size, line by line, also compressed with gzip."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any, Final

from tickbird.domain.errors import InvalidError

# A longer line is returned in parts with the same location, to limit memory.
MAX_LINE_LENGTH: Final = 1_000_000
# Receives the number of bytes read since the last call.
Advance = Callable[[int], None]


def size_of(path: str) -> int | None:
    """Return the size of a file in bytes; None if it is not a regular file."""
    try:
        return Path(path).stat().st_size if Path(path).is_file() else None
    except OSError:
        return None


def lines_of(path: str, advance: Advance = lambda _: None) -> Iterator[tuple[str, str]]:
    """Yield each line with its location; `-` is stdin, and .gz files are decompressed."""
    shown = "standard input" if path == "-" else path[:200]
    try:
        with _opened(path) as (file, counted):
            before, number, whole = 0, 0, True
            while line := file.readline(MAX_LINE_LENGTH):
                number += whole
                whole = line.endswith(b"\n")
                yield (
                    f"{shown}:{number}",
                    line.decode("utf-8-sig" if number == 1 else "utf-8", "replace").rstrip("\r\n"),
                )
                if counted is not None and number % 1_000 == 0:
                    at = counted.tell()
                    advance(at - before)
                    before = at
    except (OSError, EOFError, zlib.error) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InvalidError(
            f"{shown} cannot be read: {reason}.", field="file", hint="Check the path and the permissions."
        ) from None


class _opened:  # noqa: N801 - used like a function
    """A file to read from, and the underlying file, whose position shows the progress."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> tuple[IO[bytes], IO[bytes] | None]:
        if self._path == "-":
            self._held: Any = nullcontext()
            return sys.stdin.buffer, None
        self._held = raw = Path(self._path).open("rb")
        if self._path.endswith(".gz"):
            return gzip.open(raw), raw  # type: ignore[return-value]
        return raw, raw

    def __exit__(self, *error: object) -> None:
        self._held.__exit__(None, None, None)
