"""Types of arguments and options that several commands share."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from tickbird.cli.shell_completion import schedule_names
from tickbird.domain.errors import InvalidError
from tickbird.domain.schedules.definition import MAX_PAYLOAD
from tickbird.domain.time.durations import seconds

MAX_ID = 2**63 - 1
MAX_TEXT_LENGTH = 1_000


def storable_text(value: str) -> str:
    """Refuse text that a database cannot store. Otherwise the driver would fail later."""
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise click.BadParameter("the text has a character that a database cannot store.")
    if len(value) > MAX_TEXT_LENGTH:
        raise click.BadParameter(f"the text has {len(value):,} characters. The maximum is {MAX_TEXT_LENGTH:,}.")
    return value


def name_argument(command: Any) -> Any:
    return click.argument("name", type=storable_text, shell_complete=schedule_names)(command)


def optional_name_argument(command: Any) -> Any:
    return click.argument("name", type=storable_text, required=False, shell_complete=schedule_names)(command)


def note_option(command: Any) -> Any:
    text = "Reason, for the audit log."
    return click.option("--note", type=storable_text, default="", metavar="TEXT", help=text)(command)


def length(value: str | int) -> int:
    """Parse a duration such as 90, 90s, 10m or 1h30m to seconds."""
    text = str(value)
    try:
        return seconds(int(text) if text.isascii() and text.isdigit() else text, "value", minimum=1)
    except InvalidError as error:
        raise click.BadParameter(str(error).removeprefix("value: ")) from None


def read_payload(given: str) -> dict[str, Any]:
    """Read a JSON object from the option itself, from a file (@path) or from stdin (-)."""
    payload = read_json(given, "payload")
    if not isinstance(payload, dict):
        raise InvalidError("payload must be a JSON object.", hint="Write, for example, '{\"limit\": 5}'.")
    return payload


def read_json(given: str, option: str) -> Any:
    """Read JSON from the option itself, from a file (@path) or from stdin (-)."""
    text = given
    if given == "-":
        text = sys.stdin.read(4 * MAX_PAYLOAD)
    elif given.startswith("@"):
        try:
            with Path(given[1:]).open(encoding="utf-8") as file:
                text = file.read(4 * MAX_PAYLOAD)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
            raise InvalidError(
                f"{option}: cannot read the file {given[1:][:200]!r} ({reason}).",
                hint="Check the path and the permissions.",
            ) from None
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidError(
            f"{option} is not JSON ({error}).", hint="Write an object such as '{\"limit\": 5}', @file or -."
        ) from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")
