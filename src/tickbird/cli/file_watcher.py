"""Which files have changed: by their size and time of change, without anything from outside of Python."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

_LEFT_OUT = {"__pycache__", "node_modules", "site-packages"}
# A folder with more Python files than this is no project of its own.
MAX_FILES = 20_000

FileState = tuple[int, int, int]


def project_files(folder: Path) -> Iterator[str]:
    """The Python files below a folder, without those of environments and hidden folders."""
    found = 0
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _LEFT_OUT]
        if "pyvenv.cfg" in names:
            folders.clear()
            continue
        for name in names:
            if name.endswith(".py") and found < MAX_FILES:
                found += 1
                yield str(Path(parent) / name)


def is_own(file: str, folder: Path) -> bool:
    """Does a module's file belong to the project, rather than to something installed in it?"""
    path = Path(file)
    if not path.is_relative_to(folder):
        return False
    inner = path.relative_to(folder).parts[:-1]
    if any(part in _LEFT_OUT or part.startswith(".") for part in inner):
        return False
    return not any((folder.joinpath(*inner[:depth]) / "pyvenv.cfg").exists() for depth in range(1, len(inner) + 1))


class Watch:
    """Remembers how files looked when it was last asked."""

    def __init__(self) -> None:
        self._marks: dict[str, FileState | None] = {}

    def watch_only(self, files: Collection[str]) -> None:
        """Watch these files and no others; those that were watched before keep what was seen of them."""
        self._marks = {file: self._marks[file] if file in self._marks else _fingerprint(file) for file in files}

    @property
    def files(self) -> Collection[str]:
        """What is watched."""
        return self._marks.keys()

    def changed(self) -> list[str]:
        """The files that differ from what was seen last, also those that are gone."""
        found = []
        for file, before in self._marks.items():
            now = _fingerprint(file)
            if now != before:
                found.append(file)
                self._marks[file] = now
        return found


def _fingerprint(file: str) -> FileState | None:
    try:
        status = os.stat(file)  # noqa: PTH116 - called for every file several times a second
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
