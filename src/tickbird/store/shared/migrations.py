"""Migrations, for every store: numbered files, their checksums, and the pending ones.

The schema's version is the number of its newest migration. `min_compatible` is the oldest code, by the newest
migration that it knows, which may still run on this schema; each file states it in a line `-- min_compatible: 1`.
The generation comes before the number: migrations of another generation are unrelated to these.
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

# Written by the first migration. Stores of pre-releases do not have it.
GENERATION: Final = "1"
_FILE = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")
_MIN_COMPATIBLE = re.compile(r"^-- min_compatible: *(\d+) *$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file; never edited after it has landed."""

    number: int
    name: str
    text: str
    min_compatible: int

    @property
    def checksum(self) -> str:
        """Detects an edited file."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def read_migrations(package: str) -> tuple[Migration, ...]:
    """The migrations in the folder `migrations` of a package, in order."""
    migrations = []
    for file in files(package).joinpath("migrations").iterdir():
        if not (match := _FILE.fullmatch(file.name)):
            continue
        text = file.read_text(encoding="utf-8")
        compatible = _MIN_COMPATIBLE.search(text)
        if compatible is None:
            raise ValueError(f"{file.name} of {package} does not state its min_compatible")
        migrations.append(Migration(int(match[1]), match[2], text, int(compatible[1])))
    migrations.sort(key=lambda migration: migration.number)
    if [migration.number for migration in migrations] != list(range(1, len(migrations) + 1)):
        raise ValueError(f"the migrations of {package} are not numbered 0001, 0002, …")
    return tuple(migrations)


def pending(migrations: Sequence[Migration], applied: Mapping[int, str]) -> Sequence[Migration]:
    """The migrations to apply, given number → checksum of the applied ones; refuses edited, missing or newer ones."""
    for migration in migrations:
        checksum = applied.get(migration.number)
        if checksum is not None and checksum != migration.checksum:
            raise SchemaError(
                f"migration {migration.number:04} ({migration.name}) was applied from a different file.",
                hint="Install the tickbird version that created this database, or restore it from a backup.",
            )
    newest = max(applied, default=0)
    if newest > len(migrations):
        raise _too_new(newest, len(migrations))
    if len(applied) != newest:
        raise SchemaError(
            f"the database has migration {newest} but not all earlier ones.", hint="Restore it from a backup."
        )
    return migrations[newest:]


def check_schema_generation(
    meta: Mapping[str, Any], migrations: Sequence[Migration] = (), applied: Mapping[int, str] | None = None
) -> None:
    """Raise SchemaError if the schema is of another generation, whatever its version.

    If its table `meta` was changed by hand, the applied migrations decide.
    """
    generation = meta.get("schema_generation")
    if generation is None and applied and migrations and applied.get(1) == migrations[0].checksum:
        return
    if generation is None and (meta or applied):
        raise SchemaError(
            "the store was created by a pre-release of Tickbird. It was not changed.",
            hint="Run `tickbird export --all` with that version, then `tickbird apply` the file with this one, to a new"
            " store.",
        )
    if generation not in (None, GENERATION):
        raise SchemaError(
            f"the store has generation {str(generation)[:40]}, but this tickbird supports only {GENERATION}.",
            hint="Upgrade tickbird.",
        )


def unusable_schema(error: SchemaError, newest: int) -> SchemaState:
    """The state of an unreadable schema, for `doctor`."""
    fix = "tickbird migrate" if "`tickbird migrate`" in error.hint else error.hint
    text = error.message[:1].upper() + error.message[1:]
    return SchemaState(version=None, min_compatible=0, newest=newest, error=text, fix=fix)


def read_version(meta: Mapping[str, Any]) -> tuple[int | None, int]:
    """The version and min_compatible in a schema's table `meta`; None if it has no version.

    They are only meaningful after check_schema_generation.
    """
    for key in ("version", "min_compatible"):
        text = str(meta.get(key, 0))
        if not (text.isascii() and text.isdigit() and len(text) <= 9):
            raise SchemaError(
                f"the database's table meta has {text[:40]!r} as {key}, which is not a number.",
                hint="`tickbird migrate` corrects it.",
            )
    version = meta.get("version")
    return None if version is None else int(version), int(meta.get("min_compatible", 0))


def is_stale(meta: Mapping[str, Any], newest: int) -> bool:
    """True if the table `meta` has less than the applied migrations; migrating then writes it again."""
    try:
        version, _ = read_version(meta)
    except SchemaError:
        return True
    return version is None or version < newest or meta.get("schema_generation") != GENERATION


def check_version(migrations: Sequence[Migration], version: int | None, min_compatible: int) -> None:
    """Raise SchemaError if this code may not run on a schema of this version; None: there is no schema."""
    newest = len(migrations)
    if version is None:
        raise SchemaError("the database has no Tickbird schema.", hint="Run `tickbird migrate`.")
    if min_compatible > newest:
        raise _too_new(version, newest)
    if version < newest:
        raise SchemaError(
            f"the database's schema is at version {version}, but this tickbird needs {newest}.",
            hint="Run `tickbird migrate`.",
        )


def check_not_newer(migrations: Sequence[Migration], meta: Mapping[str, Any]) -> None:
    """Raise SchemaError if the schema is too new for this code."""
    try:
        version, min_compatible = read_version(meta)
    except SchemaError:
        # A value that is not a number was written by hand, not by a newer tickbird.
        return
    if min_compatible > len(migrations):
        raise _too_new(version or min_compatible, len(migrations))


def outdated(migrations: Sequence[Migration], meta: Mapping[str, Any]) -> str:
    """The reason why this code may no longer run on a schema that was migrated after it was opened; empty if it may."""
    try:
        check_not_newer(migrations, meta)
    except SchemaError as error:
        return str(error)
    return ""


def _too_new(version: int, newest: int) -> SchemaError:
    return SchemaError(
        f"the database's schema is at version {version}, but this tickbird supports only {newest}.",
        hint="Upgrade tickbird.",
    )
