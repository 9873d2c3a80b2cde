"""Importer of crontabs: personal ones, and system crontabs with a user column."""

from __future__ import annotations

import pwd
import re
import shlex
from dataclasses import dataclass, field
from typing import Any, Final

from tickbird.domain.errors import InvalidError
from tickbird.domain.targets.command import SHELL, CommandSpec
from tickbird.domain.triggers.cron.cron import cron
from tickbird.importers.entries import Imported, ImportedSchedule, name_of

_SETTING: Final = re.compile(r"""(?:"([^"]+)"|'([^']+)'|([^\s"'=]+))\s*=\s*(.*)""")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_NICKNAMES: Final = ("hourly", "daily", "midnight", "weekly", "monthly", "yearly", "annually")
_STEP_OF_ONE: Final = re.compile(r"(?:^|[ ,])\w+/\d")
# The command, and its input after the first unescaped %.
_PERCENT: Final = re.compile(r"((?:[^\\%]|\\.?)*)%?(.*)", re.DOTALL)
# Text without shell syntax.
_PLAIN: Final = re.compile(r"[A-Za-z0-9_/.,:@+ \t-]+", re.ASCII)
_SHELLS: Final = ("sh", "bash", "dash", "ksh", "zsh")
# Wrappers before the program that gives the schedule its name.
_WRAPPERS: Final = frozenset(
    (
        *("cd", "test", "sudo", "nice", "ionice", "exec", "flock", "env", "nohup", "timeout"),
        *("sh", "bash", "python", "python3", "perl", "ruby", "php", "node"),
    )
)
_NAMING: Final = 2_000
_SYSTEM: Final = ("/etc/crontab", "/etc/cron.d/")
_NOTES: Final = (
    "Cron starts a command even if it is still running, and ignores missed times: therefore overlap and catch_up.",
    "A tick that is planned within its grace still runs, so that you can restart a worker.",
    "The output of commands is in the logs of their runs (`tickbird logs`). Nothing is mailed.",
)


@dataclass(slots=True)
class _State:
    """The settings up to a line. They apply to the lines below."""

    env: dict[str, str] = field(default_factory=dict)
    shell: str = SHELL
    tz: str = "UTC"
    machine: str = "UTC"
    delay: int = 0
    notes: list[str] = field(default_factory=list)


def read_crontab(text: str, source: str, *, system: bool | None = None, tz: str = "UTC") -> Imported:
    """Read all lines. `tz` is the default of CRON_TZ. With `system`, the sixth column is the user (None: detect)."""
    imported = Imported("cron", source, notes=list(_NOTES))
    # Cron ends lines only at \n.
    lines = [(number, line.strip(" \t\r")) for number, line in enumerate(text.split("\n"), 1)]
    content = [(number, line) for number, line in lines if line and not line.startswith("#")]
    for number, line in content:
        if not _is_text(line):
            imported.leave(line.encode("utf-8", "replace").decode(), "it is not UTF-8. Save the file as UTF-8", number)
    content = [(number, line) for number, line in content if _is_text(line)]
    settings = {number: None if line[0] in "*@" else _SETTING.fullmatch(line) for number, line in content}
    if system is None:
        system = source.startswith(_SYSTEM) or _has_users(
            [line for number, line in content if settings[number] is None]
        )
        if system:
            imported.notes.append("The word after the time is read as the user. If it is not, use --personal.")
    state = _State(tz=tz, machine=tz)
    for number, line in content:
        if (setting := settings[number]) is not None:
            _set(state, setting[1] or setting[2] or setting[3], _unquoted(setting[4]), number, imported)
        else:
            _entry(state, line, number, system, imported)
    imported.notes.append(f"Times are in {tz} unless CRON_TZ is set. Use --tz for another time zone.")
    return imported


def _is_text(line: str) -> bool:
    """Return False if the line has surrogates: bytes that were not UTF-8."""
    try:
        line.encode()
    except UnicodeEncodeError:
        return False
    return True


def _has_users(lines: list[str]) -> bool:
    """Return True if a user of this machine precedes every command, as in /etc/crontab."""
    words = [line.split(None, 2 if line.startswith("@") else 6) for line in lines]
    return bool(words) and all(
        len(parts) == (3 if parts[0].startswith("@") else 7) and _is_user(parts[-2]) and parts[-1][0] not in "-<>|&;%"
        for parts in words
    )


def _is_user(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except (KeyError, ValueError):
        return False
    return True


def _unquoted(value: str) -> str:
    quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value


def _set(state: _State, name: str, value: str, line: int, imported: Imported) -> None:
    if name == "SHELL":
        state.shell = value
    elif name == "CRON_TZ":
        # An empty value resets the time zone.
        state.tz = value or state.machine
    elif name == "RANDOM_DELAY":
        state.delay = int(value) * 60 if value.isdigit() else 0
    elif name in ("MAILTO", "MAILFROM"):
        if value:
            imported.leave(f"{name}={value}", "Tickbird sends no mail. Monitor failed runs instead", line)
    elif name.startswith("TICKBIRD_"):
        imported.leave(f"{name}={value}", "Tickbird sets these variables itself", line)
    elif not _VARIABLE.fullmatch(name):
        imported.leave(f"{name}={value}", "this is not a valid variable name", line)
    elif "\0" in value:
        imported.leave(f"{name}={value}", "a variable cannot contain a NUL character", line)
    else:
        state.env[name] = value


def _entry(state: _State, line: str, number: int, system: bool, imported: Imported) -> None:
    line = line.removeprefix("-")
    count = 1 if line.startswith("@") else 5
    parts = line.split(None, count + system)
    if len(parts) < count + system + 1:
        imported.leave(line, "it has too few fields", number)
        return
    when, command = " ".join(parts[:count]), parts[-1]
    fields, why = _trigger(when)
    if fields is None:
        imported.leave(line, why, number)
        return
    user = parts[count] if system else None
    if user is not None and (match := re.fullmatch(r"([^:/]+)[:/].*", user)):
        user = match[1]
    line_of_shell, given = _split(command)
    if not line_of_shell:
        imported.leave(line, "it has no command", number)
        return
    spec = _command(line_of_shell, given, state, user)
    entry = ImportedSchedule(
        _name(line_of_shell),
        {**fields, "tz": state.tz, CommandSpec.kind: spec, "overlap": "allow", "catch_up": "skip", "grace": "10m"},
        line,
        number,
    )
    if state.delay:
        entry.fields["spread"] = state.delay
        entry.notes.append("RANDOM_DELAY: Tickbird delays all runs of a schedule by the same fixed offset.")
    if _STEP_OF_ONE.search(when):
        entry.notes.append(
            "A step after a single number extends to the end of the field, as in cronie. Debian's cron"
            " refuses it, and older versions use only the number."
        )
    if "TZ" in state.env and state.env["TZ"] != state.tz:
        entry.notes.append(
            "TZ only applies to the command, as in cron. CRON_TZ, or tz here, is the time zone of its times."
        )
    if "HOME" in state.env:
        entry.fields[CommandSpec.kind]["folder"] = state.env["HOME"]
    imported.add(entry)


def _trigger(when: str) -> tuple[dict[str, Any] | None, str]:
    """Return the trigger, or None and the reason."""
    if when.lower() == "@reboot":
        return None, "it runs when the machine starts. Use the service manager of the machine instead"
    if when.startswith("@") and when[1:].lower() not in _NICKNAMES:
        return None, f"{when} is not a known cron time"
    if "~" in when:
        return None, "a random time (~) differs each time cron reads it. Choose a time, or set spread"
    try:
        cron(when)
    except InvalidError as error:
        return None, str(error).rstrip(".")
    return {"cron": when}, ""


def _split(command: str) -> tuple[str, str | None]:
    r"""Return the shell line, and the input after the first %. Each further % is a line break; \% is a literal %."""
    match = _PERCENT.fullmatch(command)
    assert match is not None
    line = re.sub(r"\\(.)", lambda pair: "%" if pair[1] == "%" else pair[0], match[1])
    given = re.sub(r"(?<!\\)%", "\n", match[2]).replace(r"\%", "%")
    return line.strip(), (given if given.endswith("\n") else f"{given}\n") if given else None


def _command(line: str, given: str | None, state: _State, user: str | None) -> dict[str, Any]:
    spec: dict[str, Any] = {}
    if line.startswith("/") and _PLAIN.fullmatch(line) and state.shell.rpartition("/")[2] in _SHELLS:
        program, *args = line.split()
        spec["program"] = program
        if args:
            spec["args"] = args
    else:
        spec["shell"] = line
        if state.shell != SHELL:
            spec["program"] = state.shell
    if state.env:
        spec["env"] = dict(state.env)
    if user is not None:
        spec["user"] = user
    if given is not None:
        spec["input"] = given
    return spec


def _name(line: str) -> str:
    """Return a name for a command line: the program, or the script of an interpreter."""
    # The start is enough for a name, and shlex.split needs quadratic time.
    line = line[:_NAMING]
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    before = ""
    for word in words:
        base = word.rpartition("/")[2].partition(".")[0]
        is_name = before != "cd" and not word.startswith("-") and "=" not in word and re.search("[a-zA-Z]", base)
        if is_name and base.lower() not in _WRAPPERS:
            return name_of(base)
        before = word
    return name_of(words[0].rpartition("/")[2]) if words else CommandSpec.kind
