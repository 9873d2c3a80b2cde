"""What a run can start: one file per kind behind one small protocol.

These names are for packages that add a kind.
"""

from __future__ import annotations

from tickbird.domain.targets.spec import FormField, TargetSpec
from tickbird.targets.protocol import Executable, Run
from tickbird.targets.spec_executable import SpecExecutable

__all__ = ["Executable", "FormField", "Run", "SpecExecutable", "TargetSpec"]
