"""SQLite file and its disk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tickbird.domain.doctor.finding import Finding, in_bytes, ok, problem, warning
from tickbird.domain.doctor.snapshot import StoreSnapshot

_MB: Final = 10**6
# Bytes of free disk space: a problem below the first, a warning below the second.
NO_ROOM: Final = 50 * _MB
LITTLE_ROOM: Final = 500 * _MB
# A WAL of this size was not checkpointed for long, because a reader prevents it.
LONG_LOG: Final = 256 * _MB
# Network file systems, on which SQLite's locks and shared memory are not reliable.
NETWORK: Final = frozenset(("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "fuse.sshfs"))
_FULL: Final = 2


def durability(condition: StoreSnapshot) -> Iterator[Finding]:
    """Check that commits survive a power failure, and that file locks work."""
    file = condition.file
    if file is None:
        return
    found: list[Finding] = []
    figures = {"journal_mode": file.journal_mode, "synchronous": file.synchronous, "file_system": file.file_system}
    if file.damage:
        text = f"The file is corrupt: {file.damage}."
        found.append(
            problem("durability", text, "Restore a backup, or recover the readable rows: sqlite3 FILE .recover")
        )
    if file.file_system in NETWORK:
        text = (
            f"The file is on a network file system ({file.file_system}), where locks may fail: two workers may claim "
            "the same run, and the file may become corrupt."
        )
        found.append(problem("durability", text, "Move it to a local disk, or use PostgreSQL.", **figures))
    hosts = {worker.host for worker in condition.workers}
    if len(hosts) > 1:
        text = f"Workers of several machines ({', '.join(sorted(hosts))}) have this file open over a network."
        found.append(problem("durability", text, "Use PostgreSQL for workers on more than one machine.", **figures))
    if file.journal_mode not in ("wal", "memory"):
        text = f"Its journal mode is {file.journal_mode!r} instead of 'wal': readers and writers wait for each other."
        found.append(warning("durability", text, f"sqlite3 {file.path} 'PRAGMA journal_mode=WAL'", **figures))
    if file.synchronous < _FULL and file.journal_mode != "memory":
        text = "Commits do not wait for the disk: after a power failure, a tick may run twice."
        found.append(problem("durability", text, "PRAGMA synchronous=FULL", **figures))
    where = (
        "In memory; lost when the process ends"
        if file.journal_mode == "memory"
        else "Every commit is synced to the disk"
    )
    yield from found or [ok("durability", f"{where} (SQLite {file.library}).", **figures)]


def disk(condition: StoreSnapshot) -> Iterator[Finding]:
    """Check the free disk space and the unused space in the file."""
    file = condition.file
    if file is None or file.journal_mode == "memory":
        return
    figures = {"size": file.size, "log": file.log_size, "free": file.free}
    found: list[Finding] = []
    if file.free < NO_ROOM:
        text = f"The disk of {file.path} has only {in_bytes(file.free)} left. Planning stops when it is full."
        found.append(problem("disk", text, "Free some space on the disk.", **figures))
    elif file.free < max(LITTLE_ROOM, file.size // 10):
        text = f"The disk of {file.path} has {in_bytes(file.free)} left, and the file takes {in_bytes(file.size)}."
        found.append(warning("disk", text, "Free some space on the disk.", **figures))
    if file.log_size > LONG_LOG:
        text = f"Its WAL has grown to {in_bytes(file.log_size)}: a process keeps an old snapshot open. Reads are slow."
        found.append(
            warning("disk", text, f"fuser -v {file.path}   # then stop the process with the long read", **figures)
        )
    unused = file.free_pages * file.page_size
    if unused > max(100 * _MB, file.size // 2):
        text = f"{in_bytes(unused)} of its {in_bytes(file.size)} are unused."
        found.append(warning("disk", text, f"sqlite3 {file.path} VACUUM   # while no worker runs", **figures))
    yield from found or [
        ok("disk", f"{in_bytes(file.size + file.log_size)}, and {in_bytes(file.free)} free on the disk.", **figures)
    ]
