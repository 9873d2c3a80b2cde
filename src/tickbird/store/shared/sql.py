"""Named statements: SQL lives in `.sql` files, one per noun, and is looked up by name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files

_NAME = re.compile(r"^-- name: *([a-z][a-z0-9_]*) *$", re.MULTILINE)


def load_statements(package: str, *nouns: str, folders: Sequence[str] = ()) -> dict[str, str]:
    """The statements of `<noun>.sql` files of a package, of all if not said: each begins with `-- name: claim_runs`.

    `folders` are those of the package whose files are read as well.
    """
    statements: dict[str, str] = {}
    root = files(package)
    found = [file for folder in (root, *map(root.joinpath, folders)) for file in folder.iterdir()]
    paths = {file.name[:-4]: file for file in found if file.name.endswith(".sql")}
    for noun in nouns or sorted(paths):
        text = paths[noun].read_text(encoding="utf-8")
        # What stands before the first name is a comment on the file.
        _, *parts = _NAME.split(text)
        for name, statement in zip(parts[::2], parts[1::2], strict=True):
            if name in statements:
                raise ValueError(f"two statements are named {name}; the second is in {noun}.sql of {package}")
            statements[name] = statement.strip().removesuffix(";")
    return statements
