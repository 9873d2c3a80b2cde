"""Commands: programs on the worker's machine, allowed by their paths."""

from __future__ import annotations

import glob
import json
import logging
import os
import pwd
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn, Protocol

from tickbird.domain.errors import InvalidError, PayloadError
from tickbird.domain.schedules.definition import Backoff
from tickbird.domain.schedules.fields import OnCrash
from tickbird.domain.targets.command import OURS, CommandSpec, EnvRef, check_variables, is_variable_allowed
from tickbird.domain.time.instants import utc_text
from tickbird.targets.protocol import Isolation, LaunchError, LaunchSpec, Run

log = logging.getLogger("tickbird.worker")

# Variables that a command inherits from its worker's environment.
INHERITED: Final = ("PATH", "HOME", "LANG", "TZ")
_PATH = "/usr/local/bin:/usr/bin:/bin"
_MAX_COUNT = 1_000
# A longer payload does not fit into an environment variable.
_MAX_PAYLOAD_LENGTH = 100_000


class CommandApp(Protocol):
    """The part of an app that allows commands."""

    allows: tuple[str, ...]
    allows_env: tuple[str, ...]


class Command:
    """One program that this worker allows, with any arguments; those are in the revision of the run's schedule."""

    blocking = False
    isolation: Isolation | None = "process"
    memory: int | None = None
    kind = CommandSpec.kind
    # Every run of a command has a schedule, with its policies.
    retries = 0
    timeout: int | None = None
    on_crash: OnCrash = "retry"

    def __init__(self, program: str, variables: Sequence[str] = ()) -> None:
        self.name = program
        self.backoff = Backoff()
        # Variables that a definition may set, or read from the worker's environment. Others are refused, because
        # BASH_ENV, LD_PRELOAD or PATH could run any program.
        self._variables = tuple(variables)

    def __repr__(self) -> str:
        return f"<Command {self.name}>"

    def prepare(self, run: Run) -> NoReturn:
        """Raise PayloadError: a command needs a child process."""
        raise self._not_callable()

    def call(self, arguments: Mapping[str, Any]) -> NoReturn:
        """Raise PayloadError, as `prepare` does."""
        raise self._not_callable()

    def _not_callable(self) -> PayloadError:
        return PayloadError(
            f"{self.name} was not started: only worker processes start commands.", hint="Start `tickbird worker`."
        )

    def launch(self, run: Run) -> LaunchSpec:
        """The program to start for a run, with its arguments and environment."""
        program = run.spec
        # The run's target was checked against the allowlist; its arguments are only in the revision.
        if not isinstance(program, CommandSpec) or program.name != self.name:
            raise LaunchError(
                f"not started: the run was queued for {self.name}, but its revision starts another program"
            )
        user = None if program.user is None else _user(program.user)
        home = user.pw_dir if user else os.environ.get("HOME", "/")
        own = {"HOME": home, "USER": user.pw_name, "LOGNAME": user.pw_name, "SHELL": user.pw_shell} if user else {}
        return LaunchSpec(
            argv=list(program.argv),
            env={"PATH": _PATH, **_inherited(), **own, **self._resolve_env(program), **_facts(run)},
            folder=program.folder or (home if Path(home).is_dir() else "/"),
            success=list(program.success),
            user=None if user is None or user.pw_uid == os.geteuid() else _identity(user),
            input=program.input,
        )

    def describe(self) -> Mapping[str, Any]:
        """Return the entry that a worker publishes for the command, so that its runs find this worker."""
        published = {"queue": "default", "description": "", "schema": {"type": "object"}}
        return {**published, "env": list(self._variables)}

    def _resolve_env(self, program: CommandSpec) -> dict[str, str]:
        """The variables of its definition; references are resolved in this worker's environment."""
        found = {}
        for name, value in program.env:
            self._check_variable(name, "set")
            if isinstance(value, EnvRef):
                self._check_variable(value.name, "read")
                if value.name not in os.environ:
                    missing = f"variable {name}: this worker's environment has no {value.name}."
                    raise LaunchError(f"{missing} Set it, and restart the worker")
                found[name] = os.environ[value.name]
            else:
                found[name] = value
        return found

    def _check_variable(self, name: str, verb: str) -> None:
        refusal = f"variable {name}: commands may not {verb} it on this worker."
        if name.startswith(OURS):
            raise LaunchError(f"{refusal} Names that begin with {OURS} are reserved; choose another name.")
        if not is_variable_allowed(name, self._variables):
            raise LaunchError(f"{refusal} `tickbird worker --allow-env {name}` allows it.")


def _inherited() -> dict[str, str]:
    return {name: os.environ[name] for name in INHERITED if name in os.environ}


def _facts(run: Run) -> dict[str, str]:
    """Environment variables that describe the run."""
    facts = {
        "RUN_ID": str(run.id),
        "ATTEMPT": str(run.attempt),
        "ORIGIN": run.origin,
        "DUE_AT": utc_text(run.due_at),
        "SCHEDULE": run.schedule,
        "SCHEDULED_FOR": utc_text(run.scheduled_for),
    }
    if run.covers is not None:
        facts["COVERS_FIRST"] = utc_text(run.covers.first)
        facts["COVERS_LAST"] = utc_text(run.covers.last)
        facts["COVERS_COUNT"] = str(run.covers.count)
    if run.payload:
        payload = json.dumps(run.payload, ensure_ascii=False, separators=(",", ":"))
        if len(payload.encode()) > _MAX_PAYLOAD_LENGTH:
            raise PayloadError(
                f"payload is longer than {_MAX_PAYLOAD_LENGTH:,} bytes, the maximum for a command.",
                hint="Store the data elsewhere, and pass a reference to it.",
            )
        facts["PAYLOAD"] = payload
    return {f"{OURS}{name}": value for name, value in facts.items() if value is not None}


def _user(name: str) -> pwd.struct_passwd:
    try:
        user = pwd.getpwnam(name)
    except KeyError:
        raise LaunchError(f"there is no user {name} on this machine. Create the user, or choose another one") from None
    if os.geteuid() not in (0, user.pw_uid):
        raise LaunchError(
            f"only a worker that runs as root can start it as user {name}. Run the worker as root or as {name}"
        )
    return user


def _identity(user: pwd.struct_passwd) -> tuple[str, int, int, list[int]]:
    return user.pw_name, user.pw_uid, user.pw_gid, os.getgrouplist(user.pw_name, user.pw_gid)


def allowed_by(app: CommandApp) -> list[Command]:
    """The commands that the workers of an app allow, from the programs on this machine."""
    return [*allowed(app.allows, app.allows_env).values()]


def allowed(patterns: Iterable[str], variables: Iterable[str] = ()) -> dict[str, Command]:
    """The commands that a worker allows: programs by full path, or all matches of a pattern on its machine.

    Definitions may set and read these variables.
    """
    found: dict[str, Command] = {}
    checked = check_variables(variables)
    for pattern in patterns:
        found.update((path, Command(path, checked)) for path in _matching(pattern))
    if len(found) > _MAX_COUNT:
        raise InvalidError(
            f"commands: the patterns match {len(found):,} programs, more than the maximum of {_MAX_COUNT:,}.",
            field="commands",
            hint="List only the programs that you need.",
        )
    return found


def _matching(pattern: str) -> list[str]:
    if not isinstance(pattern, str) or not pattern.startswith("/") or os.path.normpath(pattern) != pattern:
        raise InvalidError(
            f"commands: {str(pattern)[:60]!r} is not the full path of a program.",
            field="commands",
            hint="Use, for example, /usr/bin/rsync, or /opt/jobs/* for all programs in a folder.",
        )
    if not glob.has_magic(pattern):
        return [pattern]
    found = [path for path in sorted(glob.glob(pattern)) if os.path.isfile(path) and os.access(path, os.X_OK)]  # noqa: PTH113, PTH207
    if not found:
        log.warning("%s allows no command: it matches no program on this machine", pattern)
    return found
