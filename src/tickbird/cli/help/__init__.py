"""What `--help` says of a command beyond its options: a page for each, named as the command is.

A page has text (when to use it, what it leaves alone) and then sections: `Examples:` (`# what for` and `$ the line`),
`Exit codes:` and `See also:`. Pages are read when somebody asks for help, and each example is tried by a test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

SECTIONS = ("Examples:", "Exit codes:", "See also:")


@dataclass(frozen=True, slots=True)
class Page:
    """The page of a command; an example is what it is for, and the line."""

    text: str = ""
    examples: Sequence[tuple[str, str]] = ()
    codes: str = ""
    see: Sequence[str] = ()


def page_of(command: str) -> Page:
    """The page of a command, such as "token create"; an empty one where there is none."""
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
    said = [line.removeprefix("# ") for line in lines if line.startswith("# ")]
    typed = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return Page(
        text="\n".join(parts[""]).strip(),
        examples=[*zip(said, typed, strict=True)],
        codes=" ".join(line for line in parts.get("Exit codes:", ()) if line),
        see=[name.strip() for name in " ".join(parts.get("See also:", ())).split(",") if name.strip()],
    )
