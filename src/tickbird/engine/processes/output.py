"""The output of a child: always read, so that the child never blocks, and stored up to a limit."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from datetime import UTC, datetime

from tickbird.engine.processes.framing import MAX_LINE_LENGTH, MAX_LINES
from tickbird.targets.protocol import Run

_CHUNK = 65_536
# Chunks per read, so that a child that prints a lot does not delay others.
_CHUNKS = 4
# Chunks that a full pipe can hold.
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
        """Assign all further output to this run."""
        self.run, self.tail, self._rest, self._lines = run, b"", b"", 0

    def read(self) -> bool:
        """Read the available output, up to a limit; False at the end of the stream."""
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
        """Read the rest of the run's output from the pipe."""
        with suppress(OSError):
            # A process that the run left behind may continue to print.
            for _ in range(_PIPE):
                self._take(os.read(self.descriptor, _CHUNK))
        if self._rest:
            self._log_line(self._rest)
        if self._lines > MAX_LINES and self.run is not None:
            dropped = f"{self._lines - MAX_LINES:,} more lines were dropped"
            self.run.log.relay(logging.WARNING, dropped, datetime.now(UTC))
        self.run, self._rest = None, b""

    def close(self) -> None:
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
        # A line that gets too long is cut; the rest of it appears only in the tail.
        self._rest = self._rest[:MAX_LINE_LENGTH]

    def _log_line(self, line: bytes) -> None:
        self._lines += 1
        if self._lines <= MAX_LINES and self.run is not None:
            text = line[:MAX_LINE_LENGTH].decode(errors="backslashreplace").replace("\0", "\\0").rstrip("\r")
            self.run.log.relay(self._level, text, datetime.now(UTC))


def tail(outputs: list[Output], maximum: int = 20) -> str:
    """The last lines, as a hint if the child ended without an error message."""
    text = b"".join(output.tail for output in outputs).decode(errors="backslashreplace").replace("\0", "\\0")
    return "\n".join(text.rstrip().splitlines()[-maximum:])
