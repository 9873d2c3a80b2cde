"""Commands: a program with arguments, or a shell line, with environment, folder, user and input."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from posixpath import normpath
from typing import Any, ClassVar, Final, NoReturn, Self

from tickbird.domain.errors import DefinitionError, InvalidError, name_field
from tickbird.domain.targets.spec import DefiningRole, FormField, Schema, TargetSpec, WrittenPart

SHELL: Final = "/bin/sh"
# Prefix of the variables that describe the run to a command; a definition cannot set them.
OURS: Final = "TICKBIRD_"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}", re.ASCII)
_VARIABLE_NAME = "Use letters, digits and _, such as BACKUP_LEVEL."
_PLAIN_TEXT = "Use a text without NUL characters and lone surrogates."
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\$?", re.ASCII)
_VARIABLE_SCHEMA: Final[Schema] = {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,199}$"}
MAX_ARGUMENTS = 1_000
MAX_TEXT_LENGTH = 100_000


@dataclass(frozen=True, slots=True)
class EnvRef:
    """A variable of the worker's environment; only its name is stored."""

    name: str

    def to_json(self) -> dict[str, str]:
        return {"env": self.name}


Value = str | EnvRef


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSpec(TargetSpec):
    """A program by its absolute path, which workers must allow; with `shell`, the program is the shell."""

    kind: ClassVar[str] = "command"
    about: ClassVar[str] = "A program that a worker allows; for admins."
    executor: ClassVar[str] = "tickbird.targets.command:allowed_by"
    # The definition decides which program starts on the workers.
    role: ClassVar[DefiningRole] = "admin"
    format: ClassVar[int | None] = 2
    form_title: ClassVar[str] = "a command"
    form: ClassVar[tuple[FormField, ...]] = (
        FormField(
            "",
            "Command as JSON",
            'Such as {"program": "/usr/local/bin/backup", "args": ["--full"]}; workers start only allowed programs.',
            kind="json",
        ),
    )
    expects: ClassVar[str] = 'a list such as ["/usr/bin/rsync", "-a"], or an object'

    program: str
    args: tuple[str, ...] = ()
    shell: str | None = None
    env: tuple[tuple[str, Value], ...] = ()
    folder: str | None = None
    user: str | None = None
    # Exit codes that are a success.
    success: tuple[int, ...] = (0,)
    # Standard input; None: empty.
    input: str | None = None

    def __post_init__(self) -> None:
        _check_path(self.program, "program", "such as /usr/bin/rsync, because workers allow programs by their path.")
        if not isinstance(self.args, tuple) or len(self.args) > MAX_ARGUMENTS:
            _refuse("args", f"must be a list of at most {MAX_ARGUMENTS:,} texts")
        if self.shell is not None and (self.args or not _is_text(self.shell) or not self.shell.strip()):
            _refuse("shell", "must be a non-empty text, and cannot be combined with args")
        for text in self.args:
            if not _is_text(text):
                _refuse("args", f"{str(text)[:60]!r} cannot be passed to a program", hint=_PLAIN_TEXT)
        self._check_env()
        if self.folder is not None:
            _check_path(self.folder, "folder", "such as /srv/reports.")
        if self.user is not None and (not isinstance(self.user, str) or not _USER.fullmatch(self.user)):
            _refuse("user", f"{str(self.user)[:60]!r} is not a user name", hint="Use a login name such as backup.")
        self._check_success()
        if self.input is not None and not _is_text(self.input):
            _refuse("input", "cannot be passed to a program", hint=_PLAIN_TEXT)
        texts = [
            self.shell or "",
            self.input or "",
            *self.args,
            *(value for _, value in self.env if isinstance(value, str)),
        ]
        if sum(map(len, texts)) > MAX_TEXT_LENGTH:
            _refuse(
                "args",
                f"all texts together have more than {MAX_TEXT_LENGTH:,} characters",
                hint="Put them into a file.",
            )

    def _check_env(self) -> None:
        for name, value in self.env:
            if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
                _refuse("env", f"{str(name)[:60]!r} is not a valid variable name", hint=_VARIABLE_NAME)
            if name.startswith(OURS):
                _refuse("env", f"{name} is reserved for Tickbird", hint="Choose another name.")
            if isinstance(value, EnvRef) and not _VARIABLE.fullmatch(value.name):
                _refuse("env", f"{value.name[:60]!r} is not a valid variable name", hint=_VARIABLE_NAME)
            if not isinstance(value, EnvRef) and not _is_text(value):
                _refuse("env", f'{name} must be a text, or {{"env": "NAME"}} for a variable of the worker')

    def _check_success(self) -> None:
        codes = self.success
        if not isinstance(codes, tuple) or not codes or len(set(codes)) < len(codes):
            _refuse("success", "must be a list of different exit codes")
        if not all(isinstance(code, int) and not isinstance(code, bool) and 0 <= code <= 255 for code in codes):
            _refuse("success", "must contain whole numbers from 0 to 255")

    @property
    def name(self) -> str:
        return self.program

    @property
    def argv(self) -> tuple[str, ...]:
        return (self.program, *self.args) if self.shell is None else (self.program, "-c", self.shell)

    @property
    def line(self) -> str:
        """The command as typed in a shell."""
        return shlex.join(self.argv) if self.shell is None else self.shell

    @property
    def details(self) -> Mapping[str, Any]:
        return {name: value for name, value in self.to_json().items() if name not in ("args", "shell")}

    def to_json(self) -> dict[str, Any]:
        """Return the program and the fields that differ from their defaults."""
        encoded: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name == "env" and value:
                value = {name: text.to_json() if isinstance(text, EnvRef) else text for name, text in value}
            if item.name == "program" or value != item.default:
                encoded[item.name] = list(value) if isinstance(value, tuple) else value
        return encoded

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Read an object, or a list of the program and its arguments."""
        if isinstance(value, list):
            value = {"program": value[0], "args": value[1:]} if value else {}
        if not isinstance(value, Mapping):
            _refuse("program", "is missing", hint='Write {"command": {"program": "/usr/bin/rsync", "args": ["-a"]}}.')
        for name in value:
            if name not in FIELDS:
                _refuse(str(name)[:60], "is not a field of a command", hint=f"Fields: {', '.join(FIELDS)}.")
        given = dict(value)
        if "program" not in given and given.get("shell") is None:
            _refuse(
                "program", "is missing", hint='Write "program": "/usr/bin/rsync", or "shell": "…" for a shell line.'
            )
        for name in ("args", "success"):
            if name in given:
                if not isinstance(given[name], list | tuple):
                    _refuse(name, "must be a list")
                given[name] = tuple(given[name])
        if "env" in given:
            given["env"] = _env(given["env"])
        return cls(**{"program": SHELL, **given})

    @classmethod
    def written_parts(cls, value: Any) -> Iterator[WrittenPart]:
        """Yield each field, variable and argument."""
        for field, part in value.items() if isinstance(value, Mapping) else ():
            required = {} if field == "shell" else {"program": SHELL}
            if field == "env" and isinstance(part, Mapping):
                yield from (((field, name), {**required, field: {name: part[name]}}) for name in part)
            elif field == "args" and isinstance(part, list):
                yield from (((field, index), {**required, field: [text]}) for index, text in enumerate(part))
            else:
                yield (field,), {**required, field: part}

    @classmethod
    def json_schema(cls) -> Schema:
        text = _text_schema()
        reference = _object_schema({"env": _VARIABLE_SCHEMA}, ["env"], "The value of this variable on the worker.")
        properties: Schema = {
            "program": {"pattern": "^/", **_text_schema(1), "description": "The absolute path."},
            "args": {"type": "array", "items": text, "maxItems": MAX_ARGUMENTS},
            "shell": {**_text_schema(1), "description": "A shell line, without args."},
            "env": {
                "type": "object",
                "propertyNames": _VARIABLE_SCHEMA,
                "additionalProperties": {"anyOf": [text, reference]},
            },
            "folder": {"pattern": "^/", **_text_schema(1)},
            "user": _text_schema(1, 100),
            "success": {
                "type": "array",
                "items": {"type": "integer", "minimum": 0, "maximum": 255},
                "minItems": 1,
                "uniqueItems": True,
            },
            "input": text,
        }
        return _object_schema(properties, ["program"], "A program with its arguments and environment.")

    @classmethod
    def file_schema(cls) -> Schema:
        """Also allow a list of the program and its arguments. Editors need no bounds."""
        text: Schema = {"type": "string"}
        reference = {"type": "object", "additionalProperties": False, "properties": {"env": text}, "required": ["env"]}
        special: Schema = {
            "args": {"type": "array", "items": text},
            "env": {"type": "object", "additionalProperties": {"anyOf": [text, reference]}},
            "success": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255}, "minItems": 1},
        }
        properties = {name: special.get(name, text) for name in FIELDS}
        described = {"type": "object", "additionalProperties": False, "properties": properties}
        return {"anyOf": [{"type": "array", "items": text, "minItems": 1}, described]}

    @classmethod
    def describe(cls, name: str) -> str:
        return f"command {name}"

    @classmethod
    def requirement(cls, name: str) -> str:
        return f"allows command {name}"

    @classmethod
    def worker_command(cls, queue: str, name: str) -> str:
        allowed = f"--queues {shlex.quote(queue)} --allow-command {shlex.quote(name)}"
        return f"tickbird worker MODULE:APP {allowed}   # on the machine where it should run"


FIELDS = tuple(item.name for item in fields(CommandSpec))


def _text_schema(minimum: int = 0, maximum: int = MAX_TEXT_LENGTH) -> Schema:
    return {"type": "string", "minLength": minimum, "maxLength": maximum}


def _object_schema(properties: Schema, required: list[str], description: str) -> Schema:
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def command(
    args: Sequence[str] | None = None,
    /,
    *,
    shell: str | None = None,
    program: str | None = None,
    env: Mapping[str, Any] | None = None,
    folder: str | None = None,
    user: str | None = None,
    success: int | Iterable[int] = (0,),
    input: str | None = None,  # noqa: A002 - as subprocess has it
) -> CommandSpec:
    """Create a command: a list with the path of the program first, or `shell=` with a line for /bin/sh.

    `env` has texts, or {"env": "NAME"} for a variable of the worker's environment. `program` replaces /bin/sh.
    """
    if isinstance(args, str):
        _refuse("args", "is a text, not a list", hint='Give a list, such as ["/usr/bin/rsync", "-a"], or shell="…".')
    given = list(args or ())
    if (shell is None) == (not given):
        _refuse("program", "is missing", hint='Give ["/usr/bin/rsync", "-a"], or shell="…", but not both.')
    if given and program is not None:
        _refuse("program", "cannot be combined with a list", hint="Put it first in the list, or use it with shell.")
    if shell is not None:
        given = [program or SHELL]
    return CommandSpec(
        program=given[0],
        args=tuple(given[1:]),
        shell=shell,
        env=_env({} if env is None else env),
        folder=folder,
        user=user,
        success=(success,) if isinstance(success, int) else tuple(success),
        input=input,
    )


def _env(value: Any) -> tuple[tuple[str, Value], ...]:
    if not isinstance(value, Mapping):
        _refuse("env", "must be an object with the values of variables by name")
    variables: list[tuple[str, Value]] = []
    for name in sorted(value, key=str):
        text = value[name]
        if isinstance(text, Mapping) and [*text] == ["env"] and isinstance(text["env"], str):
            text = EnvRef(text["env"])
        variables.append((name, text))
    return tuple(variables)


def check_variables(patterns: Iterable[str]) -> tuple[str, ...]:
    """Check the variables that definitions may set and read: names, or `PREFIX_*`."""
    names = (patterns,) if isinstance(patterns, str) else tuple(patterns)
    for pattern in names:
        stem = pattern.removesuffix("*") if isinstance(pattern, str) else ""
        if not _VARIABLE.fullmatch(stem):
            raise InvalidError(
                f"command_env: {str(pattern)[:60]!r} is not a valid variable name.",
                field="command_env",
                hint="Write, for example, LEVEL, or BACKUP_* for all that begin with BACKUP_.",
            )
        if stem.startswith(OURS) or (stem != pattern and OURS.startswith(stem)):
            raise InvalidError(
                f"command_env: {pattern[:60]!r} matches variables that are reserved for Tickbird.",
                field="command_env",
                hint="Choose other names.",
            )
    return names


def is_variable_allowed(name: str, patterns: Iterable[str]) -> bool:
    return any(name == item or (item.endswith("*") and name.startswith(item[:-1])) for item in patterns)


def _is_text(text: object) -> bool:
    """Return whether programs and databases accept the text: no NUL characters, no lone surrogates."""
    return isinstance(text, str) and "\0" not in text and not any(0xD800 <= ord(letter) <= 0xDFFF for letter in text)


def _check_path(path: object, field: str, hint: str) -> None:
    """Require an absolute, normalized path, so that there is one way to write it."""
    if not isinstance(path, str) or not _is_text(path) or not path.startswith("/") or len(path) > 1_000:
        _refuse(field, f"{str(path)[:60]!r} is not an absolute path", hint=f"Use an absolute path, {hint}")
    if normpath(path) != path or path.startswith("//"):
        _refuse(field, f"{path[:60]!r} is not normalized", hint=f"Use {normpath('/' + path.lstrip('/'))}.")


def _refuse(field: str, reason: str, *, hint: str | None = None) -> NoReturn:
    raise DefinitionError(f"command: {name_field(field, reason)}", field="command", hint=hint or "")
