"""Loader: find schedule files in folders, detect their format and parse them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from tickbird.files.diagnostics import Diagnostic
from tickbird.files.parse.json import Remark, read_json
from tickbird.files.parse.nodes import Node, Position, SourceLocation, Unreadable
from tickbird.files.parse.toml import read_toml
from tickbird.files.parse.yaml import read_yaml

Format = Literal["toml", "yaml", "json"]
FORMATS = get_args(Format)
ENDINGS: dict[str, Format] = {".toml": "toml", ".yaml": "yaml", ".yml": "yaml", ".json": "json"}
# Large enough for 100,000 schedules. A larger file is most likely named by mistake.
MAX_FILE = 64 * 2**20
# Maximum number of files and folders in a folder, and of bytes in all files.
MAX_ENTRIES = 100_000
MAX_DOCUMENT = 4 * MAX_FILE
_ENDINGS = "*.toml, *.yaml, *.yml or *.json"


@dataclass(slots=True)
class Source:
    """One parsed file, with its name for diagnostics."""

    file: str
    root: Node

    def location(self, at: Position | None) -> SourceLocation:
        return SourceLocation(self.file) if at is None else SourceLocation(self.file, *at)


def read_paths(paths: Iterable[str | Path], diagnostics: list[Diagnostic]) -> list[Source]:
    """Read the named files, and all schedule files in the named folders and their subfolders."""
    seen: set[tuple[int, int]] = set()
    sources: list[Source] = []
    left = MAX_DOCUMENT
    for file in (file for path in paths for file in _files(path, diagnostics)):
        source, size = _read_file(file, seen, diagnostics)
        if source is not None:
            sources.append(source)
        left -= size
        if left < 0:
            words = f"all files together are larger than {MAX_DOCUMENT // 2**20} MiB"
            diagnostics.append(Diagnostic(SourceLocation(str(file)), f"{words}. Apply fewer files at a time."))
            break
    return sources


def read_text(data: bytes, file: str, spelling: Format, diagnostics: list[Diagnostic]) -> Source | None:
    """Parse the bytes of a file; None after a diagnostic was added."""
    remarks: list[Remark] = []
    try:
        text = _decoded(data)
        if not text.strip():
            raise Unreadable("is empty. Add a table of schedules")
        if spelling == "toml":
            root = read_toml(text)
            if not root.value:
                raise Unreadable("contains only comments. Add a table of schedules")
        else:
            root, remarks = (read_json if spelling == "json" else read_yaml)(text)
    except Unreadable as error:
        location = SourceLocation(file) if error.at is None else SourceLocation(file, *error.at)
        text = error.reason if error.at is None else f"cannot be read as {spelling.upper()}: {error.reason}"
        diagnostics.append(Diagnostic(location, text + ("" if text.endswith(".") else ".")))
        return None
    source = Source(file, root)
    diagnostics += [Diagnostic(source.location(at), words) for at, words in remarks]
    return source


def _decoded(data: bytes) -> str:
    """Decode UTF-8, with or without a byte order mark."""
    if len(data) > MAX_FILE:
        raise Unreadable(f"is larger than {MAX_FILE // 2**20} MiB. Split it into several files in one folder")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable("is UTF-16. Save it as UTF-8")
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1
        raise Unreadable("the text is not UTF-8 here. Save it as UTF-8", (line, column)) from None


def _files(named: str | Path, diagnostics: list[Diagnostic]) -> Iterator[Path]:
    if not str(named):
        # An unset shell variable must not mean the current folder.
        diagnostics.append(Diagnostic(SourceLocation("''"), "is not a file name. Write . for the current folder."))
        return
    path = Path(named)
    # Unlike Path.is_dir, this raises no error for unusual names.
    if not os.path.isdir(path):  # noqa: PTH112
        yield path
        return
    refused: list[Diagnostic] = []
    try:
        files = sorted(_within(path, refused))
    except _TooManyError:
        # In such a tree, other errors do not matter.
        words = f"the folder contains more than {MAX_ENTRIES:,} files and folders"
        diagnostics.append(
            Diagnostic(
                SourceLocation(str(path)),
                f"{words}. Name a folder that contains only schedule files, or name the files.",
            )
        )
        return
    diagnostics += refused
    if not files:
        diagnostics.append(
            Diagnostic(SourceLocation(str(path)), f"the folder contains no file with extension {_ENDINGS}.")
        )
    yield from files


class _TooManyError(Exception):
    """The folder has more than MAX_ENTRIES files and folders."""


def _within(folder: Path, diagnostics: list[Diagnostic]) -> Iterator[Path]:
    """Yield the schedule files of a folder and its subfolders, without dot files and links to folders."""

    def refused(error: OSError) -> None:
        diagnostics.append(
            Diagnostic(SourceLocation(str(error.filename)), f"the folder cannot be read ({error.strerror}).")
        )

    entries = 0
    for parent, folders, names in os.walk(folder, onerror=refused):
        entries += len(folders) + len(names)
        if entries > MAX_ENTRIES:
            raise _TooManyError
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if name.startswith(".") or Path(name).suffix.lower() not in ENDINGS:
                continue
            file = Path(parent, name)
            if not _is_pipe(file):
                yield file


def _is_pipe(file: Path) -> bool:
    """Return True if reading would block. An error is reported later, when the file is read."""
    try:
        return stat.S_ISFIFO(file.stat().st_mode)
    except OSError:
        return False


def _read_file(path: Path, seen: set[tuple[int, int]], diagnostics: list[Diagnostic]) -> tuple[Source | None, int]:
    """Return the parsed file, or None, and the number of bytes read."""
    spelling = ENDINGS.get(path.suffix.lower())
    if spelling is None and os.path.exists(path):  # noqa: PTH110
        diagnostics.append(
            Diagnostic(SourceLocation(str(path)), f"the format is unknown. Use the extension {_ENDINGS}.")
        )
        return None, 0
    try:
        with path.open("rb") as file:
            # A file is read once, even if several paths name it.
            status = os.fstat(file.fileno())
            if (status.st_dev, status.st_ino) in seen:
                return None, 0
            seen.add((status.st_dev, status.st_ino))
            data = file.read(MAX_FILE + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        diagnostics.append(Diagnostic(SourceLocation(str(path)), f"the file cannot be read ({reason})."))
        return None, 0
    assert spelling is not None
    return read_text(data, str(path), spelling, diagnostics), len(data)
