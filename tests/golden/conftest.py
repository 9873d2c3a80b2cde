"""The folder and the command line of the CLI's tests."""

from __future__ import annotations

from tests.cli.conftest import bare, folder

__all__ = ["bare", "folder"]
