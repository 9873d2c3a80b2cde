"""A small disk that can be filled."""

from __future__ import annotations

import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Self

from lab.faults.missing_requirement import MissingRequirement


class SmallDisk:
    """`with SmallDisk(64 << 20) as disk:` a file system at `disk.folder`; needs the permission to mount."""

    def __init__(self, size: int) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tickbird-disk-"))
        self._ballast = self.folder / "ballast"
        command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0777", "tickbird", str(self.folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            self.folder.rmdir()
            raise MissingRequirement(f"a small disk cannot be mounted: {done.stderr.strip()}")

    def fill(self) -> None:
        """Use all free space."""
        with self._ballast.open("ab", buffering=0) as file:
            for size in (1 << 20, 4_096):
                with suppress(OSError):
                    while file.write(bytes(size)) == size:
                        pass

    def clear(self) -> None:
        """Free the space that `fill` used."""
        self._ballast.unlink(missing_ok=True)

    def close(self) -> None:
        """Unmount it, also if files are open."""
        subprocess.run(["umount", "--lazy", str(self.folder)], capture_output=True, check=False)
        with suppress(OSError):
            self.folder.rmdir()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
