"""Named statements: SQL lives in `.sql` files, one per noun, and is looked up by name.

A statement begins with `-- name: claim_runs`. Text that several statements of a file share begins with
`-- fragment: run_filter`; below it, `{run_filter}` stands for that text, in statements and in other fragments.
Comments are left out of both: at the end of a fragment, one would hide what follows `{run_filter}` in its line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files

_MARKER = re.compile(r"^-- (name|fragment): *([a-z][a-z0-9_]*) *$", re.MULTILINE)
_COMMENT = re.compile(r"^ *--.*\n?| +-- .*", re.MULTILINE)
_USE = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def load_statements(package: str, *nouns: str, folders: Sequence[str] = ()) -> dict[str, str]:
    """The statements of `<noun>.sql` files of a package, with their fragments put in; of all files without nouns.

    `folders` are those of the package whose files are read as well.
    """
    statements: dict[str, str] = {}
    root = files(package)
    found = [file for folder in (root, *map(root.joinpath, folders)) for file in folder.iterdir()]
    paths = {file.name[:-4]: file for file in found if file.name.endswith(".sql")}
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
