"""Help pages: the part of `--help` beyond the options, one file per command.

A page starts with text, then has three sections: `Examples:` (`# purpose` and `$ command line`), `Exit codes:` (one
per line: the code, then when it occurs) and `See also:`. Pages are loaded only for `--help`. A test runs each example.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

SECTIONS = ("Examples:", "Exit codes:", "See also:")


@dataclass(frozen=True, slots=True)
class Page:
    """An example is a pair of purpose and command line; an exit code is a pair of code and meaning."""

    text: str = ""
    examples: Sequence[tuple[str, str]] = ()
    codes: Sequence[tuple[str, str]] = ()
    see: Sequence[str] = ()


def page_of(command: str) -> Page:
    """Return the page of a command such as "token create"; an empty page if it has none."""
    file = files(__package__) / f"{command.replace(' ', '-')}.txt"
    if not file.is_file():
        return Page()
    parts: dict[str, list[str]] = {"": []}
    section = ""
    for line in file.read_text(encoding="utf-8").splitlines():
        if line in SECTIONS:
            section = line
            parts[section] = []
        else:
            parts[section].append(line)
    lines = [line for line in parts.get("Examples:", ()) if line]
    purposes = [line.removeprefix("# ") for line in lines if line.startswith("# ")]
    commands = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    codes = [line.partition(" ") for line in parts.get("Exit codes:", ()) if line]
    return Page(
        text="\n".join(parts[""]).strip(),
        examples=[*zip(purposes, commands, strict=True)],
        codes=[(code, meaning) for code, _, meaning in codes],
        see=[name.strip() for name in " ".join(parts.get("See also:", ())).split(",") if name.strip()],
    )
