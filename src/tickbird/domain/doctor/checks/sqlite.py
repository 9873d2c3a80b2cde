"""A SQLite file and the disk that it is on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tickbird.domain.doctor.finding import Finding, in_bytes, ok, problem, warning
from tickbird.domain.doctor.snapshot import StoreSnapshot

_MB: Final = 10**6
# Room on the disk that is too little to go on, and that soon may be.
NO_ROOM: Final = 50 * _MB
LITTLE_ROOM: Final = 500 * _MB
# A log of this size has not been taken into the database for long: a reader keeps it.
LONG_LOG: Final = 256 * _MB
# File systems over a network, on which SQLite's locks and shared memory cannot be relied on.
NETWORK: Final = frozenset(("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "fuse.sshfs"))
_FULL: Final = 2


def durability(condition: StoreSnapshot) -> Iterator[Finding]:
    """Does what was acknowledged outlive a power cut, and do processes see each other's locks?"""
    file = condition.file
    if file is None:
        return
    found: list[Finding] = []
    figures = {"journal_mode": file.journal_mode, "synchronous": file.synchronous, "file_system": file.file_system}
    if file.damage:
        text = f"The file is damaged: {file.damage}."
        found.append(
            problem("durability", text, "Restore it from a backup, or save what can be read: sqlite3 FILE .recover")
        )
    if file.file_system in NETWORK:
        text = (
            f"The file is on a network file system ({file.file_system}), where locks may fail: two workers may take "
            "the same run, and the file may be damaged."
        )
        found.append(problem("durability", text, "Move it to a disk of this machine, or use PostgreSQL.", **figures))
    hosts = {worker.host for worker in condition.workers}
    if len(hosts) > 1:
        text = f"Workers of several machines ({', '.join(sorted(hosts))}) have this one file open over a network."
        found.append(problem("durability", text, "Use PostgreSQL for workers on more than one machine.", **figures))
    if file.journal_mode not in ("wal", "memory"):
        text = f"Its journal mode is {file.journal_mode!r} instead of 'wal': readers and writers wait for each other."
        found.append(warning("durability", text, f"sqlite3 {file.path} 'PRAGMA journal_mode=WAL'", **figures))
    if file.synchronous < _FULL and file.journal_mode != "memory":
        text = "A commit is not waited for until it is on the disk: after a power cut a tick may run twice."
        found.append(problem("durability", text, "PRAGMA synchronous=FULL", **figures))
    where = (
        "In memory, gone with the process" if file.journal_mode == "memory" else "Every commit is synced to the disk"
    )
    yield from found or [ok("durability", f"{where} (SQLite {file.library}).", **figures)]


def disk(condition: StoreSnapshot) -> Iterator[Finding]:
    """Is there room for the file to grow, and is room wasted in it?"""
    file = condition.file
    if file is None or file.journal_mode == "memory":
        return
    figures = {"size": file.size, "log": file.log_size, "free": file.free}
    found: list[Finding] = []
    if file.free < NO_ROOM:
        text = f"The disk of {file.path} has only {in_bytes(file.free)} left; when it is full nothing is planned."
        found.append(problem("disk", text, "Make room on it.", **figures))
    elif file.free < max(LITTLE_ROOM, file.size // 10):
        text = f"The disk of {file.path} has {in_bytes(file.free)} left, and the file has {in_bytes(file.size)}."
        found.append(warning("disk", text, "Make room on it.", **figures))
    if file.log_size > LONG_LOG:
        text = (
            f"Its log has grown to {in_bytes(file.log_size)}: some process keeps an old state open, and reads get slow."
        )
        found.append(warning("disk", text, f"fuser -v {file.path}   # and end what reads in it for long", **figures))
    unused = file.free_pages * file.page_size
    if unused > max(100 * _MB, file.size // 2):
        text = f"{in_bytes(unused)} of its {in_bytes(file.size)} are not in use."
        found.append(warning("disk", text, f"sqlite3 {file.path} VACUUM   # while no worker runs", **figures))
    yield from found or [
        ok("disk", f"{in_bytes(file.size + file.log_size)}, and {in_bytes(file.free)} of room on the disk.", **figures)
    ]
