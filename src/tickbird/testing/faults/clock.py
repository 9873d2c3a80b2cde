"""A wall clock that can be set for some processes and no others, by a small library that is compiled when needed."""

from __future__ import annotations

import shutil
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import Self

from tickbird.testing.faults.absent import Absent

_SOURCE = Path(__file__).with_name("clock_shim.c")


class SetClock:
    """`with SetClock() as clock:` start processes with `clock.environment`, then `clock.set(seconds_ahead)`."""

    def __init__(self, ahead: float = 0.0) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="tickbird-clock-"))
        # A server's own user must be able to read it.
        self._folder.chmod(0o755)
        self._file = self._folder / "ahead"
        self._library = self._folder / "clock.so"
        try:
            self.set(ahead)
            _compile(self._library)
        except BaseException:
            self.close()
            raise

    @property
    def environment(self) -> dict[str, str]:
        """What puts a new process under this clock."""
        return {"LD_PRELOAD": str(self._library), "TICKBIRD_CLOCK": str(self._file)}

    def set(self, ahead: float) -> None:
        """Set it so many seconds ahead of the machine's, for all processes that have it, at once."""
        # Written in place: whoever has mapped the file sees it.
        with self._file.open("r+b" if self._file.exists() else "wb") as file:
            file.write(struct.pack("=q", round(ahead * 1_000_000_000)))

    def close(self) -> None:
        """Delete it; processes that are left keep the last offset."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _compile(library: Path) -> None:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise Absent("a C compiler is not installed. Run: sudo apt-get install gcc libc6-dev")
    command: list[str | Path] = [compiler, "-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o", library, _SOURCE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Absent(f"the clock's library does not compile; is libc6-dev installed? {done.stderr}")
