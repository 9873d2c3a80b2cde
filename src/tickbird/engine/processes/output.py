"""What a child prints: always read, so that it never blocks, and kept only as far as a person would read it."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from datetime import UTC, datetime

from tickbird.engine.processes.framing import MAX_LINE_LENGTH, MAX_LINES
from tickbird.targets.protocol import Run

_CHUNK = 65_536
# What is read at a time, so that one that prints a lot leaves time for others.
_CHUNKS = 4
# As much as a pipe can hold, at the most.
_PIPE = 16
_TAIL = 4_000


class Output:
    """One stream of a child."""

    def __init__(self, descriptor: int, level: int) -> None:
        self.descriptor = descriptor
        self._level = level
        self._rest = b""
        self.tail = b""
        self._lines = 0
        self.run: Run | None = None

    def begin(self, run: Run) -> None:
        """What comes from now on is this run's."""
        self.run, self.tail, self._rest, self._lines = run, b"", b"", 0

    def read(self) -> bool:
        """Read what there is, up to a limit; False at the end."""
        for _ in range(_CHUNKS):
            try:
                data = os.read(self.descriptor, _CHUNK)
            except BlockingIOError:
                return True
            except OSError:
                return False
            if not data:
                return False
            self._take(data)
        return True

    def end(self) -> None:
        """The run is over: what it printed is all here, or in the pipe."""
        with suppress(OSError):
            # A process that it left behind may go on printing.
            for _ in range(_PIPE):
                self._take(os.read(self.descriptor, _CHUNK))
        if self._rest:
            self._log_line(self._rest)
        if self._lines > MAX_LINES and self.run is not None:
            dropped = f"{self._lines - MAX_LINES:,} more lines were printed, and dropped"
            self.run.log.relay(logging.WARNING, dropped, datetime.now(UTC))
        self.run, self._rest = None, b""

    def close(self) -> None:
        """Nothing more comes."""
        self.end()
        if self.descriptor >= 0:
            os.close(self.descriptor)
        self.descriptor = -1

    def _take(self, data: bytes) -> None:
        self.tail = (self.tail + data)[-_TAIL:]
        if self._lines > MAX_LINES:
            self._lines += data.count(b"\n")
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._log_line(line)
        # A line without end is cut where it gets too long; the rest of it is only seen in the tail.
        self._rest = self._rest[:MAX_LINE_LENGTH]

    def _log_line(self, line: bytes) -> None:
        self._lines += 1
        if self._lines <= MAX_LINES and self.run is not None:
            text = line[:MAX_LINE_LENGTH].decode(errors="backslashreplace").replace("\0", "\\0").rstrip("\r")
            self.run.log.relay(self._level, text, datetime.now(UTC))


def tail(outputs: list[Output], maximum: int = 20) -> str:
    """The last lines, as they help to understand an end without a word."""
    text = b"".join(output.tail for output in outputs).decode(errors="backslashreplace").replace("\0", "\\0")
    return "\n".join(text.rstrip().splitlines()[-maximum:])
