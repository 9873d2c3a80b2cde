"""Source and version of the time zone data, the same for all workers, so that they compute the same grids.

The source is the `tzdata` package. If PYTHONTZPATH names folders, these come first, and the package adds missing zones.
The system's own files are not used, because they differ between machines.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

# Files that state the release of a folder of zones, in the forms that packagers use.
_VERSION_FILES = ("tzdata.zi", "+VERSION", "version")
_VERSION = re.compile(r"(?:# version )?(\d{4}[a-z]{1,3})\b")
_MAGIC = b"TZif"


@dataclass(frozen=True, slots=True)
class ZoneData:
    """A version of the time zone data: its release, such as 2026f, a digest of all files, and its source."""

    version: str
    digest: str
    source: str = ""

    def __str__(self) -> str:
        return f"{self.version or 'unknown version'} ({self.digest[:8]})"


class ZoneSource:
    """Folders of time zone data in order of priority, then the package."""

    def __init__(self, folders: Iterable[str | Path] = ()) -> None:
        self.folders = tuple(map(Path, folders))

    def info(self, name: str) -> ZoneInfo:
        """Return the data of a zone, or raise ZoneInfoNotFoundError."""
        path = self._file(name)
        if path is None:
            raise ZoneInfoNotFoundError(f"no time zone found with key {name}")
        with path.open("rb") as file:
            return ZoneInfo.from_file(file, key=name)

    @cached_property
    def data(self) -> ZoneData:
        """The version, with a digest of every zone file; reading them takes some hundredths of a second."""
        digest = hashlib.sha256()
        for name, path in sorted(self._everything().items()):
            digest.update(name.encode() + b"\0" + path.read_bytes())
        version = next(filter(None, map(_version, self.folders)), "") if self.folders else _package_version()
        source = os.pathsep.join(map(str, self.folders)) or "the package tzdata"
        return ZoneData(version, digest.hexdigest()[:32], source)

    def _file(self, name: str) -> Traversable | None:
        for root in (*self.folders, files("tzdata").joinpath("zoneinfo")):
            path = root.joinpath(*name.split("/"))
            if path.is_file():
                return path
        return None

    def _everything(self) -> dict[str, Traversable]:
        package = files("tzdata")
        names = package.joinpath("zones").read_text(encoding="utf-8").split()
        zones = {name: package.joinpath("zoneinfo", *name.split("/")) for name in names}
        for folder in reversed(self.folders):
            zones |= dict(_zone_files(folder))
        return zones


def _zone_files(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        # Exclude copies with leap seconds and copies for other programs.
        if name.partition("/")[0] in ("posix", "right") or not path.is_file():
            continue
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) == _MAGIC:
                yield name, path


def _version(folder: Path) -> str:
    for name in _VERSION_FILES:
        if (path := folder / name).is_file():
            with path.open(encoding="utf-8", errors="replace") as file:
                if match := _VERSION.match(file.readline(100)):
                    return match[1]
    return ""


def _package_version() -> str:
    return str(import_module("tzdata").IANA_VERSION)


@lru_cache(maxsize=1)
def _source(path: str) -> ZoneSource:
    return ZoneSource(folder for folder in path.split(os.pathsep) if Path(folder).is_absolute())


def zone_source() -> ZoneSource:
    """Return the source of this process."""
    return _source(_PATH)


# Read once, like Python does: the data does not change while a process runs.
_PATH = os.environ.get("PYTHONTZPATH", "")


def zone_info(name: str) -> ZoneInfo:
    """Return the data of a zone from this process's source."""
    return _info(name)


@lru_cache(maxsize=1024)
def _info(name: str) -> ZoneInfo:
    return zone_source().info(name)


def clock_text(at: datetime, tz: str = "UTC") -> str:
    """Return an instant in a zone, with the zone's abbreviation."""
    return f"{at.astimezone(zone_info(tz)):%Y-%m-%d %H:%M:%S %Z}"


@dataclass(frozen=True, slots=True)
class ZoneRecord:
    """A version of the time zone data that the store has used; `recomputed_at` is None while cursors are recomputed."""

    generation: int
    version: str
    digest: str
    adopted_at: datetime
    adopted_by: str
    recomputed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Zones:
    """The time zone data of this process and of the store."""

    here: ZoneData
    stored: ZoneRecord | None
    # Whether this call made the store adopt the data of this process.
    adopted: bool = False

    @property
    def same(self) -> bool:
        """Whether this process may plan schedules in zones other than UTC."""
        return self.stored is not None and self.stored.digest == self.here.digest

    @property
    def generation(self) -> int:
        """The generation of non-UTC cursors that this process may plan; -1 if there are none."""
        return self.stored.generation if self.stored is not None and self.same else -1

    @property
    def cursor_generation(self) -> int:
        """The generation that this process writes to cursors; processes with other data recompute such cursors."""
        return max(self.generation, 0)


@dataclass(frozen=True, slots=True)
class MovedSchedule:
    """A schedule whose next planner pass was moved by other time zone data."""

    namespace: str
    schedule: str
    schedule_id: int
    before: datetime | None
    after: datetime | None


@dataclass(frozen=True, slots=True)
class ZoneRecomputeResult:
    """Recomputed cursors: those that moved, and the last schedule id of this step; None: none are left."""

    moved: Sequence[MovedSchedule] = ()
    reached: int | None = None
