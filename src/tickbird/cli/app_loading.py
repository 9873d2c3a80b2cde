"""App loading: import the Tickbird instance that MODULE:BIRD names."""

from __future__ import annotations

import importlib
import os
import re
import sys
import traceback
from types import ModuleType
from typing import Any

import click

from tickbird.app import Tickbird
from tickbird.cli.errors import Failed
from tickbird.cli.options import GlobalOptions
from tickbird.domain.errors import InvalidError, NotFoundError, TickbirdError
from tickbird.domain.text import check_name

_MISSING = object()
_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def app_argument(command: Any) -> Any:
    """Accept the app as an argument or as --app."""
    named = click.argument("app", metavar="[MODULE:BIRD]", required=False)
    option = click.option(
        "--app", "app_option", metavar="MODULE:BIRD", help="App, instead of the argument (default: TICKBIRD_APP)."
    )
    return named(option(command))


def find_app(settings: GlobalOptions, named: str | None, option: str | None) -> Tickbird:
    """Load the app; --url and --namespace override its own store and namespace."""
    settings.need_store()
    bird = load_app(app_name(named, option))
    bird.url = settings.url or bird.url
    bird.namespace = check_name(settings.namespace or bird.namespace, "namespace")
    return bird


def app_name(named: str | None, option: str | None) -> str:
    if named and option:
        raise click.UsageError("give the app only once: as the argument or with --app.", click.get_current_context())
    given = named or option or os.environ.get("TICKBIRD_APP")
    if not given:
        raise click.UsageError("name the app, such as `myapp:bird`, or set TICKBIRD_APP.", click.get_current_context())
    return given


def load_app(given: str) -> Tickbird:
    """Import the module, with the current folder first on the path, and return its Tickbird instance."""
    module_name, _, attribute = given.partition(":")
    is_path = module_name.endswith(".py") or "/" in module_name
    if is_path or not _NAME.fullmatch(module_name) or (attribute and not _NAME.fullmatch(attribute)):
        hint = "Name the module, not its file: `myapp:bird`." if is_path else "Write it like `myapp:bird`."
        raise InvalidError(f"app: {given[:100]!r} is not an app.", field="app", hint=hint)
    folder = str(os.getcwd())  # noqa: PTH109 - the path must be text
    if folder not in sys.path:
        sys.path.insert(0, folder)
    module = _import(module_name, folder)
    bird = _named(module, attribute) if attribute else _only(module)
    attribute = attribute or next(name for name, instance in _birds(module).items() if instance is bird)
    bird.reference = f"{module_name}:{attribute}"
    return bird


def _import(name: str, folder: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise NotFoundError(
                f"there is no module {error.name!r}.",
                hint=f"Run the command in its folder (the current folder is {folder}), or install it.",
            ) from error
        raise _broken(name, error) from error
    except TickbirdError as error:
        # A declaration in the module is invalid. Its error class decides the exit code.
        error.message = f"{name}{_line(error, name)}: {error.message}"
        raise
    except (Exception, SystemExit) as error:
        raise _broken(name, error) from error


def _broken(name: str, error: BaseException) -> Failed:
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return Failed(
        f"the module {name!r} cannot be imported{_line(error, name)} ({text[:300]}).",
        hint="Fix it, or use --debug to see the traceback.",
    )


def _line(error: BaseException, name: str) -> str:
    """Return the last line of the module itself in the traceback, or "" if there is none."""
    if isinstance(error, SyntaxError) and error.filename:
        return f", {os.path.basename(error.filename)} line {error.lineno}"  # noqa: PTH119 - text in, text out
    last = name.rpartition(".")[2]
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = os.path.basename(frame.filename)  # noqa: PTH119
        if file == f"{last}.py" or frame.filename.endswith(f"/{last}/__init__.py"):
            return f", {file} line {frame.lineno}"
    return ""


def _named(module: ModuleType, attribute: str) -> Tickbird:
    value: Any = module
    for part in attribute.split("."):
        value = getattr(value, part, _MISSING)
    if isinstance(value, Tickbird):
        return value
    message = f"{module.__name__}:{attribute} is a {type(value).__name__}, not a Tickbird instance."
    if value is _MISSING:
        message = f"the module {module.__name__!r} has no {attribute!r}."
    instances = ", ".join(sorted(_birds(module))) or "none"
    raise NotFoundError(message, hint=f"Tickbird instances of the module: {instances}.")


def _only(module: ModuleType) -> Tickbird:
    birds = _birds(module)
    distinct = {id(bird): bird for bird in birds.values()}
    if len(distinct) == 1:
        return next(iter(distinct.values()))
    if not distinct:
        raise NotFoundError(
            f"the module {module.__name__!r} has no Tickbird instance.", hint="Create one: `bird = Tickbird()`."
        )
    names = ", ".join(f"{module.__name__}:{name}" for name in sorted(birds))
    raise InvalidError(f"the module {module.__name__!r} has several Tickbird instances.", hint=f"Name one: {names}.")


def _birds(module: ModuleType) -> dict[str, Tickbird]:
    return {name: value for name, value in vars(module).items() if isinstance(value, Tickbird)}
