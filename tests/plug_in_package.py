"""A package with a target kind, as if it were installed in this process."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import indent

import pytest

from tickbird.domain.schedules.codec import own_formats
from tickbird.domain.targets.registry import target_kinds

ECHO = Path(__file__).parents[1] / "examples" / "tickbird_echo"


def forget() -> None:
    for cached in (target_kinds, own_formats):
        cached.cache_clear()


@contextmanager
def package(folder: Path) -> Iterator[Callable[..., None]]:
    """Yield a function that installs the example, and a kind of another package: a subclass with another body."""
    patch = pytest.MonkeyPatch()

    def install(kind: str, body: str = "", before: str = "") -> None:
        metadata = folder / "other-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(
            f"[tickbird.targets]\n{kind} = other_kind:Spec\necho = tickbird_echo.spec:EchoSpec\n"
        )
        head = "from tickbird_echo import EchoSpec\nfrom tickbird.targets import FormField\n"
        spec = f"class Spec(EchoSpec):\n    kind = {kind!r}\n{indent(body, '    ')}\n"
        (folder / "other_kind.py").write_text(f"{before}\n{head}\n\n{spec}")
        for path in (folder, ECHO):
            patch.syspath_prepend(str(path))
        forget()

    try:
        yield install
    finally:
        for module in [module for module in sys.modules if module.startswith(("tickbird_echo", "other_kind"))]:
            del sys.modules[module]
        patch.undo()
        forget()
