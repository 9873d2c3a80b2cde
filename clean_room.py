"""A clean room: a bare Debian root with nothing but Python, in which a fresh clone of this repository runs a command.

The root is built once with debootstrap and cached; each call works in a copy of it. It needs Linux, root and Debian's
packages. It imports only the standard library, because `./dev` imports it before anything is installed.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

# The packages of a bare root in addition to Debian's minimal system.
PACKAGES = ("ca-certificates", "python3")
PROJECT = "/home/new/tickbird"
# The settings by which this machine reaches its package registries; copied into each room.
CONFIGURATION = (
    "/etc/apt/apt.conf.d",
    "/etc/apt/sources.list",
    "/etc/apt/sources.list.d",
    "/etc/hosts",
    "/etc/pip.conf",
    "/etc/resolv.conf",
    "/etc/ssl/certs",
)
HOME_CONFIGURATION = (".config/pip", ".config/uv", ".pip")
VARIABLES = re.compile(r"(PIP|UV|SSL_CERT)_\w+|REQUESTS_CA_BUNDLE|(https?|no|all)_proxy|CI", re.IGNORECASE)
# Process 1 of a new namespace: when it ends, all processes of the room end; it reaps orphans.
ENTER = """
set -e
# A root that is a mount point, as `ip netns` needs it.
mount --bind "$ROOM" "$ROOM"
mount -t proc proc "$ROOM/proc"
mount --rbind /dev "$ROOM/dev"
mount -t sysfs sys "$ROOM/sys" || true
mount -t tmpfs -o mode=1777 tmpfs "$ROOM/tmp"
chroot "$ROOM" "$@"
"""


class Unavailable(Exception):
    """This machine cannot build a clean room; the message is the reason."""


def run(repository: Path, command: Sequence[str], *, keep: bool = False) -> int:
    """Run a command in a fresh clone of the repository's current commit, in a clean room; returns the exit code."""
    base = _base()
    with _room(base, keep=keep) as room:
        _clone(repository, room)
        return _inside(room, ["/bin/sh", "-c", 'cd "$0" && exec "$@"', PROJECT, *command])


def _base() -> Path:
    """The bare root; builds it if the cache has none for this mirror and these packages."""
    if os.geteuid():
        raise Unavailable("it needs root")
    for tool in ("apt-get", "chroot", "git", "mount", "unshare"):
        if not shutil.which(tool):
            raise Unavailable(f"there is no {tool} on this machine")
    mirror, suite = _mirror()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "tickbird-clean-room"
    cache.mkdir(parents=True, exist_ok=True)
    recipe = hashlib.sha256(f"{mirror} {suite} {PACKAGES}".encode()).hexdigest()[:12]
    base = cache / f"{suite}-{recipe}"
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not base.is_dir():
            _build(base, mirror, suite)
    return base


def _mirror() -> tuple[str, str]:
    """The mirror of Debian's packages and the release of this machine."""
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages"]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    for line in output.splitlines():
        mirror, _, suite = line.partition(" ")
        if suite and "-" not in suite:
            return mirror, suite
    raise Unavailable("apt has no repository of a Debian release")


def _build(base: Path, mirror: str, suite: str) -> None:
    say("building a bare Debian root, once")
    if not shutil.which("debootstrap"):
        _or_unavailable("apt-get", "-qq", "update")
        _or_unavailable("apt-get", "-qq", "-y", "install", "--no-install-recommends", "debootstrap")
    # It has another name until it is complete.
    unfinished = base.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    include = f"--include={','.join(PACKAGES)}"
    _or_unavailable("debootstrap", "--variant=minbase", include, suite, str(unfinished), mirror)
    unfinished.rename(base)


def _or_unavailable(*command: str) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        print(done.stdout[-2_000:], file=sys.stderr)
        raise Unavailable(f"{command[0]} failed with exit code {done.returncode}")


@contextlib.contextmanager
def _room(base: Path, *, keep: bool) -> Iterator[Path]:
    """A copy of the bare root with the registry settings of this machine."""
    room = Path(tempfile.mkdtemp(prefix="room-", dir=base.parent))
    try:
        subprocess.run(["cp", "-a", "--reflink=auto", f"{base}/.", str(room)], check=True)
        for name in (*CONFIGURATION, *_certificates()):
            _bring(Path(name), room / name.lstrip("/"))
        for name in HOME_CONFIGURATION:
            _bring(Path.home() / name, room / "root" / name)
        yield room
    finally:
        if keep:
            say(f"kept {room}")
        else:
            # Faster than shutil.rmtree, which takes a minute for the tree of a test run.
            subprocess.run(["rm", "-rf", str(room)], check=False)


def _bring(source: Path, target: Path) -> None:
    if target.is_dir():
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore_dangling_symlinks=True)
    elif source.is_file():
        shutil.copy(source, target)


def _variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if VARIABLES.fullmatch(name)}


def _certificates() -> list[str]:
    """The files that variables name."""
    return [value for value in _variables().values() if value.startswith("/") and Path(value).is_file()]


def _clone(repository: Path, room: Path) -> None:
    git = ("git", "-C", str(repository))
    # The repository may belong to another user than root.
    safe = {**os.environ, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    changes = subprocess.run([*git, "status", "--porcelain"], env=safe, capture_output=True, text=True, check=True)
    if changes.stdout:
        say("uncommitted changes are left out")
    target = str(room) + PROJECT
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(repository), target], env=safe, check=True)


def _inside(room: Path, command: Sequence[str]) -> int:
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    environment = {"HOME": "/root", "PATH": path, "LANG": "C.UTF-8", **_variables()}
    # --kill-child: if this process dies, the kernel kills all processes of the room.
    unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"]
    assignments = [f"{name}={value}" for name, value in environment.items()]
    process = subprocess.Popen(
        [*unshare, "sh", "-c", ENTER, "enter", "/usr/bin/env", "-i", *assignments, *command],
        env={**os.environ, "ROOM": str(room)},
        stdin=subprocess.DEVNULL,
    )
    # Otherwise the room and its processes would outlive this process.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        return process.wait()
    finally:
        # unshare ignores other signals. Its child dies with it, and so does the room.
        process.kill()
        process.wait()


def say(text: str) -> None:
    """Print to stderr, because stdout has the output of the command."""
    print(f"clean-room: {text}", file=sys.stderr, flush=True)
