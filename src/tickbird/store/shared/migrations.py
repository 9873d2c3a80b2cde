"""What all stores share of migrating: numbered files, their checksums, and what is left to apply.

The schema's version is the number of its newest migration. `min_compatible` is the oldest code, by the newest
migration that it knows, which may still run on this schema; each file states it in a line `-- min_compatible: 1`.
Before any number comes the generation: migrations of another one have nothing to do with these.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from tickbird.domain.doctor.snapshot import SchemaState
from tickbird.domain.errors import SchemaError

# Written by the first migration. Stores of pre-releases have none.
GENERATION: Final = "1"
_FILE = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")
_MIN_COMPATIBLE = re.compile(r"^-- min_compatible: *(\d+) *$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file; it is never edited once it has landed."""

    number: int
    name: str
    text: str
    min_compatible: int

    @property
    def checksum(self) -> str:
        """What tells an edited file from the one that was applied."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def read_migrations(package: str) -> tuple[Migration, ...]:
    """The migrations in the folder `migrations` of a package, in order."""
    found = []
    for file in files(package).joinpath("migrations").iterdir():
        if not (match := _FILE.fullmatch(file.name)):
            continue
        text = file.read_text(encoding="utf-8")
        compatible = _MIN_COMPATIBLE.search(text)
        if compatible is None:
            raise ValueError(f"{file.name} of {package} does not say its min_compatible")
        found.append(Migration(int(match[1]), match[2], text, int(compatible[1])))
    found.sort(key=lambda migration: migration.number)
    if [migration.number for migration in found] != list(range(1, len(found) + 1)):
        raise ValueError(f"the migrations of {package} are not numbered 0001, 0002, …")
    return tuple(found)


def pending(known: Sequence[Migration], applied: Mapping[int, str]) -> Sequence[Migration]:
    """What is left to apply, given number → checksum of what was; edited, missing or newer ones are refused."""
    for migration in known:
        checksum = applied.get(migration.number)
        if checksum is not None and checksum != migration.checksum:
            raise SchemaError(
                f"migration {migration.number:04} ({migration.name}) was applied from another file than this one;",
                hint="install the tickbird that made this database, or restore it from a backup.",
            )
    newest = max(applied, default=0)
    if newest > len(known):
        raise _too_new(newest, len(known))
    if len(applied) != newest:
        raise SchemaError(
            f"the database has migration {newest} but not all before it;", hint="restore it from a backup."
        )
    return known[newest:]


def check_schema_generation(
    meta: Mapping[str, Any], known: Sequence[Migration] = (), applied: Mapping[int, str] | None = None
) -> None:
    """Raise SchemaError where the schema is of another generation, whatever its version.

    Where its table `meta` was changed by hand, what was applied tells.
    """
    generation = meta.get("schema_generation")
    if generation is None and applied and known and applied.get(1) == known[0].checksum:
        return
    if generation is None and (meta or applied):
        raise SchemaError(
            "the store was created by a pre-release of Tickbird, and is left as it is;",
            hint="run `tickbird export --all` with that version, then `tickbird apply` the file with this one, to a new"
            " store.",
        )
    if generation not in (None, GENERATION):
        raise SchemaError(
            f"the store is of generation {str(generation)[:40]}, and this tickbird knows only {GENERATION};",
            hint="upgrade tickbird.",
        )


def unusable_schema(error: SchemaError, newest: int) -> SchemaState:
    """What `doctor` sees of a schema that cannot be read."""
    fix = "tickbird migrate" if "`tickbird migrate`" in error.hint else f"{error.hint[:1].upper()}{error.hint[1:]}"
    text = f"{error.message[:1].upper()}{error.message[1:].rstrip(';')}."
    return SchemaState(version=None, min_compatible=0, newest=newest, error=text, fix=fix)


def read_version(meta: Mapping[str, Any]) -> tuple[int | None, int]:
    """The version and min_compatible that a schema's table `meta` states; None where it states no version.

    Only after check_schema_generation do they mean anything.
    """
    for key in ("version", "min_compatible"):
        text = str(meta.get(key, 0))
        if not (text.isascii() and text.isdigit() and len(text) <= 9):
            raise SchemaError(
                f"the database's table meta gives {text[:40]!r} as its {key}, which is no number;",
                hint="`tickbird migrate` sets it right.",
            )
    version = meta.get("version")
    return None if version is None else int(version), int(meta.get("min_compatible", 0))


def is_stale(meta: Mapping[str, Any], newest: int) -> bool:
    """Does the table `meta` state less than what was applied? Then migrating writes it anew."""
    try:
        version, _ = read_version(meta)
    except SchemaError:
        return True
    return version is None or version < newest or meta.get("schema_generation") != GENERATION


def check_version(known: Sequence[Migration], version: int | None, min_compatible: int) -> None:
    """May this code run on a schema of this version? None: there is no schema."""
    newest = len(known)
    if version is None:
        raise SchemaError("the database has no Tickbird schema;", hint="run `tickbird migrate`.")
    if min_compatible > newest:
        raise _too_new(version, newest)
    if version < newest:
        raise SchemaError(
            f"the database's schema is at version {version} and this tickbird needs {newest};",
            hint="run `tickbird migrate`.",
        )


def check_not_newer(known: Sequence[Migration], meta: Mapping[str, Any]) -> None:
    """Raise SchemaError if the schema is too new for this code."""
    try:
        version, min_compatible = read_version(meta)
    except SchemaError:
        # What is no number was written by hand, and says nothing of a newer tickbird.
        return
    if min_compatible > len(known):
        raise _too_new(version or min_compatible, len(known))


def outdated(known: Sequence[Migration], meta: Mapping[str, Any]) -> str:
    """Why this code may no longer run on a schema that was migrated since it was opened; empty when it may."""
    try:
        check_not_newer(known, meta)
    except SchemaError as error:
        return str(error)
    return ""


def _too_new(version: int, newest: int) -> SchemaError:
    return SchemaError(
        f"the database's schema is at version {version} and this tickbird knows only {newest};",
        hint="upgrade tickbird.",
    )
