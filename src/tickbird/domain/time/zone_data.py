"""Where zone rules come from, and which they are: one source for everybody, so that all workers have the same grids.

It is the `tzdata` package, unless PYTHONTZPATH names folders: then those, and the package for what they lack. The
system's own files are not used, since each machine has others.
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

# Files that say which release a folder of zones is, in the forms that packagers use.
_VERSION_FILES = ("tzdata.zi", "+VERSION", "version")
_VERSION = re.compile(r"(?:# version )?(\d{4}[a-z]{1,3})\b")
_MAGIC = b"TZif"


@dataclass(frozen=True, slots=True)
class ZoneData:
    """One state of the rules: its release, such as 2026f, a digest of all its files, and where it was found."""

    version: str
    digest: str
    source: str = ""

    def __str__(self) -> str:
        return f"{self.version or 'of no known version'} ({self.digest[:8]})"


class ZoneSource:
    """Folders of zone files, first come first served, and the package behind them."""

    def __init__(self, folders: Iterable[str | Path] = ()) -> None:
        self.folders = tuple(map(Path, folders))

    def info(self, name: str) -> ZoneInfo:
        """The rules of a zone; ZoneInfoNotFoundError where there is none of that name."""
        place = self._file(name)
        if place is None:
            raise ZoneInfoNotFoundError(f"no time zone found with key {name}")
        with place.open("rb") as file:
            return ZoneInfo.from_file(file, key=name)

    @cached_property
    def data(self) -> ZoneData:
        """What the rules are, by the bytes of every zone file; reading them takes some hundredths of a second."""
        digest = hashlib.sha256()
        for name, place in sorted(self._everything().items()):
            digest.update(name.encode() + b"\0" + place.read_bytes())
        version = next(filter(None, map(_version, self.folders)), "") if self.folders else _package_version()
        source = os.pathsep.join(map(str, self.folders)) or "the package tzdata"
        return ZoneData(version, digest.hexdigest()[:32], source)

    def _file(self, name: str) -> Traversable | None:
        for root in (*self.folders, files("tzdata").joinpath("zoneinfo")):
            place = root.joinpath(*name.split("/"))
            if place.is_file():
                return place
        return None

    def _everything(self) -> dict[str, Traversable]:
        package = files("tzdata")
        names = package.joinpath("zones").read_text(encoding="utf-8").split()
        found = {name: package.joinpath("zoneinfo", *name.split("/")) for name in names}
        for folder in reversed(self.folders):
            found |= dict(_zone_files(folder))
        return found


def _zone_files(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        # Copies that count leap seconds, and those for other programs, are no zones of ours.
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
    """The source of this process."""
    return _source(_PATH)


# Read once, as Python itself does: the rules do not change under a running process.
_PATH = os.environ.get("PYTHONTZPATH", "")


def zone_info(name: str) -> ZoneInfo:
    """The rules of a zone, from this process's source."""
    return _info(name)


@lru_cache(maxsize=1024)
def _info(name: str) -> ZoneInfo:
    return zone_source().info(name)


def clock_text(at: datetime, tz: str = "UTC") -> str:
    """An instant on a zone's clock, with the zone's abbreviation."""
    return f"{at.astimezone(zone_info(tz)):%Y-%m-%d %H:%M:%S %Z}"


@dataclass(frozen=True, slots=True)
class ZoneRecord:
    """A version of the tz database that the store has used; `recomputed_at` is None while cursors are recomputed."""

    generation: int
    version: str
    digest: str
    adopted_at: datetime
    adopted_by: str
    recomputed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Zones:
    """The zone rules of this process beside those that the store goes by."""

    here: ZoneData
    stored: ZoneRecord | None
    # The store took them over by this very look.
    adopted: bool = False

    @property
    def same(self) -> bool:
        """May this process plan schedules in zones other than UTC?"""
        return self.stored is not None and self.stored.digest == self.here.digest

    @property
    def generation(self) -> int:
        """What cursors outside of UTC that this process may plan are marked with; below all where there are none."""
        return self.stored.generation if self.stored is not None and self.same else -1

    @property
    def cursor_generation(self) -> int:
        """What cursors are marked with that this process computes: by other rules, they are to be computed anew."""
        return max(self.generation, 0)


@dataclass(frozen=True, slots=True)
class MovedSchedule:
    """A schedule whose next look was moved by other zone rules."""

    namespace: str
    schedule: str
    schedule_id: int
    before: datetime | None
    after: datetime | None


@dataclass(frozen=True, slots=True)
class ZoneRecomputeResult:
    """Cursors computed anew: those that moved, and the schedule id up to which all were; None: no more are left."""

    moved: Sequence[MovedSchedule] = ()
    reached: int | None = None
