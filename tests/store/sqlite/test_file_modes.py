"""Permissions of the file of a store."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from tests.store.contenders import SPAWN
from tests.store.sqlite.steps import create
from tickbird.domain.errors import StoreError
from tickbird.domain.runs.run import NewRun
from tickbird.domain.schedules.definition import Target
from tickbird.store.sqlite import SqliteStore

NOBODY = 65_534


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may read, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def open_as_nobody(path: str, answer: Connection) -> None:
    """Root may write everywhere, so switch to a user that may not."""
    if os.geteuid() == 0:
        os.setuid(NOBODY)

    async def attempt() -> str:
        store = SqliteStore(path)
        try:
            await store.open()
            await create(store, "clock")
        except StoreError as error:
            return str(error)
        finally:
            await store.close()
        return "no error"

    answer.send(asyncio.run(attempt()))


async def refusal(path: Path) -> str:
    receiver, sender = SPAWN.Pipe(duplex=False)
    process = SPAWN.Process(target=open_as_nobody, args=(str(path), sender))
    process.start()
    text: str = await asyncio.to_thread(receiver.recv)
    process.join()
    return text


@pytest.fixture
def closed_folder(open_folder: Path) -> Path:
    open_folder.chmod(0o555)
    return open_folder


async def test_a_folder_that_cannot_be_written(closed_folder: Path) -> None:
    text = await refusal(closed_folder / "t.db")
    assert "cannot be opened or created. Check that this user may read and write" in text


async def test_a_file_that_cannot_be_written(open_folder: Path) -> None:
    file = open_folder / "t.db"
    store = SqliteStore(str(file))
    await store.open()
    await store.close()
    file.chmod(0o444)
    text = await refusal(file)
    assert "t.db cannot be" in text
    assert "this user" in text


@pytest.fixture
def open_umask() -> Iterator[None]:
    """With this umask, new files are open for all users, unless they are created with another mode."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes(path: Path) -> dict[str, str]:
    """The modes of a database and of its side files."""
    return {each.name.removeprefix(path.name): oct(each.stat().st_mode & 0o777) for each in path.parent.iterdir()}


@pytest.mark.usefixtures("open_umask")
@pytest.mark.parametrize("url", ["sqlite:///{0}", "sqlite:///{0}?shared=1"])
async def test_a_new_file_is_for_its_owner_alone(tmp_path: Path, url: str) -> None:
    path = tmp_path / "new.db"
    store = SqliteStore(url.format(path))
    await store.migrate()
    await store.open()
    await store.runs.enqueue("default", [NewRun(Target("work"), {"secret": 1})], "ada")
    assert modes(path) == {"": "0o600", "-wal": "0o600", "-shm": "0o600"}
    await store.close()


@pytest.mark.usefixtures("open_umask")
async def test_the_file_that_a_link_names_is_for_its_owner_alone(tmp_path: Path) -> None:
    target, link = tmp_path / "data" / "real.db", tmp_path / "link.db"
    target.parent.mkdir()
    link.symlink_to(target)
    store = SqliteStore(f"sqlite:///{link}")
    await store.open()
    assert modes(target) == {"": "0o600", "-wal": "0o600", "-shm": "0o600"}
    await store.close()


@pytest.mark.usefixtures("open_umask")
async def test_an_existing_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "shared.db"
    path.touch()
    path.chmod(0o660)
    store = SqliteStore(f"sqlite:///{path}")
    await store.open()
    assert modes(path) == {"": "0o660", "-wal": "0o660", "-shm": "0o660"}
    await store.close()
