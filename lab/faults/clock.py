"""A wall clock that can be set for some processes, by a preloaded library that is compiled here."""

from __future__ import annotations

import shutil
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import Self

from lab.faults.missing_requirement import MissingRequirement

_SOURCE = Path(__file__).with_name("clock_shim.c")


class SetClock:
    """`with SetClock() as clock:` start processes with `clock.environment`, then `clock.set(seconds)`."""

    def __init__(self, offset: float = 0.0) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="tickbird-clock-"))
        # A server's own user must be able to read it.
        self._folder.chmod(0o755)
        self._file = self._folder / "offset"
        self._library = self._folder / "clock.so"
        try:
            self.set(offset)
            _compile(self._library)
        except BaseException:
            self.close()
            raise

    @property
    def environment(self) -> dict[str, str]:
        """The variables that give a new process this clock."""
        return {"LD_PRELOAD": str(self._library), "TICKBIRD_CLOCK": str(self._file)}

    def set(self, offset: float) -> None:
        """Set it to an offset in seconds from the machine's clock, at once for all processes that have it."""
        # Written in place, because processes have mapped the file.
        with self._file.open("r+b" if self._file.exists() else "wb") as file:
            file.write(struct.pack("=q", round(offset * 1_000_000_000)))

    def close(self) -> None:
        """Delete it; living processes keep the last offset."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _compile(library: Path) -> None:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise MissingRequirement("a C compiler is not installed. Run: sudo apt-get install gcc libc6-dev")
    command: list[str | Path] = [compiler, "-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o", library, _SOURCE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MissingRequirement(f"the clock's library does not compile; is libc6-dev installed? {done.stderr}")
