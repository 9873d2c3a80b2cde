"""Executables of runs: one file per target kind, with one small protocol.

These names are public, for packages that add a kind.
"""

from __future__ import annotations

from tickbird.domain.targets.spec import FormField, TargetSpec
from tickbird.targets.protocol import Executable, Run
from tickbird.targets.spec_executable import SpecExecutable

__all__ = ["Executable", "FormField", "Run", "SpecExecutable", "TargetSpec"]
