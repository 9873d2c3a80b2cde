"""File watcher: detects changes by size, modification time and inode, with the standard library only."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

_LEFT_OUT = {"__pycache__", "node_modules", "site-packages"}
# A folder with more Python files than this is not a single project.
MAX_FILES = 20_000

FileState = tuple[int, int, int]


def project_files(folder: Path) -> Iterator[str]:
    """Yield the Python files below a folder, except in virtual environments and hidden folders."""
    number = 0
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _LEFT_OUT]
        if "pyvenv.cfg" in names:
            folders.clear()
            continue
        for name in names:
            if name.endswith(".py") and number < MAX_FILES:
                number += 1
                yield str(Path(parent) / name)


def is_own(file: str, folder: Path) -> bool:
    """Return True if a module's file belongs to the project, not to an installed package."""
    path = Path(file)
    if not path.is_relative_to(folder):
        return False
    inner = path.relative_to(folder).parts[:-1]
    if any(part in _LEFT_OUT or part.startswith(".") for part in inner):
        return False
    return not any((folder.joinpath(*inner[:depth]) / "pyvenv.cfg").exists() for depth in range(1, len(inner) + 1))


class Watch:
    """Reports files that changed since the last call of `changed`."""

    def __init__(self) -> None:
        self._marks: dict[str, FileState | None] = {}

    def watch_only(self, files: Collection[str]) -> None:
        """Replace the watched files. Files that were watched before keep their last state."""
        self._marks = {file: self._marks[file] if file in self._marks else _fingerprint(file) for file in files}

    @property
    def files(self) -> Collection[str]:
        return self._marks.keys()

    def changed(self) -> list[str]:
        """Return the files that changed or disappeared."""
        changed = []
        for file, before in self._marks.items():
            now = _fingerprint(file)
            if now != before:
                changed.append(file)
                self._marks[file] = now
        return changed


def _fingerprint(file: str) -> FileState | None:
    try:
        status = os.stat(file)  # noqa: PTH116 - called for every file several times a second
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
