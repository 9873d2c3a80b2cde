"""Versions of Tickbird as folders of code, run as processes of their own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

ROOT: Final = Path(__file__).resolve().parents[2]
PREVIOUS: Final = Path(__file__).parent / "previous"
APP: Final = Path(__file__).parent / "app"
STORES: Final = ("postgres", "sqlite")

Kind = Literal["postgres", "sqlite"]


def kind_of(url: str) -> Kind:
    """Which store an address is of."""
    return "sqlite" if url.startswith("sqlite") else "postgres"


@dataclass(frozen=True)
class Code:
    """One version of the code: the folder of the package."""

    name: str
    path: Path

    def _migrations(self, kind: Kind) -> list[Path]:
        return sorted((self.path / "tickbird" / "store" / kind / "migrations").glob("[0-9]*.sql"))

    def newest(self, kind: Kind) -> int:
        """The newest migration that it knows."""
        return len(self._migrations(kind))

    def min_compatible(self, kind: Kind) -> int:
        """The oldest code that may run on its schema."""
        found = re.search(r"^-- min_compatible: *(\d+)", self._migrations(kind)[-1].read_text(), re.MULTILINE)
        assert found is not None
        return int(found[1])

    def may_run_on(self, other: Code, kind: Kind) -> bool:
        """True if this code may run on the schema of a newer one."""
        return self.newest(kind) >= other.min_compatible(kind)

    def environment(self, **more: str) -> dict[str, str]:
        """The environment in which a process runs only this code."""
        return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (self.path, APP, ROOT))), **more}

    def tickbird(self, url: str, *words: str) -> subprocess.CompletedProcess[str]:
        """A command of this version, ended."""
        command = [sys.executable, "-m", "tickbird", *words]
        environment = self.environment(TICKBIRD_URL=url, TICKBIRD_ACTOR="ada", UPGRADE_FOLDER="/", UPGRADE_CODE="")
        return subprocess.run(
            command, cwd=self.path, env=environment, capture_output=True, text=True, check=False, timeout=200
        )

    def ok(self, url: str, *words: str) -> str:
        """The output of a command that must succeed."""
        done = self.tickbird(url, *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def module(self, name: str, *words: str) -> str:
        """The output of a test module with this code on its path."""
        done = subprocess.run(
            [sys.executable, "-m", name, *words],
            cwd=self.path,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=200,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def current() -> Code:
    """The code of this checkout."""
    return Code("current", ROOT / "src")


def previous(folder: Path) -> Code:
    """The code of the version before, unpacked."""
    with zipfile.ZipFile(PREVIOUS / "tickbird.zip") as packed:
        packed.extractall(folder)
    return Code("previous", folder)


ADDED: Final = {
    "postgres": """
ALTER TABLE tickbird.runs ADD COLUMN tomorrow text;
DO $$ BEGIN
    EXECUTE 'CREATE OR REPLACE VIEW tickbird.run_details AS SELECT d.*, r.tomorrow FROM ('
        || rtrim(pg_get_viewdef('tickbird.run_details'), ';')
        || ') AS d JOIN tickbird.runs AS r ON r.id = d.id';
END $$;
""",
    "sqlite": "ALTER TABLE runs ADD COLUMN tomorrow TEXT;\n",
}


def following(folder: Path, *, raised: bool) -> Code:
    """The code of this checkout with one more migration, which is compatible with older code or not."""
    shutil.copytree(ROOT / "src" / "tickbird", folder / "tickbird")
    code = Code("following", folder)
    for kind in STORES:
        number = code.newest(kind) + 1
        compatible = number if raised else code.min_compatible(kind)
        file = folder / "tickbird" / "store" / kind / "migrations" / f"{number:04}_tomorrow.sql"
        file.write_text(f"-- min_compatible: {compatible}\n{ADDED[kind]}")
    return code
