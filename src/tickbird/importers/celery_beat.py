"""Importer of `beat_schedule` in a Celery settings file. The file is parsed, and executed only if you trust it."""

from __future__ import annotations

import ast
import operator
from datetime import timedelta
from typing import Any, Final

from tickbird.domain.errors import InvalidError
from tickbird.importers import celery
from tickbird.importers.entries import Imported, ImportedSchedule, short
from tickbird.importers.sandbox import run_child

_SCHEDULES: Final = ("beat_schedule", "CELERY_BEAT_SCHEDULE", "CELERYBEAT_SCHEDULE")
_ZONES: Final = ("timezone", "CELERY_TIMEZONE")
_UTC: Final = ("enable_utc", "CELERY_ENABLE_UTC")
_LOCAL: Final = "enable_utc is off and no timezone is set, so beat uses the time zone of its machine"
_SUMS: Final = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
_MAX_SIZE: Final = 10**18
_MAX_RANGE: Final = 1_000
_LENGTHS: Final = ("days", "seconds", "microseconds", "milliseconds", "minutes", "hours", "weeks")


def _source(node: ast.AST) -> str:
    """Return the source of a node, for messages."""
    try:
        return ast.unparse(node)
    except (RecursionError, ValueError):
        return "…"


class _Unknown(Exception):
    """A value that is only known if the file is executed."""

    def __init__(self, node: ast.AST) -> None:
        super().__init__(f"`{short(_source(node))}` is not a literal, and the file is not executed")


def read_settings(text: str, source: str, *, tz: str | None = None) -> Imported:
    """Read a settings file without executing it. Its time zone is that of the file, or `tz`, or UTC."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise InvalidError(
            f"{source} is not a Python file ({error}).", hint="Name the file with beat_schedule."
        ) from None
    except (RecursionError, MemoryError):
        raise InvalidError(f"{source} is nested too deeply.", hint="Name the file with beat_schedule.") from None
    imported = Imported("Celery", source, notes=list(celery.NOTES))
    reader = _Reader(imported)
    reader.scan(tree)
    zone = reader.named_zone() or tz or "UTC"
    imported.notes.append(f"Times are in {zone}.")
    if not reader.entries and not imported.not_imported:
        imported.leave(source, f"it sets none of {', '.join(_SCHEDULES)}")
    for name, node in reader.entries.items():
        _entry(name, node, zone, reader, imported)
    return imported


class _Reader:
    """Evaluates literals, and constants that are assigned once."""

    def __init__(self, imported: Imported) -> None:
        self.imported = imported
        self.names: dict[str, ast.expr] = {}
        # Names that are assigned twice: their value is only known at run time.
        self.twice: set[str] = set()
        self.entries: dict[str, ast.expr] = {}
        self.zone: ast.expr | None = None
        self.local = False

    def scan(self, tree: ast.AST) -> None:
        """Read all statements in file order, including those in functions and classes."""
        located = [node for node in ast.walk(tree) if isinstance(node, ast.stmt | ast.expr)]
        for node in sorted(located, key=lambda node: (node.lineno, node.col_offset)):
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                self._assign(node.targets[0], node.value)
            elif isinstance(node, ast.AnnAssign | ast.AugAssign) and node.value is not None:
                self._assign(node.target, node.value)
            elif isinstance(node, ast.Call):
                self._call(node)
            elif isinstance(node, ast.Dict):
                self._settings(node)

    def named_zone(self) -> str | None:
        """Return the time zone that the file sets. A computed one is reported as not imported."""
        if self.zone is None:
            if self.local:
                self.imported.leave("enable_utc", f"{_LOCAL}. Give it with --tz")
            return None
        node = self.zone
        # Such as ZoneInfo("Europe/Rome") or pytz.timezone("Europe/Rome").
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            node = node.args[0]
        try:
            value = self.value(node)
        except (_Unknown, RecursionError):
            value = ""
        if value is None or (isinstance(value, str) and value):
            return value
        self.imported.leave(
            "timezone", f"`{short(_source(self.zone))}` is not a literal. Give the time zone with --tz", node.lineno
        )
        return None

    def _settings(self, node: ast.Dict) -> None:
        """Read a dictionary of all settings, if it contains a schedule."""
        named = [(_text(key), value) for key, value in zip(node.keys, node.values, strict=True)]
        if any(name in _SCHEDULES for name, _ in named):
            for name, value in named:
                self._set(name or "", value)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", None)
        if isinstance(target, ast.Subscript) and _last_name(target.value) in _SCHEDULES:
            self._take(target.slice, value)
        elif isinstance(target, ast.Subscript):
            self._set(_text(target.slice) or "", value)
        elif name is not None:
            self._set(name, value)
            if isinstance(target, ast.Name):
                if name in self.names:
                    self.twice.add(name)
                self.names.setdefault(name, value)

    def _call(self, node: ast.Call) -> None:
        called = _last_name(node.func)
        if called == "update":
            for keyword in node.keywords:
                if keyword.arg is not None:
                    self._set(keyword.arg, keyword.value)
            if isinstance(node.func, ast.Attribute) and _last_name(node.func.value) in _SCHEDULES and node.args:
                self._set(_SCHEDULES[0], node.args[0])
        elif called == "add_periodic_task":
            self.imported.leave(_source(node), "tasks that are added by code are only known at run time", node.lineno)

    def _set(self, name: str, value: ast.expr) -> None:
        if name in _ZONES:
            self.zone = value
        elif name in _UTC:
            self.local = isinstance(value, ast.Constant) and value.value is False
        elif name in _SCHEDULES and isinstance(value, ast.Name) and isinstance(self.names.get(value.id), ast.Dict):
            self._set(name, self.names[value.id])
        elif name in _SCHEDULES and isinstance(value, ast.Dict):
            for key, entry in zip(value.keys, value.values, strict=True):
                self._take(key, entry)
        elif name in _SCHEDULES:
            self.imported.leave(name, str(_Unknown(value)), value.lineno)

    def _take(self, key: ast.expr | None, value: ast.expr) -> None:
        if (name := _text(key)) is not None:
            # As in Python, the last entry with a name wins.
            if (before := self.entries.pop(name, None)) is not None and before is not value:
                self.imported.leave(name, f"line {value.lineno} defines it again and overrides this", before.lineno)
            self.entries[name] = value
        elif key is None and isinstance(value, ast.Name) and isinstance(named := self.names.get(value.id), ast.Dict):
            # **others
            self._set(_SCHEDULES[0], named)
        else:
            self.imported.leave(_source(value), "its name is not a literal", value.lineno)

    def value(self, node: ast.expr) -> Any:
        """Evaluate an expression; raise _Unknown if that is not possible without executing code."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name) and node.id in self.names and node.id not in self.twice:
            return self.value(self.names[node.id])
        if isinstance(node, ast.Dict) and None not in node.keys:
            return {self.value(k): self.value(v) for k, v in zip(node.keys, node.values, strict=True) if k is not None}
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return [self.value(item) for item in node.elts]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.value(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in _SUMS:
            left, right = self.value(node.left), self.value(node.right)
            if all(isinstance(operand, timedelta) or _is_small(operand) for operand in (left, right)):
                return _SUMS[type(node.op)](left, right)
        if isinstance(node, ast.Call):
            return self._called(node)
        raise _Unknown(node)

    def _called(self, node: ast.Call) -> Any:
        name = _last_name(node.func)
        if any(keyword.arg is None for keyword in node.keywords):
            raise _Unknown(node)
        args = [self.value(argument) for argument in node.args]
        own = {str(keyword.arg) for keyword in node.keywords if keyword.arg in ("nowfun", "app")}
        kwargs = {str(keyword.arg): self.value(keyword.value) for keyword in node.keywords if keyword.arg not in own}
        if name == "dict" and not args and not own:
            return kwargs
        if name == "timedelta" and len(args) <= len(_LENGTHS) and set(kwargs) <= set(_LENGTHS):
            return timedelta(*args, **kwargs)
        if name == "range" and not kwargs and all(map(_is_small, args)) and len(numbers := range(*args)) <= _MAX_RANGE:
            return list(numbers)
        if name in ("crontab", "schedule", "solar"):
            return name, args, {**kwargs, **({"nowfun": True} if "nowfun" in own else {})}
        raise _Unknown(node)


def _is_small(value: Any) -> bool:
    """Return True for a number that is safe to calculate with."""
    return isinstance(value, int | float) and abs(value) < _MAX_SIZE


def _text(node: ast.expr | None) -> str | None:
    """Return the value of a string literal; None for other nodes."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _last_name(node: ast.AST) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)


def _entry(name: str, node: ast.expr, tz: str, reader: _Reader, imported: Imported) -> None:
    line = node.lineno
    try:
        written = reader.value(node)
        if not isinstance(written, dict) or not isinstance(written.get("task"), str):
            raise ValueError("it has no task")
        entry = ImportedSchedule(name, {}, f"{name}: {written['task']}", line)
        _when(written.get("schedule"), tz, entry)
        entry.fields |= {"task": written["task"], "overlap": "allow"}
        celery.arguments(written.get("args"), written.get("kwargs"), entry)
        celery.options(written.get("options"), entry)
        if written.get("relative"):
            raise ValueError("relative = True rounds the interval in a way that Tickbird cannot reproduce")
    except RecursionError:
        imported.leave(f"{name}: {_source(node)}", "it is nested too deeply or contains itself", line)
        return
    except (_Unknown, ValueError, TypeError, ZeroDivisionError, OverflowError) as error:
        imported.leave(f"{name}: {_source(node)}", str(error), line)
        return
    imported.add(entry)


def _when(when: Any, tz: str, entry: ImportedSchedule) -> None:
    if isinstance(when, timedelta):
        celery.interval(when, None, entry)
    elif isinstance(when, int | float) and not isinstance(when, bool):
        celery.interval(timedelta(seconds=when), None, entry)
    elif isinstance(when, tuple):
        kind, args, kwargs = when
        if kind == "solar":
            raise ValueError("solar schedules are not supported")
        if kwargs.pop("nowfun", False):
            entry.notes.append(celery.NOWFUN)
        if kind not in ("crontab", "schedule"):
            raise ValueError(f"its schedule is a {kind}, which has no equivalent")
        if kind == "schedule":
            length = args[0] if args else kwargs.get("run_every")
            if kwargs.get("relative") or len(args) > 1:
                raise ValueError("relative = True rounds the interval in a way that Tickbird cannot reproduce")
            celery.interval(length if isinstance(length, timedelta) else timedelta(seconds=length), None, entry)
            return
        if unknown := set(kwargs) - set(celery.CRONTAB):
            raise ValueError(f"{', '.join(sorted(unknown))} of crontab is unknown")
        given = {**dict.fromkeys(celery.CRONTAB, "*"), **dict(zip(celery.CRONTAB, args, strict=False)), **kwargs}
        fields, entry.fires = celery.crontab([given[name] for name in celery.CRONTAB], tz)
        entry.fields |= fields
    else:
        raise ValueError("its schedule is neither a crontab nor a duration")


def execute_settings(file: str, source: str, *, tz: str | None = None, python: str | None = None) -> Imported:
    """Read a settings file by executing it in a child process that has Celery."""
    answer = run_child("celery_child", file, python=python, what="executes the settings")
    imported = Imported("Celery", source, notes=list(celery.NOTES))
    zone = answer["zone"] or tz or "UTC"
    if answer["local"] and not answer["zone"] and tz is None:
        imported.leave("enable_utc", f"{_LOCAL}. Give it with --tz")
    imported.notes.append(f"Times are in {zone}.")
    for document in answer["entries"]:
        name, origin = str(document["name"]), f"{document['name']}: {document['task']}"
        try:
            if document["relative"]:
                raise ValueError("relative = True rounds the interval in a way that Tickbird cannot reproduce")
            if not isinstance(document["task"], str):
                raise ValueError("it has no task")
            entry = ImportedSchedule(name, {"task": document["task"], "overlap": "allow"}, origin)
            _when(_schedule_of(document), zone, entry)
            if document["nowfun"]:
                entry.notes.append(celery.NOWFUN)
            values = {part: _carried(document[part], part, entry) for part in ("args", "kwargs", "options")}
            celery.arguments(values["args"], values["kwargs"], entry)
            celery.options(values["options"], entry)
        except ValueError as error:
            imported.leave(origin, str(error))
            continue
        imported.add(entry)
    return imported


def _schedule_of(document: dict[str, Any]) -> Any:
    """Convert the child's document to the form that `_Reader.value` returns."""
    if "crontab" in document:
        return "crontab", document["crontab"], {}
    return document["seconds"] if "seconds" in document else (document["kind"], [], {})


def _carried(part: dict[str, Any], name: str, entry: ImportedSchedule) -> Any:
    if "shown" in part:
        entry.notes.append(f"{name} are not JSON and not imported: {part['shown']}")
    return part.get("value")
