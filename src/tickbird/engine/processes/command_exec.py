"""Execute a program in the child of a supervisor: set user, folder and environment, then exec."""

from __future__ import annotations

import errno
import os
import signal
import socket
from pathlib import Path
from typing import NoReturn

from tickbird.engine.monotonic import steady
from tickbird.engine.processes import process_tree
from tickbird.engine.processes.framing import Message, Unpacker, pack

# The exit code of a shell that cannot start a program.
_UNSTARTED = 127


class _Refused(Exception):
    """The reason why a program cannot be started."""


class _Late(Exception):
    """This process or its worker was frozen until the lease had nearly expired."""


def launch(channel: int) -> NoReturn:
    """Read a launch spec from the worker, and exec its program; that closes the channel."""
    os.set_inheritable(channel, False)
    connection = socket.socket(fileno=channel)
    spec = _read(connection)
    if spec is not None:
        try:
            _exec(spec)
        except _Late:
            connection.sendall(pack({"late": True}))
        except _Refused as error:
            connection.sendall(pack({"failed": str(error)}))
    os._exit(_UNSTARTED)


def _read(connection: socket.socket) -> Message | None:
    unpacker = Unpacker()
    while data := connection.recv(65_536):
        for message in unpacker.feed(data):
            return message
    return None


def _exec(spec: Message) -> None:
    """`spec` is a LaunchSpec as JSON: importing its module would take longer than most programs run."""
    argv, folder, user = spec["argv"], spec["folder"], spec["user"]
    as_user = "" if user is None else f" (as user {user[0]})"
    if spec["input"] is not None:
        _set_input(spec["input"])
    if user is not None:
        _switch_user(*user)
    try:
        os.chdir(folder)
    except OSError as error:
        raise _Refused(f"it cannot start in folder {folder}: {error.strerror}{as_user}") from None
    # Python ignores these signals; programs expect the default.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    if steady() > spec["begin_by"]:
        raise _Late
    try:
        os.execve(argv[0], argv, spec["env"])  # noqa: S606 - allowed by this worker, by its path
    except OSError as error:
        raise _Refused(_why(argv[0], as_user, error)) from None


def _set_input(text: str) -> None:
    import tempfile

    try:
        with tempfile.TemporaryFile() as file:
            file.write(text.encode())
            file.seek(0)
            os.dup2(file.fileno(), 0)
    except OSError as error:
        raise _Refused(f"its standard input cannot be written: {error.strerror}") from None


def _switch_user(name: str, uid: int, gid: int, groups: list[int]) -> None:
    supervisor = os.getppid()
    try:
        os.setgroups(groups)
        os.setgid(gid)
        os.setuid(uid)
    except OSError as error:
        raise _Refused(f"it cannot be started as user {name}: {error.strerror}") from None
    # The kernel resets this when the user changes.
    process_tree.die_with_parent(supervisor, signal.SIGKILL)


def _why(program: str, as_user: str, error: OSError) -> str:
    if error.errno == errno.ENOENT and not Path(program).exists():
        return f"there is no program {program} on this machine"
    if error.errno == errno.ENOENT:
        return f"the interpreter that the first line of {program} names is not on this machine"
    if error.errno == errno.EACCES:
        return f"{program} may not be executed{as_user}: run `chmod +x`, or check the permissions of its folders"
    if error.errno == errno.ENOEXEC:
        return f"{program} is not an executable of this machine, and it does not start with #! and an interpreter"
    if error.errno == errno.E2BIG:
        return "its arguments and environment together are longer than this system allows"
    return f"{program} cannot be started: {error.strerror}"
