"""Logging to stderr of long-running commands."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

LEVELS = ("debug", "info", "warning", "error")


def log_to_stderr(level: str) -> None:
    """Log this level and above until the command ends, with timestamps in UTC."""
    click.get_current_context().with_resource(_logging(level))


@contextmanager
def _logging(level: str) -> Iterator[None]:
    shown = logging.StreamHandler(sys.stderr)
    form = logging.Formatter("%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s", "%Y-%m-%dT%H:%M:%S")
    form.converter = time.gmtime
    shown.setFormatter(form)
    root = logging.getLogger()
    before = root.level
    root.addHandler(shown)
    root.setLevel(level.upper())
    try:
        yield
    finally:
        root.removeHandler(shown)
        root.setLevel(before)
