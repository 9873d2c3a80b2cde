"""Recreates the fixture from a commit, to be used until the next release: `./dev previous [COMMIT]`.

It contains the code of that commit, and dumps of stores that this code has filled.
"""

from __future__ import annotations

import io
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from contextlib import closing
from pathlib import Path

from lab.servers import PostgresServer, postgres_programs
from tests.upgrade.codes import PREVIOUS, ROOT, Code

# Files that no worker and no command needs.
LEFT_OUT = ("django", "proof", "testing")
# The oldest date of a zip file, so that the same code gives the same file.
NO_DATE = (1980, 1, 1, 0, 0, 0)


def renew(commit: str) -> str:
    """The tree of the package that the fixture is now of."""
    found = _git("rev-parse", "--verify", f"{commit}:src/tickbird").decode().strip()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with tarfile.open(fileobj=io.BytesIO(_git("archive", commit, "src/tickbird"))) as packed:
            packed.extractall(folder, filter="data")
        code = Code("previous", folder / "src")
        PREVIOUS.mkdir(exist_ok=True)
        _fill_sqlite(code, folder / "tickbird.db")
        _fill_postgres(code)
        _pack(code.path / "tickbird")
    (PREVIOUS / "tree.txt").write_text(f"{found}\n")
    return found


def _git(*words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True).stdout


def _fill_sqlite(code: Code, file: Path) -> None:
    code.module("tests.upgrade.populate", f"sqlite:///{file}")
    with closing(sqlite3.connect(file)) as db:
        (PREVIOUS / "sqlite.sql").write_text("\n".join(db.iterdump()) + "\n")


def _fill_postgres(code: Code) -> None:
    with PostgresServer() as server:
        url = server.create_database()
        code.module("tests.upgrade.populate", url)
        dump = [str(postgres_programs() / "pg_dump"), "--inserts", "--no-owner", "--no-privileges", url]
        text = subprocess.run(dump, check=True, capture_output=True, text=True).stdout
    # Without the settings and commands of psql: any version of the server reads the rest.
    lines = [line for line in text.splitlines() if line and not line.startswith(("--", "\\", "SET "))]
    (PREVIOUS / "postgres.sql").write_text("\n".join(lines) + "\n")


def _pack(package: Path) -> None:
    for name in LEFT_OUT:
        shutil.rmtree(package / name, ignore_errors=True)
    files = sorted(path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    with zipfile.ZipFile(PREVIOUS / "tickbird.zip", "w") as packed:
        for path in files:
            entry = zipfile.ZipInfo(str(path.relative_to(package.parent)), NO_DATE)
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED, 9)


if __name__ == "__main__":
    print(f"the fixture is now of {renew(sys.argv[1] if len(sys.argv) > 1 else 'HEAD')}")
