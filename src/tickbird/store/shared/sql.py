"""Named statements: SQL is in `.sql` files, one per noun, and is looked up by name.

A statement starts with `-- name: claim_runs`. Text that several statements of a file share starts with
`-- fragment: run_filter`; below it, `{run_filter}` is replaced by that text, in statements and in other fragments.
Comments are removed from both, because a comment at the end of a fragment would hide the rest of a line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files

_MARKER = re.compile(r"^-- (name|fragment): *([a-z][a-z0-9_]*) *$", re.MULTILINE)
_COMMENT = re.compile(r"^ *--.*\n?| +-- .*", re.MULTILINE)
_USE = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def load_statements(package: str, *nouns: str, folders: Sequence[str] = ()) -> dict[str, str]:
    """Load the statements of `<noun>.sql` files of a package, with fragments replaced (default: all files).

    `folders` are folders of the package whose files are read too.
    """
    statements: dict[str, str] = {}
    root = files(package)
    entries = [file for folder in (root, *map(root.joinpath, folders)) for file in folder.iterdir()]
    paths = {file.name[:-4]: file for file in entries if file.name.endswith(".sql")}
    for noun in nouns or sorted(paths):
        own = _parse(f"{package}: {noun}.sql", paths[noun].read_text(encoding="utf-8"))
        if twice := statements.keys() & own.keys():
            raise ValueError(f"two statements are named {min(twice)}; the second is in {noun}.sql of {package}")
        statements.update(own)
    return statements


def _parse(path: str, text: str) -> dict[str, str]:
    statements: dict[str, str] = {}
    fragments: dict[str, str] = {}
    used: set[str] = set()
    # The text before the first marker is a comment on the file.
    _, *parts = _MARKER.split(text)
    for kind, name, lines in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        noun, texts = ("statement", statements) if kind == "name" else ("fragment", fragments)
        if name in texts:
            raise ValueError(f"{path}: two {noun}s are named {name}")
        body = _COMMENT.sub("", lines).strip().removesuffix(";")
        uses = set(_USE.findall(body))
        if unknown := uses - fragments.keys():
            raise ValueError(f"{path}: {noun} {name} uses {{{min(unknown)}}}, but no fragment above it has that name")
        used |= uses
        texts[name] = _USE.sub(lambda use: fragments[use[1]], body)
    if unused := fragments.keys() - used:
        raise ValueError(f"{path}: fragment {min(unused)} is not used")
    return statements
